/* SPDX-License-Identifier: BSD-3-Clause */
#include "wild.h"

#include <sys/mman.h>
#include <sys/socket.h>

#include <dat2/dat_registry.h>

#define PAGE 4096

const char *const wild_names[WILD_KINDS] = { "IA", "PZ", "LMR", "EVD", "CNO", "EP", "PSP", "CR",
	"RSP", "CSP" };

static const DAT_OS_WAIT_PROXY_AGENT no_agent = { NULL, NULL };

/* A request that has arrived and waits for its answer. */
static DAT_CR_HANDLE
request(struct wild *wild)
{
	wild->pair.a.ep = dt_ep(&wild->pair.a, NULL);
	dt_connect(&wild->pair.a, &wild->pair.b, NULL, 0);
	return dt_request(&wild->pair.b);
}

/* A service point for one endpoint, on the first free qualifier. */
static DAT_RSP_HANDLE
reserve(const struct dt_side *side)
{
	DAT_EP_HANDLE ep = dt_ep(side, NULL);
	DAT_CONN_QUAL qual = 20000;
	DAT_RSP_HANDLE rsp;
	DAT_RETURN ret;

	do
		ret = dat_rsp_create(side->ia, qual++, ep, side->cr, &rsp);
	while (DAT_GET_TYPE(ret) == DAT_CONN_QUAL_IN_USE);
	dt_ok(ret);
	return rsp;
}

/* One that listens on whatever port the provider finds. */
static DAT_CSP_HANDLE
listen_commonly(const struct dt_side *side)
{
	DAT_IA_ADDRESS_PTR own = dt_address(side->ia);
	DAT_COMM comm = { own->sa_family, SOCK_STREAM, 0 };
	DAT_CSP_HANDLE csp;

	dt_ok(dat_csp_create(side->ia, &comm, own, side->cr, &csp));
	return csp;
}

static void
make_good(struct wild *wild)
{
	struct dt_side *b = &wild->pair.b;

	dt_pair_open(&wild->pair, DT_SEPARATE);
	wild->good[WILD_IA] = b->ia;
	wild->good[WILD_PZ] = b->pz;
	wild->good[WILD_LMR] = b->lmr;
	wild->good[WILD_EVD] = b->recv;
	dt_ok(dat_cno_create(b->ia, no_agent, &wild->good[WILD_CNO]));
	wild->good[WILD_EP] = b->ep;
	wild->good[WILD_PSP] = b->psp;
	wild->good[WILD_CR] = request(wild);
	wild->good[WILD_RSP] = reserve(b);
	wild->good[WILD_CSP] = listen_commonly(b);
}

static void
make_stale(struct wild *wild)
{
	const struct dt_side *b = &wild->pair.b;
	DAT_REGION_DESCRIPTION region = { .for_va = b->buffer };
	DAT_CONN_QUAL qual;

	wild->stale[WILD_IA] = dt_open("soft", NULL);
	dt_close(wild->stale[WILD_IA]);
	dt_ok(dat_pz_create(b->ia, &wild->stale[WILD_PZ]));
	dt_ok(dat_pz_free(wild->stale[WILD_PZ]));
	dt_ok(dat_lmr_create(b->ia, DAT_MEM_TYPE_VIRTUAL, region, 64, b->pz, DAT_MEM_PRIV_ALL_FLAG,
	    DAT_VA_TYPE_VA, &wild->stale[WILD_LMR], NULL, NULL, NULL, NULL));
	dt_ok(dat_lmr_free(wild->stale[WILD_LMR]));
	wild->stale[WILD_EVD] = dt_evd(b, DAT_EVD_DTO_FLAG, 8);
	dt_ok(dat_evd_free(wild->stale[WILD_EVD]));
	dt_ok(dat_cno_create(b->ia, no_agent, &wild->stale[WILD_CNO]));
	dt_ok(dat_cno_free(wild->stale[WILD_CNO]));
	wild->stale[WILD_EP] = dt_ep(b, NULL);
	dt_ok(dat_ep_free(wild->stale[WILD_EP]));
	dt_ok(
	    dat_psp_create_any(b->ia, &qual, b->cr, DAT_PSP_CONSUMER_FLAG, &wild->stale[WILD_PSP]));
	dt_ok(dat_psp_free(wild->stale[WILD_PSP]));
	wild->stale[WILD_CR] = request(wild);
	dt_ok(dat_cr_reject(wild->stale[WILD_CR], 0, NULL));
	wild->stale[WILD_RSP] = reserve(b);
	dt_ok(dat_rsp_free(wild->stale[WILD_RSP]));
	wild->stale[WILD_CSP] = listen_commonly(b);
	dt_ok(dat_csp_free(wild->stale[WILD_CSP]));
}

static void
add(struct wild *wild, uintptr_t address)
{
	ck_assert_int_lt(wild->addresses, WILD_ADDRESSES);
	wild->address[wild->addresses++] = (DAT_HANDLE)address;
}

/*
 * Memory that is there, memory that is not, and words that lead on to either.  The lowest integers
 * are open adapters.
 */
static void
make_addresses(struct wild *wild)
{
	static const uintptr_t nowhere[] = { 0, 5, 7, 8, 4096, 65528, 65535, 65536, 65544, 65537,
		0x123456789ab8, 0x7ffffffff000, 0x0123456789abcde8, 0xffff800000000000,
		(uintptr_t)-8, (uintptr_t)-1 };
	static uintptr_t words[] = { 0, 1, 65536, 0x123456789ab8, 0xdeadbeefdeadbee8, 0, 0 };
	static DAT_PROVIDER unregistered;
	static const DAT_PROVIDER *to_unregistered = &unregistered;
	char *pages =
	    mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	wild->addresses = 0;
	for (size_t i = 0; i < sizeof nowhere / sizeof nowhere[0]; i++)
		add(wild, nowhere[i]);
	words[5] = (uintptr_t)words;
	words[6] = (uintptr_t)pages;
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		add(wild, (uintptr_t)&words[i]);
	add(wild, (uintptr_t)&to_unregistered);
	add(wild, (uintptr_t)wild_open & ~(uintptr_t)7);
	ck_assert_ptr_ne(pages, MAP_FAILED);
	ck_assert_int_eq(mprotect(pages, PAGE, PROT_NONE), 0);
	add(wild, (uintptr_t)pages);
	add(wild, (uintptr_t)pages + PAGE - 8);
	add(wild, (uintptr_t)pages + PAGE);
	munmap(pages + 2 * PAGE, PAGE);
	add(wild, (uintptr_t)pages + 2 * PAGE);
}

void
wild_open(struct wild *wild)
{
	make_good(wild);
	make_stale(wild);
	make_addresses(wild);
}

void
wild_close(struct wild *wild)
{
	munmap((void *)((uintptr_t)wild->address[wild->addresses - 1] - 2 * PAGE), 2 * PAGE);
	dt_pair_close(&wild->pair);
}

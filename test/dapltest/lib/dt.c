/* SPDX-License-Identifier: BSD-3-Clause */
#include "dt.h"
#include "lib/personalities.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <dat2/dat_ib_extensions.h>

static char directory[64];
static char conf[96];

/* ---- the device ---- */

bool
dt_is_soft(void)
{
	const char *library = getenv("DAPL_TEST_PROVIDER");

	return !library || strstr(library, "libdaplsoft");
}

bool
dt_on_soft(const char *why)
{
	if (dt_is_soft())
		return true;
	runner_skip(why);
	return false;
}

int
dt_personalities(void)
{
	return dt_is_soft() ? (int)DT_PERSONALITIES : 1;
}

void
dt_personality(int i)
{
	ck_assert_int_eq(setenv("SOFTVERBS_PERSONALITY", dt_personality_names[i], 1), 0);
}

/* ---- the fixture ---- */

/* `where` is an interface, with or without a port behind it. */
static void
record(FILE *f, const char *name, const char *library, const char *where, const char *words)
{
	fprintf(f, "%s u2.0 nonthreadsafe default \"%s\" rearm.2.0 \"%s %s %s\" \"\"\n", name,
	    library, where, *where && !strchr(where, ' ') ? "0" : "", words);
}

static const char *
network(void)
{
	return dt_is_soft() ? "127.0.0" : getenv("DAPL_TEST_NETWORK");
}

bool
dt_has_network(void)
{
	if (network())
		return true;
	runner_skip("needs a device with several addresses, of the network in DAPL_TEST_NETWORK");
	return false;
}

bool
dt_on_network(const char *address, int host)
{
	char text[64];

	snprintf(text, sizeof text, "%s.%d", network(), host);
	return strcmp(address, text) == 0;
}

/* Several adapters of one name, and a chain whose first library is not there. */
static void
records_of_one_name(FILE *f, const char *library)
{
	static const char line[] = "keyed %s default \"%s\" rearm.2.0 \"%s.%d 0\" \"\"\n";
	const char *net = network();

	if (!net)
		return;
	fprintf(f, line, "u2.0 nonthreadsafe", library, net, 1);
	fprintf(f, line, "u2.0 threadsafe", library, net, 2);
	fprintf(f, line, "u2.1 threadsafe", library, net, 3);
	fprintf(f, line, "u1.2 nonthreadsafe", "/nowhere/libdapl.so", net, 9);
	fprintf(f, line, "u1.2 nonthreadsafe", library, net, 4);
	fprintf(f, line, "u1.2 nonthreadsafe", library, net, 8);
}

static bool late;

void
dt_load_late(void)
{
	late = true;
	if (!dt_is_soft())
		setenv("REARM_TEST_LEAKS", "0", 1);
}

/*
 * The device is the software one of the build tree; DAPL_TEST_PROVIDER and DAPL_TEST_WHERE name
 * another provider and its interface ("ib0", or "mlx5_0 1" with a port).
 */
static void
setup(void)
{
	const char *library = getenv("DAPL_TEST_PROVIDER"), *where = getenv("DAPL_TEST_WHERE");
	FILE *f;

	strcpy(directory, "/tmp/rearm-dapl-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(conf, sizeof conf, "%s/dat.conf", directory);
	f = fopen(conf, "we");
	ck_assert_ptr_nonnull(f);
	if (!library)
		library = SOFT_PATH;
	if (!where)
		where = "lo";
	record(f, "soft", library, where, "");
	record(f, "soft-elsewhere", library, where, "");
	record(f, "soft-step", library, where, "step");
	record(f, "soft-loops", library, where, "loops=3");
	record(f, "faulty", FAULT_PATH, "lo", "");
	record(f, "faulty-no-spin", FAULT_PATH, "lo", "spin=0");
	record(f, "faulty-step", FAULT_PATH, "lo", "step");
	record(f, "faulty-moderated", FAULT_PATH, "lo", "spin=0 moderation=4,65535");
	record(f, "faulty-moderated-short", FAULT_PATH, "lo", "moderation=65535,100");
	record(f, "soft-spin", library, where, "spin=1000000");
	record(f, "soft-slow", library, where, "slow=1000");
	record(f, "soft-hardly-slow", library, where, "slow=1000000000");
	record(f, "bad-slow-none", library, where, "slow=0");
	record(f, "bad-slow-word", library, where, "slow=1s");
	record(f, "bad-spin-empty", library, where, "spin=");
	record(f, "bad-spin-word", library, where, "spin=1x");
	record(f, "bad-spin-sign", library, where, "spin=-1");
	record(f, "bad-spin-long", library, where, "spin=1000001");
	record(f, "bad-moderation-empty", library, where, "moderation=");
	record(f, "bad-moderation-count", library, where, "moderation=8");
	record(f, "bad-moderation-short", library, where, "moderation=8,");
	record(f, "bad-moderation-no-count", library, where, "moderation=,8");
	record(f, "bad-moderation-never", library, where, "moderation=8,0");
	record(f, "bad-moderation-none", library, where, "moderation=0,8");
	record(f, "bad-moderation-many", library, where, "moderation=65536,8");
	record(f, "bad-moderation-long", library, where, "moderation=8,65536");
	record(f, "bad-moderation-more", library, where, "moderation=8,8,8");
	record(f, "bad-loops", library, where, "loops=0");
	record(f, "soft-spurious", library, where, "personality=spurious");
	record(f, "bad-personality", library, where, "personality=lazy");
	record(f, "bad-host", library, "no-such-host.invalid", "");
	record(f, "bad-word", library, where, "loop=3");
	record(f, "bad-broadcast", library, "255.255.255.255", "");
	record(f, "bad-multicast", library, "224.0.0.1", "");
	record(f, "bad-multicast-last", library, "239.255.255.255", "");
	record(f, "bad-multicast-6", library, "ff02::1", "");
	record(f, "bad-empty", library, "", "");
	record(f, "real", REAL_PATH, "lo", "");
	records_of_one_name(f, library);
	fclose(f);
	setenv("DAT_OVERRIDE", conf, 1);
	if (!dt_is_soft() && !late) {
		/* The system's connection manager opens every device once and keeps it open. */
		dt_close(dt_open("soft", NULL));
		runner_count_anew();
	}
}

static void
teardown(void)
{
	unlink(conf);
	rmdir(directory);
}

const struct runner_case dt_case = { .setup = setup, .teardown = teardown, .seconds = 30 };

/* ---- small things ---- */

void
dt_assert_ret_at(const char *file, int line, const char *call, DAT_RETURN got, DAT_RETURN want)
{
	const char *major = "", *minor = "", *wanted = "", *wanted_minor = "";

	if (got == want)
		return;
	(void)dat_strerror(got, &major, &minor);
	(void)dat_strerror(want, &wanted, &wanted_minor);
	ck_abort_msg("%s:%d: %s\n  gave   0x%08x %s %s\n  wanted 0x%08x %s %s", file, line, call,
	    got, major, minor, want, wanted, wanted_minor);
}

size_t
dt_mapped_pages(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fscanf(f, "%lu", &pages), 1);
	fclose(f);
	return pages;
}

void
dt_nap_ms(unsigned int ms)
{
	const struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };

	nanosleep(&t, NULL);
}

unsigned long long
dt_now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long long)t.tv_sec * 1000000 + (unsigned long long)t.tv_nsec / 1000;
}

void
dt_await_count(const _Atomic(int) *value, int n)
{
	for (int i = 0; i < DT_FOREVER_MS && *value < n; i++)
		dt_nap_ms(1);
	ck_assert_int_ge(*value, n);
}

void
dt_count_call(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	_Atomic(int) *calls = instance;

	(void)event;
	(void)more;
	++*calls;
}

void
dt_post_se(DAT_EVD_HANDLE evd, uintptr_t value)
{
	DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };

	event.event_data.software_event_data.pointer = (DAT_PVOID)value;
	dt_ok(dat_evd_post_se(evd, &event));
}

void
dt_post_se_patiently(DAT_EVD_HANDLE evd, uintptr_t value)
{
	DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };
	DAT_RETURN ret;

	event.event_data.software_event_data.pointer = (DAT_PVOID)value;
	while (DAT_GET_TYPE(ret = dat_evd_post_se(evd, &event)) == DAT_QUEUE_FULL)
		dt_nap_ms(1);
	dt_ok(ret);
}

/* ---- opening ---- */

DAT_IA_HANDLE
dt_open(const char *name, DAT_EVD_HANDLE *async)
{
	const bool elsewhere = strcmp(name, "soft-elsewhere") == 0;
	DAT_EVD_HANDLE evd = elsewhere ? DAT_EVD_ASYNC_EXISTS : DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia;

	dt_ok(dat_ia_open((DAT_NAME_PTR)(uintptr_t)name, 8, &evd, &ia));
	if (async)
		*async = evd;
	return ia;
}

void
dt_close(DAT_IA_HANDLE ia)
{
	dt_ok(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG));
}

DAT_IA_ADDRESS_PTR
dt_address(DAT_IA_HANDLE ia)
{
	DAT_IA_ATTR attr;

	dt_ok(dat_ia_query(ia, NULL, DAT_IA_FIELD_IA_ADDRESS_PTR, &attr, 0, NULL));
	return attr.ia_address_ptr;
}

DAT_EVD_HANDLE
dt_evd(const struct dt_side *side, DAT_EVD_FLAGS flags, DAT_COUNT qlen)
{
	DAT_EVD_HANDLE evd;

	dt_ok(dat_evd_create(side->ia, qlen, DAT_HANDLE_NULL, flags, &evd));
	return evd;
}

DAT_EP_HANDLE
dt_ep(const struct dt_side *side, const DAT_EP_ATTR *attr)
{
	DAT_EP_HANDLE ep;

	dt_ok(
	    dat_ep_create(side->ia, side->pz, side->recv, side->request, side->connect, attr, &ep));
	return ep;
}

void
dt_side_open(struct dt_side *side, const char *name, enum dt_evds evds)
{
	DAT_REGION_DESCRIPTION region;

	memset(side, 0, sizeof *side);
	side->ia = dt_open(name, &side->async);
	dt_ok(dat_pz_create(side->ia, &side->pz));
	if (evds == DT_MERGED) {
		side->recv = side->request = side->connect =
		    dt_evd(side, DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG, 64);
	} else {
		side->recv = dt_evd(side, DAT_EVD_DTO_FLAG, 64);
		side->request = dt_evd(side, DAT_EVD_DTO_FLAG, 64);
		side->connect = dt_evd(side, DAT_EVD_CONNECTION_FLAG, 64);
	}
	side->ep = dt_ep(side, NULL);
	side->buffer = calloc(1, DT_BUFFER);
	region.for_va = side->buffer;
	dt_ok(dat_lmr_create(side->ia, DAT_MEM_TYPE_VIRTUAL, region, DT_BUFFER, side->pz,
	    DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &side->lmr, &side->lmr_context,
	    &side->rmr_context, NULL, NULL));
}

void
dt_side_listen(struct dt_side *side)
{
	side->cr = dt_evd(side, DAT_EVD_CR_FLAG, 16);
	dt_ok(
	    dat_psp_create_any(side->ia, &side->qual, side->cr, DAT_PSP_CONSUMER_FLAG, &side->psp));
}

void
dt_side_close(struct dt_side *side)
{
	dt_close(side->ia);
	free(side->buffer);
}

void
dt_pair_open(struct dt_pair *pair, enum dt_evds evds)
{
	dt_side_open(&pair->a, "soft", evds);
	dt_side_open(&pair->b, "soft", evds);
	dt_side_listen(&pair->b);
}

void
dt_connect_pair(struct dt_pair *pair)
{
	dt_connect(&pair->a, &pair->b, NULL, 0);
	dt_ok(dat_cr_accept(dt_request(&pair->b), pair->b.ep, 0, NULL));
	dt_expect_established(&pair->a);
	dt_expect_established(&pair->b);
}

void
dt_pair_close(struct dt_pair *pair)
{
	dt_side_close(&pair->a);
	dt_side_close(&pair->b);
}

/* ---- connecting ---- */

void
dt_connect(struct dt_side *from, const struct dt_side *to, const void *data, DAT_COUNT size)
{
	dt_ok(dat_ep_connect(from->ep, dt_address(to->ia), to->qual, DAT_TIMEOUT_INFINITE, size,
	    (const DAT_PVOID)(uintptr_t)data, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
}

static DAT_CR_HANDLE
dt_request_numbered(const struct dt_side *side, DAT_EVENT_NUMBER number, DAT_EVENT *event)
{
	dt_expect(side->cr, number, event);
	ck_assert_ptr_eq(event->event_data.cr_arrival_event_data.sp_handle.psp_handle, side->psp);
	ck_assert_uint_eq(event->event_data.cr_arrival_event_data.conn_qual, side->qual);
	return event->event_data.cr_arrival_event_data.cr_handle;
}

DAT_CR_HANDLE
dt_request_event(struct dt_side *side, DAT_EVENT *event)
{
	return dt_request_numbered(side, DAT_CONNECTION_REQUEST_EVENT, event);
}

DAT_CR_HANDLE
dt_datagram_request(const struct dt_side *side)
{
	const DAT_IB_EXTENSION_EVENT_DATA *extension;
	DAT_CR_HANDLE cr;
	DAT_EVENT event;

	cr =
	    dt_request_numbered(side, (DAT_EVENT_NUMBER)DAT_IB_UD_CONNECTION_REQUEST_EVENT, &event);
	extension = (const void *)event.event_extension_data;
	ck_assert_int_eq(extension->type, DAT_IB_UD_CONNECT_REQUEST);
	return cr;
}

DAT_CR_HANDLE
dt_request(struct dt_side *side)
{
	DAT_EVENT event;

	return dt_request_event(side, &event);
}

DAT_EP_STATE
dt_state(DAT_EP_HANDLE ep)
{
	DAT_EP_STATE state;

	dt_ok(dat_ep_get_status(ep, &state, NULL, NULL));
	return state;
}

void
dt_await_state(DAT_EP_HANDLE ep, DAT_EP_STATE state)
{
	for (int i = 0; i < DT_FOREVER_MS && dt_state(ep) != state; i++)
		dt_nap_ms(1);
	ck_assert_int_eq(dt_state(ep), state);
}

/* ---- events ---- */

void
dt_next(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
	DAT_COUNT more;

	dt_ok(dat_evd_wait(evd, DT_FOREVER_MS * 1000u, 1, event, &more));
	ck_assert_ptr_eq(event->evd_handle, evd);
}

void
dt_poll_next(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
	DAT_RETURN ret = dat_evd_dequeue(evd, event);

	for (int i = 0; i < DT_FOREVER_MS && DAT_GET_TYPE(ret) == DAT_QUEUE_EMPTY; i++) {
		dt_nap_ms(1);
		ret = dat_evd_dequeue(evd, event);
	}
	dt_ok(ret);
}

void
dt_expect(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number, DAT_EVENT *event)
{
	dt_next(evd, event);
	ck_assert_msg(event->event_number == number, "event 0x%x, expected 0x%x",
	    event->event_number, number);
}

void
dt_expect_connection(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number, DAT_EP_HANDLE ep)
{
	DAT_EVENT event;

	dt_expect(evd, number, &event);
	ck_assert_ptr_eq(event.event_data.connect_event_data.ep_handle, ep);
}

void
dt_expect_dto(DAT_EVD_HANDLE evd, DAT_EP_HANDLE ep, DAT_UINT64 cookie,
    DAT_DTO_COMPLETION_STATUS status, DAT_EVENT *event)
{
	const DAT_DTO_COMPLETION_EVENT_DATA *dto;

	dt_expect(evd, DAT_DTO_COMPLETION_EVENT, event);
	dto = &event->event_data.dto_completion_event_data;
	ck_assert_ptr_eq(dto->ep_handle, ep);
	ck_assert_uint_eq(dto->user_cookie.as_64, cookie);
	ck_assert_int_eq(dto->status, status);
}

void
dt_assert_empty(DAT_EVD_HANDLE evd)
{
	DAT_EVENT event;

	dt_assert_type(dat_evd_dequeue(evd, &event), DAT_QUEUE_EMPTY);
}

void
dt_assert_stays_empty(DAT_EVD_HANDLE evd)
{
	for (int i = 0; i < 5; i++) {
		dt_assert_empty(evd);
		dt_nap_ms(4);
	}
	dt_assert_empty(evd);
}

/* ---- data ---- */

DAT_DTO_COOKIE
dt_cookie(DAT_UINT64 value)
{
	return (DAT_DTO_COOKIE){ .as_64 = value };
}

DAT_LMR_TRIPLET
dt_local(const struct dt_side *side, size_t offset, size_t length)
{
	return (DAT_LMR_TRIPLET){
		.virtual_address = (DAT_VADDR)(uintptr_t)side->buffer + offset,
		.segment_length = (DAT_SEG_LENGTH)length,
		.lmr_context = side->lmr_context,
	};
}

DAT_RMR_TRIPLET
dt_remote(const struct dt_side *side, size_t offset, size_t length)
{
	return (DAT_RMR_TRIPLET){
		.virtual_address = (DAT_VADDR)(uintptr_t)side->buffer + offset,
		.segment_length = (DAT_SEG_LENGTH)length,
		.rmr_context = side->rmr_context,
	};
}

DAT_RETURN
dt_try_recv(struct dt_side *side, size_t offset, size_t length, DAT_UINT64 cookie)
{
	DAT_LMR_TRIPLET iov = dt_local(side, offset, length);

	return dat_ep_post_recv(side->ep, 1, &iov, dt_cookie(cookie), DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN
dt_try_send(struct dt_side *side, size_t offset, size_t length, DAT_UINT64 cookie,
    DAT_COMPLETION_FLAGS flags)
{
	DAT_LMR_TRIPLET iov = dt_local(side, offset, length);

	return dat_ep_post_send(side->ep, 1, &iov, dt_cookie(cookie), flags);
}

void
dt_recv(struct dt_side *side, size_t offset, size_t length, DAT_UINT64 cookie)
{
	dt_ok(dt_try_recv(side, offset, length, cookie));
}

void
dt_send(struct dt_side *side, size_t offset, size_t length, DAT_UINT64 cookie)
{
	dt_ok(dt_try_send(side, offset, length, cookie, DAT_COMPLETION_DEFAULT_FLAG));
}

void
dt_ignore(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	(void)instance;
	(void)event;
	(void)more;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Limits: objects of one kind until a call fails, then all of them are freed.  A limit passes when
 * the call failed with a code for a shortage, or for a kind of object that the provider does not
 * have.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

struct set {
	DAT_IA_HANDLE ia;
	struct cmd_end end;
	DAT_EVD_HANDLE cr;
	const char *name;
};

static const DAT_OS_WAIT_PROXY_AGENT no_agent = { NULL, NULL };

static DAT_RETURN
make_ia(struct set *set, DAT_HANDLE *out)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;

	return dat_ia_open((DAT_NAME_PTR)(uintptr_t)set->name, 8, &async, out);
}

static DAT_RETURN
free_ia(DAT_HANDLE ia)
{
	return dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG);
}

static DAT_RETURN
make_pz(struct set *set, DAT_HANDLE *out)
{
	return dat_pz_create(set->ia, out);
}

static DAT_RETURN
make_cno(struct set *set, DAT_HANDLE *out)
{
	return dat_cno_create(set->ia, no_agent, out);
}

static DAT_RETURN
make_evd(struct set *set, DAT_HANDLE *out)
{
	return dat_evd_create(set->ia, 10, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, out);
}

static DAT_RETURN
make_ep(struct set *set, DAT_HANDLE *out)
{
	struct cmd_end *e = &set->end;

	return dat_ep_create(set->ia, e->pz, e->recv, e->request, e->connect, NULL, out);
}

/* Each reserves an endpoint of its own. */
static DAT_RETURN
make_rsp(struct set *set, DAT_HANDLE *out)
{
	static DAT_CONN_QUAL qual = 45000;
	DAT_EP_HANDLE ep;
	DAT_RETURN ret = make_ep(set, &ep);

	if (ret != DAT_SUCCESS)
		return ret;
	ret = dat_rsp_create(set->ia, qual++, ep, set->cr, out);
	if (ret != DAT_SUCCESS)
		(void)cmd_ok(dat_ep_free(ep));
	return ret;
}

static DAT_RETURN
free_rsp(DAT_HANDLE rsp)
{
	DAT_RSP_PARAM param;
	DAT_RETURN ret = dat_rsp_query(rsp, DAT_RSP_FIELD_ALL, &param);

	if (ret == DAT_SUCCESS)
		ret = dat_rsp_free(rsp);
	return ret == DAT_SUCCESS ? dat_ep_free(param.ep_handle) : ret;
}

static DAT_RETURN
make_psp(struct set *set, DAT_HANDLE *out)
{
	DAT_CONN_QUAL qual;

	return dat_psp_create_any(set->ia, &qual, set->cr, DAT_PSP_CONSUMER_FLAG, out);
}

static DAT_RETURN
make_lmr(struct set *set, DAT_HANDLE *out)
{
	DAT_REGION_DESCRIPTION region = { .for_va = set->end.buffer };

	return dat_lmr_create(set->ia, DAT_MEM_TYPE_VIRTUAL, region, 4096, set->end.pz,
	    DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, out, NULL, NULL, NULL, NULL);
}

/* The receives go with the endpoint. */
static DAT_RETURN
make_receive(struct set *set, DAT_HANDLE *out)
{
	DAT_LMR_TRIPLET iov = { .virtual_address = (uintptr_t)set->end.buffer,
		.segment_length = 4096,
		.lmr_context = set->end.lmr_context };
	DAT_DTO_COOKIE cookie = { .as_64 = 0 };

	*out = DAT_HANDLE_NULL;
	return dat_ep_post_recv(set->end.ep, 1, &iov, cookie, DAT_COMPLETION_DEFAULT_FLAG);
}

static const struct limit {
	const char *name;
	DAT_RETURN (*make)(struct set *set, DAT_HANDLE *out);
	DAT_RETURN (*release)(DAT_HANDLE handle);
} limits[] = {
	{ "limit_ia", make_ia, free_ia },
	{ "limit_pz", make_pz, dat_pz_free },
	{ "limit_cno", make_cno, dat_cno_free },
	{ "limit_evd", make_evd, dat_evd_free },
	{ "limit_ep", make_ep, dat_ep_free },
	{ "limit_rsp", make_rsp, free_rsp },
	{ "limit_psp", make_psp, dat_psp_free },
	{ "limit_lmr", make_lmr, dat_lmr_free },
	{ "limit_rpost", make_receive, NULL },
};
#define LIMITS (sizeof limits / sizeof limits[0])

static bool
is_limit(DAT_RETURN ret)
{
	switch (DAT_GET_TYPE(ret)) {
	case DAT_INSUFFICIENT_RESOURCES:
	case DAT_CONN_QUAL_UNAVAILABLE:
	case DAT_CONN_QUAL_IN_USE:
	case DAT_NOT_IMPLEMENTED:
	case DAT_MODEL_NOT_SUPPORTED:
		return true;
	default:
		return false;
	}
}

static bool
probe(struct set *set, const struct limit *limit, int maximum)
{
	size_t made = 0, room = 0;
	DAT_HANDLE *handles = NULL;
	DAT_RETURN ret = DAT_SUCCESS;
	bool good = true;

	while (maximum == 0 || made < (size_t)maximum) {
		if (made == room) {
			DAT_HANDLE *more =
			    realloc(handles, (room = room ? 2 * room : 64) * sizeof *handles);

			if (!more) {
				cmd_fail("no memory for more handles");
				break;
			}
			handles = more;
		}
		ret = limit->make(set, &handles[made]);
		if (ret != DAT_SUCCESS)
			break;
		made++;
	}
	if (ret != DAT_SUCCESS && !is_limit(ret))
		good = cmd_failed_call(limit->name, ret);
	printf("%s: %zu%s\n", limit->name, made,
	    ret == DAT_SUCCESS ? " and no failure" : ", then a call fails as it should");
	for (size_t i = 0; limit->release && i < made; i++)
		if (!cmd_check(limit->name, limit->release(handles[i])))
			good = false;
	free(handles);
	return good;
}

/* The largest region, by doubling. */
static bool
probe_size(struct set *set)
{
	size_t best = 0;

	for (size_t size = 4096; size <= (size_t)64 << 20; size *= 2) {
		void *memory = malloc(size);
		DAT_REGION_DESCRIPTION region = { .for_va = memory };
		DAT_RETURN ret = DAT_INSUFFICIENT_RESOURCES;
		DAT_LMR_HANDLE lmr;

		if (memory)
			ret = dat_lmr_create(set->ia, DAT_MEM_TYPE_VIRTUAL, region, size,
			    set->end.pz, DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &lmr, NULL, NULL,
			    NULL, NULL);
		if (ret == DAT_SUCCESS) {
			best = size;
			if (!cmd_ok(dat_lmr_free(lmr)))
				return false;
		}
		free(memory);
		if (ret != DAT_SUCCESS)
			break;
	}
	printf("limit_size_lmr: %zu bytes at least\n", best);
	return best > 0 || cmd_fail("no region of 4096 bytes can be made");
}

static bool
wanted(const struct cmd_options *options, const char *name)
{
	for (int i = 0; i < options->name_count; i++)
		if (!strcmp(options->names[i], name))
			return true;
	return options->name_count == 0;
}

bool
cmd_limit_is(const char *name)
{
	for (size_t i = 0; i < LIMITS; i++)
		if (!strcmp(limits[i].name, name))
			return true;
	return !strcmp(name, "limit_size_lmr");
}

bool
cmd_limits(const struct cmd_options *options)
{
	struct set *sets = calloc((size_t)options->width, sizeof *sets);
	bool good = sets != NULL, passed = true;
	int opened = 0;

	for (; good && opened < options->width; opened++) {
		struct set *set = &sets[opened];

		set->name = options->ia;
		good =
		    cmd_ia_open(set->name, &set->ia) &&
		    cmd_end_open(&set->end, set->ia, 8192, false, false) &&
		    cmd_ok(dat_evd_create(set->ia, 16, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &set->cr));
	}
	for (size_t i = 0; good && i < LIMITS; i++)
		if (wanted(options, limits[i].name))
			passed = probe(&sets[i % (size_t)options->width], &limits[i],
				     options->maximum) &&
				 passed;
	if (good && wanted(options, "limit_size_lmr"))
		passed = probe_size(&sets[0]) && passed;
	for (int i = 0; i < opened; i++) {
		cmd_end_close(&sets[i].end);
		if (sets[i].cr)
			(void)cmd_ok(dat_evd_free(sets[i].cr));
		if (sets[i].ia && !cmd_check("dat_ia_close", free_ia(sets[i].ia)))
			passed = false;
	}
	free(sets);
	return good && passed;
}

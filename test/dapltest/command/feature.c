/* SPDX-License-Identifier: BSD-3-Clause */
/* Features: small cases that need no server.  The groups are named as in the original dapltest. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

struct stage {
	const char *name;
	DAT_IA_HANDLE ia;
	struct cmd_end end;
	DAT_EVD_HANDLE cr;
	DAT_PSP_HANDLE psp;
	DAT_CONN_QUAL qual;
};

static const DAT_OS_WAIT_PROXY_AGENT no_agent = { NULL, NULL };

static bool
typed(const char *call, DAT_RETURN ret, unsigned int type)
{
	return DAT_GET_TYPE(ret) == type || cmd_failed_call(call, ret);
}
#define IS(call, type) typed(#call, (call), (type))

static bool
try_open(const char *name, DAT_IA_HANDLE *ia)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;

	return dat_ia_open((DAT_NAME_PTR)(uintptr_t)name, 8, &async, ia) == DAT_SUCCESS;
}

/* ---- hwconn ---- */

static bool
open_close(struct stage *s)
{
	DAT_IA_HANDLE ia;

	return (try_open(s->name, &ia) || cmd_fail("cannot open %s again", s->name)) &&
	       cmd_ok(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
}

static bool
bad_names(struct stage *s)
{
	DAT_IA_HANDLE ia;

	(void)s;
	return !try_open("there-is-no-such-adapter", &ia) && !try_open("", &ia) &&
	       !try_open(NULL, &ia);
}

static bool
close_null(struct stage *s)
{
	(void)s;
	return IS(dat_ia_close(DAT_HANDLE_NULL, DAT_CLOSE_ABRUPT_FLAG), DAT_INVALID_HANDLE);
}

static bool
close_with_endpoint(struct stage *s)
{
	DAT_PZ_HANDLE pz;
	DAT_IA_HANDLE ia;

	return try_open(s->name, &ia) && cmd_ok(dat_pz_create(ia, &pz)) &&
	       IS(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_INVALID_STATE) &&
	       cmd_ok(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG));
}

/* ---- endpoint ---- */

static bool
make_ep(struct stage *s, DAT_PZ_HANDLE pz, DAT_EP_HANDLE *ep, unsigned int type)
{
	struct cmd_end *e = &s->end;

	return IS(dat_ep_create(s->ia, pz, e->recv, e->request, e->connect, NULL, ep), type);
}

static bool
ep_create_free(struct stage *s)
{
	DAT_EP_HANDLE ep;

	return make_ep(s, s->end.pz, &ep, DAT_SUCCESS) && cmd_ok(dat_ep_free(ep));
}

static bool
ep_of_freed_pz(struct stage *s)
{
	DAT_EP_HANDLE ep;
	DAT_PZ_HANDLE pz;

	return cmd_ok(dat_pz_create(s->ia, &pz)) && cmd_ok(dat_pz_free(pz)) &&
	       make_ep(s, pz, &ep, DAT_INVALID_HANDLE);
}

static bool
ep_free_with_receive(struct stage *s)
{
	struct cmd_end other;
	bool good =
	    cmd_end_open(&other, s->ia, 64, false, false) && cmd_end_post_recv(&other, 0, 64, 1, 1);

	cmd_end_close(&other);
	return good;
}

/* ---- pz ---- */

static bool
pz_create_free(struct stage *s)
{
	DAT_PZ_HANDLE pz;

	return cmd_ok(dat_pz_create(s->ia, &pz)) && cmd_ok(dat_pz_free(pz));
}

static bool
pz_of_ep(struct stage *s)
{
	DAT_EP_HANDLE ep;
	DAT_PZ_HANDLE pz;

	return cmd_ok(dat_pz_create(s->ia, &pz)) && make_ep(s, pz, &ep, DAT_SUCCESS) &&
	       IS(dat_pz_free(pz), DAT_INVALID_STATE) && cmd_ok(dat_ep_free(ep)) &&
	       cmd_ok(dat_pz_free(pz));
}

static DAT_RETURN
region(struct stage *s, DAT_PZ_HANDLE pz, size_t length, DAT_LMR_HANDLE *lmr)
{
	DAT_REGION_DESCRIPTION where = { .for_va = s->end.buffer };

	return dat_lmr_create(s->ia, DAT_MEM_TYPE_VIRTUAL, where, length, pz, DAT_MEM_PRIV_ALL_FLAG,
	    DAT_VA_TYPE_VA, lmr, NULL, NULL, NULL, NULL);
}

static bool
pz_of_lmr(struct stage *s)
{
	DAT_LMR_HANDLE lmr;
	DAT_PZ_HANDLE pz;

	return cmd_ok(dat_pz_create(s->ia, &pz)) && cmd_ok(region(s, pz, 64, &lmr)) &&
	       IS(dat_pz_free(pz), DAT_INVALID_STATE) && cmd_ok(dat_lmr_free(lmr)) &&
	       cmd_ok(dat_pz_free(pz));
}

/* ---- mem ---- */

static bool
lmr_one_page(struct stage *s)
{
	DAT_LMR_HANDLE lmr;

	return cmd_ok(region(s, s->end.pz, 4096, &lmr)) && cmd_ok(dat_lmr_free(lmr));
}

static bool
lmr_odd_length(struct stage *s)
{
	DAT_LMR_HANDLE lmr;

	return cmd_ok(region(s, s->end.pz, 4099, &lmr)) && cmd_ok(dat_lmr_free(lmr));
}

static bool
lmr_of_nothing(struct stage *s)
{
	DAT_LMR_HANDLE lmr;

	return region(s, s->end.pz, 0, &lmr) != DAT_SUCCESS || cmd_ok(dat_lmr_free(lmr));
}

static bool
lmr_without_pz(struct stage *s)
{
	DAT_LMR_HANDLE lmr;

	return IS(region(s, DAT_HANDLE_NULL, 64, &lmr), DAT_INVALID_HANDLE);
}

static bool
lmr_free_null(struct stage *s)
{
	(void)s;
	return IS(dat_lmr_free(DAT_HANDLE_NULL), DAT_INVALID_HANDLE);
}

/* ---- connmgt ---- */

static bool
wait_times_out(struct stage *s)
{
	DAT_EVENT event;
	DAT_COUNT more;

	return IS(dat_evd_wait(s->cr, 10, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
}

static bool
wait_does_not_block(struct stage *s)
{
	DAT_EVENT event;
	DAT_COUNT more;

	return IS(dat_evd_wait(s->cr, 0, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
}

/* ---- queryinfo ---- */

static bool
query_ia(struct stage *s)
{
	DAT_PROVIDER_ATTR provider = { 0 };
	DAT_EVD_HANDLE async;
	DAT_IA_ATTR attr;

	return cmd_ok(dat_ia_query(
	    s->ia, &async, DAT_IA_FIELD_ALL, &attr, DAT_PROVIDER_FIELD_ALL, &provider));
}

static bool
query_cno(struct stage *s)
{
	DAT_CNO_PARAM param;
	DAT_CNO_HANDLE cno;

	return cmd_ok(dat_cno_create(s->ia, no_agent, &cno)) &&
	       cmd_ok(dat_cno_query(cno, DAT_CNO_FIELD_ALL, &param)) &&
	       (param.ia_handle == s->ia || cmd_fail("the CNO names another adapter")) &&
	       cmd_ok(dat_cno_free(cno));
}

static bool
query_evd(struct stage *s)
{
	DAT_EVD_PARAM param;

	return cmd_ok(dat_evd_query(s->cr, DAT_EVD_FIELD_ALL, &param)) &&
	       (param.ia_handle == s->ia || cmd_fail("the EVD names another adapter"));
}

static bool
query_psp(struct stage *s)
{
	DAT_PSP_PARAM param;

	return cmd_ok(dat_psp_query(s->psp, DAT_PSP_FIELD_ALL, &param)) &&
	       (param.conn_qual == s->qual || cmd_fail("the PSP names another qualifier"));
}

static bool
query_ep(struct stage *s)
{
	DAT_EP_PARAM param;

	return cmd_ok(dat_ep_query(s->end.ep, DAT_EP_FIELD_ALL, &param)) &&
	       (param.pz_handle == s->end.pz || cmd_fail("the EP names another PZ"));
}

static bool
query_pz(struct stage *s)
{
	DAT_PZ_PARAM param;

	return cmd_ok(dat_pz_query(s->end.pz, DAT_PZ_FIELD_ALL, &param)) &&
	       (param.ia_handle == s->ia || cmd_fail("the PZ names another adapter"));
}

static bool
query_lmr(struct stage *s)
{
	DAT_LMR_PARAM param;

	return cmd_ok(dat_lmr_query(s->end.lmr, DAT_LMR_FIELD_ALL, &param)) &&
	       (param.lmr_context == s->end.lmr_context ||
		   cmd_fail("the LMR tells another context"));
}

static bool
query_nowhere(struct stage *s)
{
	return IS(dat_ia_query(s->ia, NULL, DAT_IA_FIELD_ALL, NULL, 0, NULL),
		   DAT_INVALID_PARAMETER) &&
	       IS(dat_evd_query(s->cr, DAT_EVD_FIELD_ALL, NULL), DAT_INVALID_PARAMETER) &&
	       IS(dat_psp_query(s->psp, DAT_PSP_FIELD_ALL, NULL), DAT_INVALID_PARAMETER);
}

static bool
query_wrong_handles(struct stage *s)
{
	DAT_CNO_PARAM cno;
	DAT_EVD_PARAM evd;
	DAT_PSP_PARAM psp;

	return IS(dat_ia_query(s->end.ep, NULL, 0, NULL, 0, NULL), DAT_INVALID_HANDLE) &&
	       IS(dat_cno_query(s->end.ep, DAT_CNO_FIELD_ALL, &cno), DAT_INVALID_HANDLE) &&
	       IS(dat_evd_query(s->end.ep, DAT_EVD_FIELD_ALL, &evd), DAT_INVALID_HANDLE) &&
	       IS(dat_psp_query(s->end.ep, DAT_PSP_FIELD_ALL, &psp), DAT_INVALID_HANDLE);
}

static const struct feature {
	const char *group, *name;
	bool (*run)(struct stage *s);
} features[] = {
	{ "hwconn", "open_close", open_close },
	{ "hwconn", "bad_names", bad_names },
	{ "hwconn", "close_null", close_null },
	{ "hwconn", "close_with_object", close_with_endpoint },
	{ "endpoint", "create_free", ep_create_free },
	{ "endpoint", "of_freed_pz", ep_of_freed_pz },
	{ "endpoint", "free_with_receive", ep_free_with_receive },
	{ "pz", "create_free", pz_create_free },
	{ "pz", "in_use_by_endpoint", pz_of_ep },
	{ "pz", "in_use_by_region", pz_of_lmr },
	{ "mem", "one_page", lmr_one_page },
	{ "mem", "odd_length", lmr_odd_length },
	{ "mem", "of_nothing", lmr_of_nothing },
	{ "mem", "without_pz", lmr_without_pz },
	{ "mem", "free_null", lmr_free_null },
	{ "connmgt", "wait_times_out", wait_times_out },
	{ "connmgt", "wait_does_not_block", wait_does_not_block },
	{ "queryinfo", "ia", query_ia },
	{ "queryinfo", "cno", query_cno },
	{ "queryinfo", "evd", query_evd },
	{ "queryinfo", "psp", query_psp },
	{ "queryinfo", "ep", query_ep },
	{ "queryinfo", "pz", query_pz },
	{ "queryinfo", "lmr", query_lmr },
	{ "queryinfo", "nowhere", query_nowhere },
	{ "queryinfo", "wrong_handles", query_wrong_handles },
};
#define FEATURES (sizeof features / sizeof features[0])

bool
cmd_feature_is(const char *name)
{
	for (size_t i = 0; i < FEATURES; i++)
		if (!strcmp(name, features[i].group) || !strcmp(name, features[i].name))
			return true;
	return false;
}

/* The names are groups and cases; without a name everything is meant. */
static bool
wanted(const struct cmd_options *options, const struct feature *feature)
{
	bool group = false, named = false, match = false;

	for (int i = 0; i < options->name_count; i++) {
		bool is_group = false;

		for (size_t j = 0; j < FEATURES; j++)
			if (!strcmp(options->names[i], features[j].group))
				is_group = true;
		if (is_group) {
			group = group || !strcmp(options->names[i], feature->group);
		} else {
			named = true;
			match = match || !strcmp(options->names[i], feature->name);
		}
	}
	return options->name_count == 0 || (named ? match && group : group);
}

static bool
open_stage(struct stage *s, const char *name)
{
	*s = (struct stage){ .name = name };
	return cmd_ia_open(name, &s->ia) && cmd_end_open(&s->end, s->ia, 8192, false, false) &&
	       cmd_ok(dat_evd_create(s->ia, 8, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &s->cr)) &&
	       cmd_ok(dat_psp_create_any(s->ia, &s->qual, s->cr, DAT_PSP_CONSUMER_FLAG, &s->psp));
}

bool
cmd_features(const struct cmd_options *options)
{
	struct stage stage;
	bool good = open_stage(&stage, options->ia);
	int passed = 0, failed = good ? 0 : 1;

	for (size_t i = 0; good && i < FEATURES; i++) {
		bool pass;

		if (!wanted(options, &features[i]))
			continue;
		pass = features[i].run(&stage);
		printf(
		    "%s %s: %s\n", features[i].group, features[i].name, pass ? "passed" : "FAILED");
		passed += pass;
		failed += !pass;
	}
	free(stage.end.buffer);
	if (stage.ia)
		good = cmd_ok(dat_ia_close(stage.ia, DAT_CLOSE_ABRUPT_FLAG)) && good;
	printf("%d passed, %d failed\n", passed, failed);
	if (passed + failed == 0)
		return cmd_fail("no case of that name is in that feature");
	return good && failed == 0;
}

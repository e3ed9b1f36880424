/* SPDX-License-Identifier: BSD-3-Clause */
#include "feature.h"
#include "lines.h"
#include "pair.h"
#include "text.h"

#include <stdio.h>
#include <string.h>

#include <dat2/dat_ib_extensions.h>
#include <dat2/dat_upcall.h>

enum answer { NO, YES, UNKNOWN };

enum { SHORT_QUEUE = 4, LONG_QUEUE = 40 };

/* `calls` are names with blanks between them.  What needs two features is with the rarer one. */
struct feature {
	const char *name;
	const char *about;
	enum answer (*serves)(const struct adapter *adapter);
	const char *calls;
};

static enum answer
feature_windows(const struct adapter *adapter)
{
	return adapter->ia_attr.max_rmrs > 0 ? YES : NO;
}

static enum answer
feature_srq(const struct adapter *adapter)
{
	return adapter->ia_attr.max_srqs > 0 ? YES : NO;
}

static enum answer
feature_answer(DAT_RETURN ret)
{
	switch (DAT_GET_TYPE(ret)) {
	case DAT_SUCCESS:
		return YES;
	case DAT_MODEL_NOT_SUPPORTED:
	case DAT_NOT_IMPLEMENTED:
		return NO;
	default:
		return UNKNOWN;
	}
}

/* No attribute shows it: try it. */
static enum answer
feature_srq_resize(const struct adapter *adapter)
{
	DAT_SRQ_ATTR attr = { SHORT_QUEUE, 1, DAT_SRQ_LW_DEFAULT };
	DAT_SRQ_HANDLE srq;
	DAT_PZ_HANDLE pz;
	DAT_RETURN ret;

	if (feature_srq(adapter) == NO)
		return NO;
	if (dat_pz_create(adapter->ia, &pz) != DAT_SUCCESS ||
	    dat_srq_create(adapter->ia, pz, &attr, &srq) != DAT_SUCCESS)
		return UNKNOWN;
	ret = dat_srq_resize(srq, LONG_QUEUE);
	return feature_answer(ret);
}

/*
 * No attribute shows it: try it on a connection.  The key is none, so the other end may break the
 * connection.
 */
static enum answer
feature_invalidate(const struct adapter *adapter)
{
	const DAT_DTO_COOKIE cookie = { .as_64 = 1 };
	struct pair pair;
	json_t *failure;
	DAT_RETURN ret = DAT_INTERNAL_ERROR;

	pair_init(&pair, adapter);
	failure = pair_register(&pair);
	if (failure == NULL)
		failure = pair_create(&pair);
	if (failure == NULL)
		failure = pair_connect(&pair);
	if (failure == NULL)
		ret = dat_ep_post_send_with_invalidate(
		    pair.ends[0].ep, 0, NULL, cookie, DAT_COMPLETION_DEFAULT_FLAG, DAT_TRUE, 0);
	json_decref(failure);
	for (int i = 0; i < 2; i++) {
		if (pair.ends[i].ep != DAT_HANDLE_NULL)
			(void)dat_ep_free(pair.ends[i].ep);
		if (pair.ends[i].lmr != DAT_HANDLE_NULL)
			(void)dat_lmr_free(pair.ends[i].lmr);
	}
	pair_free(&pair);
	return feature_answer(ret);
}

static enum answer
feature_atomics(const struct adapter *adapter)
{
	return adapter_has(adapter, DAT_IB_ATTR_FETCH_AND_ADD) &&
		       adapter_has(adapter, DAT_IB_ATTR_CMP_AND_SWAP) ?
		   YES :
		   NO;
}

static enum answer
feature_infiniband(const struct adapter *adapter)
{
	return adapter_has(adapter, DAT_IB_ATTR_IMMED_DATA) &&
		       adapter_has(adapter, DAT_IB_ATTR_UD) ?
		   YES :
		   NO;
}

static enum answer
feature_zero_based(const struct adapter *adapter)
{
	return adapter->ia_attr.zb_supported != DAT_FALSE ? YES : NO;
}

static enum answer
feature_upcalls(const struct adapter *adapter)
{
	return adapter_has(adapter, DAT_REARM_ATTR_UPCALLS) ? YES : NO;
}

static enum answer
feature_never(const struct adapter *adapter)
{
	(void)adapter;
	return NO;
}

static const struct feature features[] = {
	{ "windows", "remote memory regions", feature_windows,
	    "dat_rmr_create dat_rmr_create_for_ep dat_rmr_query dat_rmr_free dat_rmr_bind "
	    "dat_ep_post_rdma_read_to_rmr" },
	{ "invalidate", "a send that ends access to a region; windows, too", feature_invalidate,
	    "dat_ep_post_send_with_invalidate" },
	{ "srq", "shared receive queues", feature_srq,
	    "dat_srq_create dat_srq_query dat_srq_free dat_srq_post_recv dat_srq_set_lw "
	    "dat_ep_create_with_srq" },
	{ "srq-resize", "shared receive queues of another length", feature_srq_resize,
	    "dat_srq_resize" },
	{ "atomics", "atomic operations on remote memory", feature_atomics,
	    "dat_ib_post_fetch_and_add dat_ib_post_cmp_and_swap" },
	{ "infiniband", "immediate data and datagrams", feature_infiniband,
	    "dat_ib_post_rdma_write_immed dat_ib_post_send_ud dat_ib_ud_cm_free "
	    "dat_ib_ud_ah_free" },
	{ "zero-based", "regions whose addresses begin at zero: DAT_VA_TYPE_ZB", feature_zero_based,
	    "dat_lmr_create dat_rmr_bind" },
	{ "upcalls", "calls of dat_upcall.h", feature_upcalls,
	    "dat_evd_kcreate dat_evd_modify_upcall dat_evd_modify_upcall_array dat_evd_dequeue_n "
	    "dat_evd_query_upcall_counters dat_cno_trywait dat_ia_step" },
	{ "collectives", "of dat_ib_extensions.h: no device", feature_never,
	    "dat_ib_collective_create_member and the others" },
};

json_t *
feature_report(const struct adapter *adapter)
{
	static const char *const answers[] = { [NO] = "no", [YES] = "yes", [UNKNOWN] = "unknown" };
	json_t *report = json_array(), *one, *calls;
	char names[512], *rest, *name;
	size_t i;

	for (i = 0; i < sizeof features / sizeof features[0]; i++) {
		one = json_object();
		calls = json_array();
		json_object_set_new(one, "name", json_string(features[i].name));
		json_object_set_new(one, "about", json_string(features[i].about));
		json_object_set_new(
		    one, "served", json_string(answers[features[i].serves(adapter)]));
		snprintf(names, sizeof names, "%s", features[i].calls);
		for (name = strtok_r(names, " ", &rest); name != NULL;
		     name = strtok_r(NULL, " ", &rest))
			if (strncmp(name, "dat_", 4) == 0)
				json_array_append_new(calls, json_string(name));
		json_object_set_new(one, "calls", calls);
		json_array_append_new(report, one);
	}
	json_decref(lines_take_errors());
	return report;
}

void
feature_print(const json_t *report)
{
	json_t *one, *calls, *call;
	char text[1024];
	size_t i, j;

	json_array_foreach(report, i, one)
	{
		snprintf(text, sizeof text, "%s: %s",
		    json_string_value(json_object_get(one, "served")),
		    json_string_value(json_object_get(one, "about")));
		text_print(4, 12, json_string_value(json_object_get(one, "name")), text);
		*text = '\0';
		calls = json_object_get(one, "calls");
		json_array_foreach(calls, j, call) snprintf(text + strlen(text),
		    sizeof text - strlen(text), "%s%s", j != 0 ? " " : "", json_string_value(call));
		text_print(16, 0, "", text);
	}
}

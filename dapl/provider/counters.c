/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/provider/counters.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <dat2/dat_ib_extensions.h>

#include "dapl/ep/ep.h"
#include "dapl/evd/evd_object.h"
#include "dapl/ia/ia_count.h"
#include "dapl/trace/counter_name.h"

/* The counters of one kind of object.  copy() is dapl_counter_copy() for a handle. */
struct counters {
	enum dapl_kind kind;
	int all;
	bool (*copy)(DAT_HANDLE handle, int which, DAT_UINT64 *out, bool reset);
	const char *(*name)(int which);
};

static bool
counters_of_ep(DAT_HANDLE handle, int which, DAT_UINT64 *out, bool reset) DAPL_NO_LOCK
{
	struct dapl_ep *ep = dapl_object_lock_handle(handle, DAPL_KIND_EP);
	struct dapl_ep_tally received[DAPL_EP_OPERATIONS];

	if (!ep)
		return false;
	/* Without an EVD for receives none is counted now. */
	if (ep->parts.recv)
		evd_copy(
		    dapl_evd_ref(ep->parts.recv), received, ep->counts.received, sizeof received);
	else
		memcpy(received, ep->counts.received, sizeof received);
	dapl_ep_counts_copy(&ep->counts, received, which, out, reset);
	dapl_object_unlock(&ep->obj);
	return true;
}

static const struct counters counters_table[] = {
	{ DAPL_KIND_IA, DCNT_IA_ALL_COUNTERS, dapl_ia_counts_copy, dapl_name_ia_counter },
	{ DAPL_KIND_EP, DCNT_EP_ALL_COUNTERS, counters_of_ep, dapl_name_ep_counter },
	{ DAPL_KIND_EVD, DCNT_EVD_ALL_COUNTERS, dapl_evd_counts_copy, dapl_name_evd_counter },
};

#define COUNTERS_MAX DCNT_IA_ALL_COUNTERS /* the most that a kind has */

/* DAT_SUCCESS, with the counters of the object, if it has that one. */
static DAT_RETURN
counters_find(DAT_HANDLE handle, int which, const struct counters **found) DAPL_NO_LOCK
{
	for (size_t i = 0; i < sizeof counters_table / sizeof counters_table[0]; i++) {
		*found = &counters_table[i];
		if (!dapl_handle_is(handle, (*found)->kind))
			continue;
		if (which < 0 || which > (*found)->all)
			return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
		return DAT_SUCCESS;
	}
	return DAT_ERROR(DAT_INVALID_HANDLE, DAT_NO_SUBTYPE);
}

DAT_RETURN
dapl_counters_query(DAT_HANDLE handle, va_list args)
{
	const int which = va_arg(args, int);
	DAT_UINT64 *out = va_arg(args, DAT_UINT64 *);
	const bool reset = va_arg(args, int) != 0;
	const struct counters *counters;
	DAT_RETURN ret = counters_find(handle, which, &counters);

	if (ret != DAT_SUCCESS)
		return ret;
	if (!out)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
	return counters->copy(handle, which, out, reset) ?
		   DAT_SUCCESS :
		   DAT_ERROR(DAT_INVALID_HANDLE, DAT_NO_SUBTYPE);
}

DAT_RETURN
dapl_counters_print(DAT_HANDLE handle, va_list args)
{
	const int which = va_arg(args, int);
	const bool reset = va_arg(args, int) != 0;
	DAT_UINT64 values[COUNTERS_MAX];
	const struct counters *counters;
	DAT_RETURN ret = counters_find(handle, which, &counters);

	if (ret != DAT_SUCCESS)
		return ret;
	if (!counters->copy(handle, which, values, reset))
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_NO_SUBTYPE);
	for (int i = 0; i < counters->all; i++)
		if (which == i || which == counters->all)
			printf("DCNT_%s = %" PRIu64 "\n", counters->name(i), (uint64_t)values[i]);
	return DAT_SUCCESS;
}

/* The counters of the provider never stop; those of the link and of the device it does not read. */
DAT_RETURN
dapl_counters_switch(DAT_IA_HANDLE ia, va_list args)
{
	const int type = va_arg(args, int);

	if (!dapl_handle_is(ia, DAPL_KIND_IA))
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	switch (type) {
	case DCNT_IA_CM:
		return DAT_SUCCESS;
	case DCNT_IA_LNK:
	case DCNT_IA_DIAG:
		return DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
	default:
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	}
}

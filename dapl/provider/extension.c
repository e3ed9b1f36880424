/* SPDX-License-Identifier: BSD-3-Clause */
/* extension -- the calls that travel as numbered operations */
#include <pthread.h>
#include <stdarg.h>

#include <dat2/dat_ib_extensions.h>

#include "dapl/api.h"
#include "dapl/object/cancel.h"
#include "dapl/ep/ep_ib.h"
#include "dapl/trace/debug.h"
#include "dapl/ia/ia.h"
#include "dapl/provider/counters.h"
#include "dapl/provider/provider.h"
#include "dapl/provider/trace.h"
#include "dapl/trace/hint.h"

/*
 * `traced`: with debug lines, as all calls of the table that a provider gets then (trace.h).  It is
 * a constant where the two functions at the end of this file call the others, so a call that is not
 * traced tests nothing.
 */
#define INLINE inline __attribute__((always_inline))

static INLINE DAT_RETURN
extension_kcreate(DAT_HANDLE handle, va_list args, bool traced)
{
	int min_qlen = va_arg(args, int);
	int policy = va_arg(args, int);
	const DAT_UPCALL_OBJECT *upcall = va_arg(args, const DAT_UPCALL_OBJECT *);
	int flags = va_arg(args, int);
	DAT_EVD_HANDLE *evd = va_arg(args, DAT_EVD_HANDLE *);

	return (traced ? dapl_trace_evd_kcreate : dapl_evd_kcreate)(
	    handle, min_qlen, (DAT_UPCALL_POLICY)policy, upcall, (DAT_EVD_FLAGS)flags, evd);
}

static INLINE DAT_RETURN
extension_modify_upcall(DAT_HANDLE handle, va_list args, bool traced)
{
	int policy = va_arg(args, int);
	const DAT_UPCALL_OBJECT *upcall = va_arg(args, const DAT_UPCALL_OBJECT *);
	int flag = va_arg(args, int);

	if (traced)
		return dapl_trace_evd_modify_upcall(
		    handle, (DAT_UPCALL_POLICY)policy, upcall, (DAT_UPCALL_FLAG)flag);
	return dapl_evd_modify_upcall(
	    handle, (DAT_UPCALL_POLICY)policy, upcall, (DAT_UPCALL_FLAG)flag);
}

static INLINE DAT_RETURN
extension_modify_upcall_array(DAT_HANDLE handle, va_list args, bool traced)
{
	int policy = va_arg(args, int);
	const DAT_UPCALL_ARRAY_OBJECT *upcall = va_arg(args, const DAT_UPCALL_ARRAY_OBJECT *);
	int flag = va_arg(args, int);

	return (traced ? dapl_trace_evd_modify_upcall_array : dapl_evd_modify_upcall_array)(
	    handle, (DAT_UPCALL_POLICY)policy, upcall, (DAT_UPCALL_FLAG)flag);
}

static INLINE DAT_RETURN
extension_dequeue_n(DAT_HANDLE handle, va_list args, bool traced)
{
	DAT_COUNT max_events = va_arg(args, DAT_COUNT);
	DAT_EVENT *events = va_arg(args, DAT_EVENT *);
	DAT_COUNT *n_events = va_arg(args, DAT_COUNT *);

	return (traced ? dapl_trace_evd_dequeue_n : dapl_evd_dequeue_n)(
	    handle, max_events, events, n_events);
}

static INLINE DAT_RETURN
extension_counters(DAT_HANDLE handle, va_list args, bool traced)
{
	struct dat_rearm_evd_counters *out = va_arg(args, struct dat_rearm_evd_counters *);
	DAT_UINT32 size = va_arg(args, DAT_UINT32);

	return (traced ? dapl_trace_evd_query_upcall_counters : dapl_evd_query_upcall_counters)(
	    handle, out, size);
}

static INLINE DAT_RETURN
extension_trywait(DAT_HANDLE handle, va_list args, bool traced)
{
	DAT_EVD_HANDLE *evd = va_arg(args, DAT_EVD_HANDLE *);

	return (traced ? dapl_trace_cno_trywait : dapl_cno_trywait)(handle, evd);
}

/* Pumps the loops of an IA that has no threads. */
static DAT_RETURN
extension_step(DAT_HANDLE handle, va_list args)
{
	int timeout_ms = va_arg(args, int);
	DAT_COUNT *done = va_arg(args, DAT_COUNT *);
	struct dapl_ia *ia = dapl_ia_get(handle); /* upcalls may close it */
	DAT_COUNT n = 0;
	int state;

	if (!ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	if (!ia->stepped) {
		dapl_ia_put(ia);
		return DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE);
	}
	/* As on a thread of the provider: the handlers of the loop read files of the device. */
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	for (unsigned int i = 0; i < ia->loop_count; i++)
		n += loop_step(ia->loops[i].loop, i == 0 ? timeout_ms : 0);
	(void)pthread_setcancelstate(state, NULL);
	dapl_ia_put(ia);
	if (done)
		*done = n;
	return DAT_SUCCESS;
}

/* Opens the adapter with that name and returns its attributes. */
static DAT_RETURN
extension_open_query(va_list args)
{
	const char *name = va_arg(args, DAT_NAME_PTR);
	DAT_IA_HANDLE *out = va_arg(args, DAT_IA_HANDLE *), ia;
	DAT_IA_ATTR_MASK ia_mask = va_arg(args, DAT_IA_ATTR_MASK);
	DAT_IA_ATTR *ia_attr = va_arg(args, DAT_IA_ATTR *);
	DAT_PROVIDER_ATTR_MASK provider_mask = va_arg(args, DAT_PROVIDER_ATTR_MASK);
	DAT_PROVIDER_ATTR *provider_attr = va_arg(args, DAT_PROVIDER_ATTR *);
	DAT_RETURN ret;

	if (!name)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	if (!out)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
	ret = dapl_provider_open_by_name(name, &ia);
	if (ret != DAT_SUCCESS)
		return ret;
	ret = dapl_ia_query(ia, NULL, ia_mask, ia_attr, provider_mask, provider_attr);
	if (ret == DAT_SUCCESS)
		*out = ia;
	else
		(void)dapl_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG);
	/* The call that opened it has ended, and with it the name that a hint would have. */
	dapl_hint_name("dat_ib_open_query");
	return ret;
}

/* The call of a program that is this operation, or NULL. */
static const char *
extension_name(int op)
{
	static const struct {
		int op;
		const char *name;
	} names[] = {
		{ DAT_REARM_IA_STEP_OP, "dat_ia_step" },
		{ DAT_IB_OPEN_QUERY_OP, "dat_ib_open_query" },
		{ DAT_IB_CLOSE_QUERY_OP, "dat_ib_close_query" },
		{ DAT_IB_FETCH_AND_ADD_OP, "dat_ib_post_fetch_and_add" },
		{ DAT_IB_CMP_AND_SWAP_OP, "dat_ib_post_cmp_and_swap" },
		{ DAT_IB_RDMA_WRITE_IMMED_OP, "dat_ib_post_rdma_write_immed" },
		{ DAT_IB_UD_SEND_OP, "dat_ib_post_send_ud" },
		{ DAT_IB_UD_CM_FREE_OP, "dat_ib_ud_cm_free" },
		{ DAT_IB_UD_AH_FREE_OP, "dat_ib_ud_ah_free" },
	};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (names[i].op == op)
			return names[i].name;
	return NULL;
}

static bool
extension_is_collective(int op)
{
	return op >= DAT_IB_COLLECTIVE_CREATE_MEMBER_OP && op <= DAT_IB_COLLECTIVE_BARRIER_OP;
}

DAT_RETURN
dapl_extension_op(DAT_HANDLE handle, DAT_EXTENDED_OP op, va_list args)
{
	DAPL_UNCANCELLED;

	if (dapl_debug_wants(DAPL_DEBUG_HINTS))
		dapl_hint_name(extension_name((int)op));
	switch ((int)op) {
	case DAT_REARM_IA_STEP_OP:
		return extension_step(handle, args);
	case DAT_IB_OPEN_QUERY_OP:
		return extension_open_query(args);
	case DAT_IB_CLOSE_QUERY_OP:
		return dapl_ia_close(handle, DAT_CLOSE_ABRUPT_FLAG);
	case DAT_IB_FETCH_AND_ADD_OP:
		return dapl_ep_ib_fetch_and_add(handle, args);
	case DAT_IB_CMP_AND_SWAP_OP:
		return dapl_ep_ib_cmp_and_swap(handle, args);
	case DAT_IB_RDMA_WRITE_IMMED_OP:
		return dapl_ep_ib_rdma_write_immed(handle, args);
	case DAT_IB_UD_SEND_OP:
		return dapl_ep_ib_ud_send(handle, args);
	case DAT_IB_UD_CM_FREE_OP:
		return dapl_ep_ib_ud_cm_free(handle, args);
	case DAT_IB_UD_AH_FREE_OP:
		return dapl_ep_ib_ud_ah_free(handle, args);
	case DAT_IB_QUERY_COUNTERS_OP:
		return dapl_counters_query(handle, args);
	case DAT_IB_PRINT_COUNTERS_OP:
		return dapl_counters_print(handle, args);
	case DAT_IB_START_COUNTERS_OP:
	case DAT_IB_STOP_COUNTERS_OP:
		return dapl_counters_switch(handle, args);
	default:
		if (extension_is_collective((int)op))
			return DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
		return DAT_ERROR(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
	}
}

static INLINE DAT_RETURN
extension_handle_rare(DAT_HANDLE handle, DAT_EXTENDED_OP op, va_list args, bool traced)
{
	switch ((int)op) {
	case DAT_REARM_EVD_KCREATE_OP:
		return extension_kcreate(handle, args, traced);
	case DAT_REARM_EVD_MODIFY_UPCALL_ARRAY_OP:
		return extension_modify_upcall_array(handle, args, traced);
	case DAT_REARM_EVD_COUNTERS_OP:
		return extension_counters(handle, args, traced);
	case DAT_REARM_CNO_TRYWAIT_OP:
		return extension_trywait(handle, args, traced);
	default:
		return (traced ? dapl_trace_extension_op : dapl_extension_op)(handle, op, args);
	}
}

/* The first two are called for each event, or each few. */
static INLINE DAT_RETURN
extension_handle(DAT_HANDLE handle, DAT_EXTENDED_OP op, va_list args, bool traced)
{
	if ((int)op == DAT_REARM_EVD_MODIFY_UPCALL_OP)
		return extension_modify_upcall(handle, args, traced);
	if ((int)op == DAT_REARM_EVD_DEQUEUE_N_OP)
		return extension_dequeue_n(handle, args, traced);
	return extension_handle_rare(handle, op, args, traced);
}

DAT_RETURN
dapl_handle_extendedop(DAT_HANDLE handle, DAT_EXTENDED_OP op, va_list args)
{
	return extension_handle(handle, op, args, false);
}

DAT_RETURN
dapl_trace_handle_extendedop(DAT_HANDLE handle, DAT_EXTENDED_OP op, va_list args)
{
	return extension_handle(handle, op, args, true);
}

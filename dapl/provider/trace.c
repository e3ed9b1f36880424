/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace -- every call once more, with a line before it and a line after it
 *
 * A list of the calls with their parameters: (what to do with it, type, name, how to print it).
 *	GIVEN	printed before the call
 *	TOLD	where a result goes: printed after a call that succeeded, if there is a place
 *	BOTH	as both
 *	LEFT	not printed: a structure
 */
#include "dapl/provider/trace.h"

#include "dapl/api.h"
#include "dapl/trace/debug.h"
#include "dapl/object/provider_key.h"
#include "dapl/provider/users.h"
#include "dapl/trace/hint.h"
#include "dapl/trace/trace_line.h"

#define COMMA() ,
#define NOTHING()
#define MAP_1(m, sep, a) m a
#define MAP_2(m, sep, a, ...) m a sep() MAP_1(m, sep, __VA_ARGS__)
#define MAP_3(m, sep, a, ...) m a sep() MAP_2(m, sep, __VA_ARGS__)
#define MAP_4(m, sep, a, ...) m a sep() MAP_3(m, sep, __VA_ARGS__)
#define MAP_5(m, sep, a, ...) m a sep() MAP_4(m, sep, __VA_ARGS__)
#define MAP_6(m, sep, a, ...) m a sep() MAP_5(m, sep, __VA_ARGS__)
#define MAP_7(m, sep, a, ...) m a sep() MAP_6(m, sep, __VA_ARGS__)
#define MAP_8(m, sep, a, ...) m a sep() MAP_7(m, sep, __VA_ARGS__)
#define MAP_9(m, sep, a, ...) m a sep() MAP_8(m, sep, __VA_ARGS__)
#define MAP_10(m, sep, a, ...) m a sep() MAP_9(m, sep, __VA_ARGS__)
#define MAP_11(m, sep, a, ...) m a sep() MAP_10(m, sep, __VA_ARGS__)
#define MAP_12(m, sep, a, ...) m a sep() MAP_11(m, sep, __VA_ARGS__)
#define MAP_OF(m, sep, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, n, ...) MAP_##n
#define MAP(m, sep, ...) \
	MAP_OF(m, sep, __VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)(m, sep, __VA_ARGS__)

#define DECLARE(use, type, name, how) type name
#define PASS(use, type, name, how) name
#define SHOW(use, type, name, how) SHOW_##use(name, how)
#define SHOW_GIVEN(name, how) dapl_trace_##how(&line, #name, name);
#define SHOW_TOLD(name, how)
#define SHOW_LEFT(name, how)
#define SHOW_BOTH(name, how) dapl_trace_##how##_at(&line, #name, name);
#define NAME(use, type, name, how) #name
#define OBJECT(use, type, name, how) name
#define FIRST(m, a, ...) m a
#define TELL(use, type, name, how) TELL_##use(name, how)
#define TELL_GIVEN(name, how)
#define TELL_TOLD(name, how) \
	if (name) \
		dapl_trace_##how(&line, #name, *(name));
#define TELL_LEFT(name, how)
#define TELL_BOTH(name, how) TELL_TOLD(name, how)

#define TRACE(stem, ...) \
	DAT_RETURN dapl_trace_##stem(MAP(DECLARE, COMMA, __VA_ARGS__)) \
	{ \
		static const char *const parameters[] = { MAP(NAME, COMMA, __VA_ARGS__), NULL }; \
		struct dapl_trace_line line; \
		DAT_RETURN ret; \
\
		if (dapl_debug_wants(DAPL_DEBUG_CALLS)) { \
			dapl_trace_call(&line, "dat_" #stem); \
			MAP(SHOW, NOTHING, __VA_ARGS__) \
			dapl_trace_send(&line); \
		} \
		ret = dapl_##stem(MAP(PASS, COMMA, __VA_ARGS__)); \
		if (dapl_debug_wants(DAPL_DEBUG_RESULTS)) { \
			dapl_trace_return(&line, "dat_" #stem, ret); \
			if (ret == DAT_SUCCESS) { \
				MAP(TELL, NOTHING, __VA_ARGS__) \
			} \
			dapl_trace_send_return(&line); \
		} \
		if (dapl_debug_wants(DAPL_DEBUG_HINTS) && dapl_hint_is_due(ret)) { \
			if (trace_is_in_use(ret)) \
				dapl_users_hint(FIRST(OBJECT, __VA_ARGS__)); \
			dapl_trace_call(&line, "dat_" #stem); \
			MAP(SHOW, NOTHING, __VA_ARGS__) \
			dapl_hint_send(&line, "dat_" #stem, parameters, ret); \
		} \
		return ret; \
	}

#define DECLARE_TRACE(stem) static __typeof__(dapl_##stem) dapl_trace_##stem;
DAPL_API_FUNCTIONS(DECLARE_TRACE)
DECLARE_TRACE(ia_ha_related)

/* Whether the call was refused because other objects need the one that it is about. */
static bool
trace_is_in_use(DAT_RETURN ret)
{
	if (DAT_GET_TYPE(ret) != DAT_INVALID_STATE)
		return false;
	switch ((int)DAT_GET_SUBTYPE(ret)) {
	case DAT_INVALID_STATE_EVD_IN_USE:
	case DAT_INVALID_STATE_CNO_IN_USE:
	case DAT_INVALID_STATE_PZ_IN_USE:
	case DAT_INVALID_STATE_SRQ_IN_USE:
	case DAT_INVALID_STATE_LMR_IN_USE:
		return true;
	default:
		return false;
	}
}

/* Prints a provider by the name in dat.conf. */
static void
dapl_trace_provider(
    struct dapl_trace_line *line, const char *parameter, const struct dapl_provider *provider)
{
	(void)parameter;
	dapl_trace_string(line, "name", provider->info.ia_name);
}

/* clang-format off */
TRACE(ia_open, (GIVEN, struct dapl_provider *, provider, provider), (GIVEN, DAT_COUNT, qlen, count),
    (BOTH, DAT_EVD_HANDLE *, async_evd, handle), (TOLD, DAT_IA_HANDLE *, ia, handle))
TRACE(ia_query, (GIVEN, DAT_IA_HANDLE, ia, handle), (TOLD, DAT_EVD_HANDLE *, async_evd, handle),
    (GIVEN, DAT_IA_ATTR_MASK, ia_mask, hex), (LEFT, DAT_IA_ATTR *, ia_attr, result),
    (GIVEN, DAT_PROVIDER_ATTR_MASK, provider_mask, hex),
    (LEFT, DAT_PROVIDER_ATTR *, provider_attr, result))
TRACE(ia_close, (GIVEN, DAT_IA_HANDLE, ia, handle), (GIVEN, DAT_CLOSE_FLAGS, flags, close))
TRACE(set_consumer_context, (GIVEN, DAT_HANDLE, handle, handle),
    (GIVEN, DAT_CONTEXT, context, cookie))
TRACE(get_consumer_context, (GIVEN, DAT_HANDLE, handle, handle),
    (TOLD, DAT_CONTEXT *, context, cookie))
TRACE(get_handle_type, (GIVEN, DAT_HANDLE, handle, handle),
    (TOLD, DAT_HANDLE_TYPE *, type, handle_type))
TRACE(cno_create, (GIVEN, DAT_IA_HANDLE, ia, handle),
    (GIVEN, DAT_OS_WAIT_PROXY_AGENT, agent, agent), (TOLD, DAT_CNO_HANDLE *, cno, handle))
TRACE(cno_modify_agent, (GIVEN, DAT_CNO_HANDLE, cno, handle),
    (GIVEN, DAT_OS_WAIT_PROXY_AGENT, agent, agent))
TRACE(cno_query, (GIVEN, DAT_CNO_HANDLE, cno, handle), (GIVEN, DAT_CNO_PARAM_MASK, mask, hex),
    (LEFT, DAT_CNO_PARAM *, param, result))
TRACE(cno_free, (GIVEN, DAT_CNO_HANDLE, cno, handle))
TRACE(cno_wait, (GIVEN, DAT_CNO_HANDLE, cno, handle), (GIVEN, DAT_TIMEOUT, timeout, timeout),
    (TOLD, DAT_EVD_HANDLE *, evd, handle))
TRACE(cr_query, (GIVEN, DAT_CR_HANDLE, cr, handle), (GIVEN, DAT_CR_PARAM_MASK, mask, hex),
    (LEFT, DAT_CR_PARAM *, param, result))
TRACE(cr_accept, (GIVEN, DAT_CR_HANDLE, cr, handle), (GIVEN, DAT_EP_HANDLE, ep, handle),
    (GIVEN, DAT_COUNT, size, count), (GIVEN, const DAT_PVOID, data, pointer))
TRACE(cr_reject, (GIVEN, DAT_CR_HANDLE, cr, handle), (GIVEN, DAT_COUNT, size, count),
    (GIVEN, const DAT_PVOID, data, pointer))
TRACE(cr_handoff, (GIVEN, DAT_CR_HANDLE, cr, handle), (GIVEN, DAT_CONN_QUAL, qual, number))
TRACE(evd_create, (GIVEN, DAT_IA_HANDLE, ia, handle), (GIVEN, DAT_COUNT, min_qlen, count),
    (GIVEN, DAT_CNO_HANDLE, cno, handle), (GIVEN, DAT_EVD_FLAGS, flags, evd_flags),
    (TOLD, DAT_EVD_HANDLE *, evd, handle))
TRACE(evd_query, (GIVEN, DAT_EVD_HANDLE, evd, handle), (GIVEN, DAT_EVD_PARAM_MASK, mask, hex),
    (LEFT, DAT_EVD_PARAM *, param, result))
TRACE(evd_modify_cno, (GIVEN, DAT_EVD_HANDLE, evd, handle), (GIVEN, DAT_CNO_HANDLE, cno, handle))
TRACE(evd_enable, (GIVEN, DAT_EVD_HANDLE, evd, handle))
TRACE(evd_disable, (GIVEN, DAT_EVD_HANDLE, evd, handle))
TRACE(evd_wait, (GIVEN, DAT_EVD_HANDLE, evd, handle), (GIVEN, DAT_TIMEOUT, timeout, timeout),
    (GIVEN, DAT_COUNT, threshold, count), (TOLD, DAT_EVENT *, event, got),
    (TOLD, DAT_COUNT *, more, count))
TRACE(evd_resize, (GIVEN, DAT_EVD_HANDLE, evd, handle), (GIVEN, DAT_COUNT, min_qlen, count))
TRACE(evd_post_se, (GIVEN, DAT_EVD_HANDLE, evd, handle), (GIVEN, const DAT_EVENT *, event, event))
TRACE(evd_dequeue, (GIVEN, DAT_EVD_HANDLE, evd, handle), (TOLD, DAT_EVENT *, event, got))
TRACE(evd_free, (GIVEN, DAT_EVD_HANDLE, evd, handle))
TRACE(ep_create, (GIVEN, DAT_IA_HANDLE, ia, handle), (GIVEN, DAT_PZ_HANDLE, pz, handle),
    (GIVEN, DAT_EVD_HANDLE, recv_evd, handle), (GIVEN, DAT_EVD_HANDLE, request_evd, handle),
    (GIVEN, DAT_EVD_HANDLE, connect_evd, handle), (GIVEN, const DAT_EP_ATTR *, attr, pointer),
    (TOLD, DAT_EP_HANDLE *, ep, handle))
TRACE(ep_query, (GIVEN, DAT_EP_HANDLE, ep, handle), (GIVEN, DAT_EP_PARAM_MASK, mask, hex),
    (LEFT, DAT_EP_PARAM *, param, result))
TRACE(ep_modify, (GIVEN, DAT_EP_HANDLE, ep, handle), (GIVEN, DAT_EP_PARAM_MASK, mask, hex),
    (GIVEN, const DAT_EP_PARAM *, param, pointer))
TRACE(ep_connect, (GIVEN, DAT_EP_HANDLE, ep, handle), (GIVEN, DAT_IA_ADDRESS_PTR, address, address),
    (GIVEN, DAT_CONN_QUAL, qual, number), (GIVEN, DAT_TIMEOUT, timeout, timeout),
    (GIVEN, DAT_COUNT, size, count), (GIVEN, const DAT_PVOID, data, pointer),
    (GIVEN, DAT_QOS, qos, qos), (GIVEN, DAT_CONNECT_FLAGS, flags, connect))
TRACE(ep_dup_connect, (GIVEN, DAT_EP_HANDLE, ep, handle), (GIVEN, DAT_EP_HANDLE, dup, handle),
    (GIVEN, DAT_TIMEOUT, timeout, timeout), (GIVEN, DAT_COUNT, size, count),
    (GIVEN, const DAT_PVOID, data, pointer), (GIVEN, DAT_QOS, qos, qos))
TRACE(ep_disconnect, (GIVEN, DAT_EP_HANDLE, ep, handle), (GIVEN, DAT_CLOSE_FLAGS, flags, close))
TRACE(ep_post_send, (GIVEN, DAT_EP_HANDLE, ep, handle), (GIVEN, DAT_COUNT, segments, count),
    (GIVEN, DAT_LMR_TRIPLET *, iov, pointer), (GIVEN, DAT_DTO_COOKIE, cookie, cookie),
    (GIVEN, DAT_COMPLETION_FLAGS, flags, completion))
TRACE(ep_post_recv, (GIVEN, DAT_EP_HANDLE, ep, handle), (GIVEN, DAT_COUNT, segments, count),
    (GIVEN, DAT_LMR_TRIPLET *, iov, pointer), (GIVEN, DAT_DTO_COOKIE, cookie, cookie),
    (GIVEN, DAT_COMPLETION_FLAGS, flags, completion))
TRACE(ep_post_rdma_read, (GIVEN, DAT_EP_HANDLE, ep, handle), (GIVEN, DAT_COUNT, segments, count),
    (GIVEN, DAT_LMR_TRIPLET *, iov, pointer), (GIVEN, DAT_DTO_COOKIE, cookie, cookie),
    (GIVEN, const DAT_RMR_TRIPLET *, remote, remote),
    (GIVEN, DAT_COMPLETION_FLAGS, flags, completion))
TRACE(ep_post_rdma_write, (GIVEN, DAT_EP_HANDLE, ep, handle), (GIVEN, DAT_COUNT, segments, count),
    (GIVEN, DAT_LMR_TRIPLET *, iov, pointer), (GIVEN, DAT_DTO_COOKIE, cookie, cookie),
    (GIVEN, const DAT_RMR_TRIPLET *, remote, remote),
    (GIVEN, DAT_COMPLETION_FLAGS, flags, completion))
TRACE(ep_get_status, (GIVEN, DAT_EP_HANDLE, ep, handle), (TOLD, DAT_EP_STATE *, state, ep_state),
    (TOLD, DAT_BOOLEAN *, recv_idle, boolean), (TOLD, DAT_BOOLEAN *, request_idle, boolean))
TRACE(ep_free, (GIVEN, DAT_EP_HANDLE, ep, handle))
TRACE(lmr_create, (GIVEN, DAT_IA_HANDLE, ia, handle), (GIVEN, DAT_MEM_TYPE, type, mem_type),
    (LEFT, DAT_REGION_DESCRIPTION, region, region), (GIVEN, DAT_VLEN, length, number),
    (GIVEN, DAT_PZ_HANDLE, pz, handle), (GIVEN, DAT_MEM_PRIV_FLAGS, privileges, privileges),
    (GIVEN, DAT_VA_TYPE, va_type, va_type), (TOLD, DAT_LMR_HANDLE *, lmr, handle),
    (TOLD, DAT_LMR_CONTEXT *, lmr_context, hex), (TOLD, DAT_RMR_CONTEXT *, rmr_context, hex),
    (TOLD, DAT_VLEN *, registered_length, number), (TOLD, DAT_VADDR *, registered_address, hex))
TRACE(lmr_query, (GIVEN, DAT_LMR_HANDLE, lmr, handle), (GIVEN, DAT_LMR_PARAM_MASK, mask, hex),
    (LEFT, DAT_LMR_PARAM *, param, result))
TRACE(lmr_free, (GIVEN, DAT_LMR_HANDLE, lmr, handle))
TRACE(rmr_create, (GIVEN, DAT_PZ_HANDLE, pz, handle), (TOLD, DAT_RMR_HANDLE *, rmr, handle))
TRACE(rmr_query, (GIVEN, DAT_RMR_HANDLE, rmr, handle), (GIVEN, DAT_RMR_PARAM_MASK, mask, hex),
    (LEFT, DAT_RMR_PARAM *, param, result))
TRACE(rmr_bind, (GIVEN, DAT_RMR_HANDLE, rmr, handle), (GIVEN, DAT_LMR_HANDLE, lmr, handle),
    (GIVEN, const DAT_LMR_TRIPLET *, range, pointer),
    (GIVEN, DAT_MEM_PRIV_FLAGS, privileges, privileges), (GIVEN, DAT_VA_TYPE, va_type, va_type),
    (GIVEN, DAT_EP_HANDLE, ep, handle), (GIVEN, DAT_RMR_COOKIE, cookie, cookie),
    (GIVEN, DAT_COMPLETION_FLAGS, flags, completion), (TOLD, DAT_RMR_CONTEXT *, context, hex))
TRACE(rmr_free, (GIVEN, DAT_RMR_HANDLE, rmr, handle))
TRACE(psp_create, (GIVEN, DAT_IA_HANDLE, ia, handle), (GIVEN, DAT_CONN_QUAL, qual, number),
    (GIVEN, DAT_EVD_HANDLE, evd, handle), (GIVEN, DAT_PSP_FLAGS, flags, psp),
    (TOLD, DAT_PSP_HANDLE *, psp, handle))
TRACE(psp_query, (GIVEN, DAT_PSP_HANDLE, psp, handle), (GIVEN, DAT_PSP_PARAM_MASK, mask, hex),
    (LEFT, DAT_PSP_PARAM *, param, result))
TRACE(psp_free, (GIVEN, DAT_PSP_HANDLE, psp, handle))
TRACE(rsp_create, (GIVEN, DAT_IA_HANDLE, ia, handle), (GIVEN, DAT_CONN_QUAL, qual, number),
    (GIVEN, DAT_EP_HANDLE, ep, handle), (GIVEN, DAT_EVD_HANDLE, evd, handle),
    (TOLD, DAT_RSP_HANDLE *, rsp, handle))
TRACE(rsp_query, (GIVEN, DAT_RSP_HANDLE, rsp, handle), (GIVEN, DAT_RSP_PARAM_MASK, mask, hex),
    (LEFT, DAT_RSP_PARAM *, param, result))
TRACE(rsp_free, (GIVEN, DAT_RSP_HANDLE, rsp, handle))
TRACE(pz_create, (GIVEN, DAT_IA_HANDLE, ia, handle), (TOLD, DAT_PZ_HANDLE *, pz, handle))
TRACE(pz_query, (GIVEN, DAT_PZ_HANDLE, pz, handle), (GIVEN, DAT_PZ_PARAM_MASK, mask, hex),
    (LEFT, DAT_PZ_PARAM *, param, result))
TRACE(pz_free, (GIVEN, DAT_PZ_HANDLE, pz, handle))
TRACE(psp_create_any, (GIVEN, DAT_IA_HANDLE, ia, handle), (TOLD, DAT_CONN_QUAL *, qual, number),
    (GIVEN, DAT_EVD_HANDLE, evd, handle), (GIVEN, DAT_PSP_FLAGS, flags, psp),
    (TOLD, DAT_PSP_HANDLE *, psp, handle))
TRACE(ep_reset, (GIVEN, DAT_EP_HANDLE, ep, handle))
TRACE(evd_set_unwaitable, (GIVEN, DAT_EVD_HANDLE, evd, handle))
TRACE(evd_clear_unwaitable, (GIVEN, DAT_EVD_HANDLE, evd, handle))
TRACE(lmr_sync_rdma_read, (GIVEN, DAT_IA_HANDLE, ia, handle),
    (GIVEN, const DAT_LMR_TRIPLET *, segments, pointer), (GIVEN, DAT_VLEN, count, number))
TRACE(lmr_sync_rdma_write, (GIVEN, DAT_IA_HANDLE, ia, handle),
    (GIVEN, const DAT_LMR_TRIPLET *, segments, pointer), (GIVEN, DAT_VLEN, count, number))
TRACE(ep_create_with_srq, (GIVEN, DAT_IA_HANDLE, ia, handle), (GIVEN, DAT_PZ_HANDLE, pz, handle),
    (GIVEN, DAT_EVD_HANDLE, recv_evd, handle), (GIVEN, DAT_EVD_HANDLE, request_evd, handle),
    (GIVEN, DAT_EVD_HANDLE, connect_evd, handle), (GIVEN, DAT_SRQ_HANDLE, srq, handle),
    (GIVEN, const DAT_EP_ATTR *, attr, pointer), (TOLD, DAT_EP_HANDLE *, ep, handle))
TRACE(ep_recv_query, (GIVEN, DAT_EP_HANDLE, ep, handle), (TOLD, DAT_COUNT *, allocated, count),
    (TOLD, DAT_COUNT *, span, count))
TRACE(ep_set_watermark, (GIVEN, DAT_EP_HANDLE, ep, handle), (GIVEN, DAT_COUNT, soft, count),
    (GIVEN, DAT_COUNT, hard, count))
TRACE(srq_create, (GIVEN, DAT_IA_HANDLE, ia, handle), (GIVEN, DAT_PZ_HANDLE, pz, handle),
    (GIVEN, DAT_SRQ_ATTR *, attr, pointer), (TOLD, DAT_SRQ_HANDLE *, srq, handle))
TRACE(srq_free, (GIVEN, DAT_SRQ_HANDLE, srq, handle))
TRACE(srq_post_recv, (GIVEN, DAT_SRQ_HANDLE, srq, handle), (GIVEN, DAT_COUNT, segments, count),
    (GIVEN, DAT_LMR_TRIPLET *, iov, pointer), (GIVEN, DAT_DTO_COOKIE, cookie, cookie))
TRACE(srq_query, (GIVEN, DAT_SRQ_HANDLE, srq, handle), (GIVEN, DAT_SRQ_PARAM_MASK, mask, hex),
    (LEFT, DAT_SRQ_PARAM *, param, result))
TRACE(srq_resize, (GIVEN, DAT_SRQ_HANDLE, srq, handle), (GIVEN, DAT_COUNT, max_recv_dtos, count))
TRACE(srq_set_lw, (GIVEN, DAT_SRQ_HANDLE, srq, handle), (GIVEN, DAT_COUNT, low_watermark, count))
TRACE(csp_create, (GIVEN, DAT_IA_HANDLE, ia, handle), (GIVEN, DAT_COMM *, comm, pointer),
    (GIVEN, DAT_IA_ADDRESS_PTR, address, address), (GIVEN, DAT_EVD_HANDLE, evd, handle),
    (TOLD, DAT_CSP_HANDLE *, csp, handle))
TRACE(csp_query, (GIVEN, DAT_CSP_HANDLE, csp, handle), (GIVEN, DAT_CSP_PARAM_MASK, mask, hex),
    (LEFT, DAT_CSP_PARAM *, param, result))
TRACE(csp_free, (GIVEN, DAT_CSP_HANDLE, csp, handle))
TRACE(ep_common_connect, (GIVEN, DAT_EP_HANDLE, ep, handle),
    (GIVEN, DAT_IA_ADDRESS_PTR, address, address), (GIVEN, DAT_TIMEOUT, timeout, timeout),
    (GIVEN, DAT_COUNT, size, count), (GIVEN, const DAT_PVOID, data, pointer))
TRACE(rmr_create_for_ep, (GIVEN, DAT_PZ_HANDLE, pz, handle), (TOLD, DAT_RMR_HANDLE *, rmr, handle))
TRACE(ep_post_send_with_invalidate, (GIVEN, DAT_EP_HANDLE, ep, handle),
    (GIVEN, DAT_COUNT, segments, count), (GIVEN, DAT_LMR_TRIPLET *, iov, pointer),
    (GIVEN, DAT_DTO_COOKIE, cookie, cookie), (GIVEN, DAT_COMPLETION_FLAGS, flags, completion),
    (GIVEN, DAT_BOOLEAN, invalidate, boolean), (GIVEN, DAT_RMR_CONTEXT, context, hex))
TRACE(ep_post_rdma_read_to_rmr, (GIVEN, DAT_EP_HANDLE, ep, handle),
    (GIVEN, const DAT_RMR_TRIPLET *, local, remote), (GIVEN, DAT_DTO_COOKIE, cookie, cookie),
    (GIVEN, const DAT_RMR_TRIPLET *, remote, remote),
    (GIVEN, DAT_COMPLETION_FLAGS, flags, completion))
TRACE(cno_fd_create, (GIVEN, DAT_IA_HANDLE, ia, handle), (TOLD, DAT_FD *, fd, count),
    (TOLD, DAT_CNO_HANDLE *, cno, handle))
TRACE(cno_trigger, (GIVEN, DAT_CNO_HANDLE, cno, handle), (TOLD, DAT_EVD_HANDLE *, evd, handle))
TRACE(ia_ha_related, (GIVEN, DAT_IA_HANDLE, ia, handle), (GIVEN, const DAT_NAME_PTR, name, string),
    (TOLD, DAT_BOOLEAN *, answer, boolean))

/* These travel as extended operations. */
TRACE(evd_kcreate, (GIVEN, DAT_IA_HANDLE, ia, handle), (GIVEN, DAT_COUNT, min_qlen, count),
    (GIVEN, DAT_UPCALL_POLICY, policy, policy), (GIVEN, const DAT_UPCALL_OBJECT *, upcall, upcall),
    (GIVEN, DAT_EVD_FLAGS, flags, evd_flags), (TOLD, DAT_EVD_HANDLE *, evd, handle))
TRACE(evd_modify_upcall, (GIVEN, DAT_EVD_HANDLE, evd, handle),
    (GIVEN, DAT_UPCALL_POLICY, policy, policy), (GIVEN, const DAT_UPCALL_OBJECT *, upcall, upcall),
    (GIVEN, DAT_UPCALL_FLAG, flag, invocation))
TRACE(evd_modify_upcall_array, (GIVEN, DAT_EVD_HANDLE, evd, handle),
    (GIVEN, DAT_UPCALL_POLICY, policy, policy),
    (GIVEN, const DAT_UPCALL_ARRAY_OBJECT *, upcall, upcall_array),
    (GIVEN, DAT_UPCALL_FLAG, flag, invocation))
TRACE(evd_dequeue_n, (GIVEN, DAT_EVD_HANDLE, evd, handle), (GIVEN, DAT_COUNT, max_events, count),
    (LEFT, DAT_EVENT *, events, event), (TOLD, DAT_COUNT *, n_events, count))
TRACE(evd_query_upcall_counters, (GIVEN, DAT_EVD_HANDLE, evd, handle),
    (LEFT, struct dat_rearm_evd_counters *, counters, result), (GIVEN, DAT_UINT32, size, number))
TRACE(cno_trywait, (GIVEN, DAT_CNO_HANDLE, cno, handle), (TOLD, DAT_EVD_HANDLE *, evd, handle))
TRACE(extension_op, (GIVEN, DAT_HANDLE, handle, handle), (GIVEN, DAT_EXTENDED_OP, op, hex),
    (LEFT, va_list, args, values))
/* clang-format on */

void
dapl_trace_install(DAT_PROVIDER *table)
{
#define INSTALL(stem) table->stem##_func = dapl_trace_##stem;
	DAPL_API_FUNCTIONS(INSTALL)
	INSTALL(ia_ha_related)
	INSTALL(handle_extendedop)
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The debug lines of the provider, which environment variables turn on.  Each test is a separate
 * process, which loads the provider after it has set the variables.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <dat2/dat_log.h>

#include "lib/dt.h"
#include "lib/feature.h"
#include "printed.h"

/* Some calls with every kind of argument. */
static void
do_something(void)
{
	DAT_UPCALL_OBJECT upcall = { NULL, dt_ignore };
	DAT_CONTEXT context = { .as_64 = 42 };
	struct dt_side side;
	DAT_EVD_HANDLE evd;
	DAT_EVENT event;
	DAT_COUNT more;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_side_listen(&side);
	dt_ok(dat_set_consumer_context(side.ep, context));
	dt_ok(dat_evd_kcreate(side.ia, 8, DAT_UPCALL_DISABLE, DAT_UPCALL_SAME,
	    DAT_EVD_SOFTWARE_FLAG | DAT_EVD_CONNECTION_FLAG, &evd));
	dt_post_se(evd, 7);
	dt_assert_type(
	    dat_evd_modify_upcall(evd, DAT_UPCALL_SINGLE_INSTANCE, &upcall, DAT_UPCALL_INVOC_NEW),
	    DAT_INVALID_STATE);
	dt_ok(dat_evd_dequeue(evd, &event));
	dt_ok(dat_evd_modify_upcall(evd, DAT_UPCALL_MANY, &upcall, DAT_UPCALL_INVOC_ANY));
	dt_ok(
	    dat_evd_modify_upcall(evd, DAT_UPCALL_TEARDOWN, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_NEW));
	dt_assert_type(dat_ep_disconnect(side.ep, DAT_CLOSE_GRACEFUL_FLAG), DAT_INVALID_STATE);
	dt_assert_type(dt_try_send(&side, 0, 8, 1,
			   DAT_COMPLETION_SUPPRESS_FLAG | DAT_COMPLETION_SOLICITED_WAIT_FLAG),
	    DAT_INVALID_STATE);
	dt_assert_type(dat_evd_wait(side.recv, 1000, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
	dt_connect(&side, &side, NULL, 0);
	dt_ok(dat_cr_reject(dt_request(&side), 0, NULL));
	dt_expect_connection(side.connect, DAT_CONNECTION_EVENT_PEER_REJECTED, side.ep);
	dt_side_close(&side);
}

DT_CASE("debug:lines", .needs = feature_read, .reason = FEATURE_NO_READ);

TEST(calls__class_enabled__are_printed_with_parameters_and_values)
{
	setenv("DAT_DBG_TYPE", "0x20", 1);
	capture(STDERR_FILENO);
	do_something();
	captured();
	assert_line("dat_ia_open\\(name=\"soft\", qlen=8, async_evd=NULL\\)");
	assert_line("dat_ia_open\\(\\) = DAT_SUCCESS, async_evd=0x[0-9a-f]+, ia=0x[0-9a-f]+");
	assert_line("dat_set_consumer_context\\(handle=0x[0-9a-f]+, context=0x2a\\)");
	assert_line("dat_evd_kcreate\\(ia=0x[0-9a-f]+, min_qlen=8, policy=DISABLE, upcall=SAME, "
		    "flags=SOFTWARE\\|CONNECTION\\)");
	assert_line("dat_evd_post_se\\(evd=0x[0-9a-f]+, "
		    "event=\\{DAT_SOFTWARE_EVENT, pointer=0x7\\}\\)");
	assert_line("dat_evd_modify_upcall\\(evd=0x[0-9a-f]+, policy=SINGLE_INSTANCE, "
		    "upcall=\\{0x[0-9a-f]+, instance=0x0\\}, flag=INVOC_NEW\\)");
	assert_line("dat_evd_modify_upcall\\(\\) = DAT_INVALID_STATE \\(0x80070000\\)");
	assert_line("dat_evd_dequeue\\(\\) = DAT_SUCCESS, "
		    "event=\\{DAT_SOFTWARE_EVENT, pointer=0x7\\}");
	assert_line("dat_evd_modify_upcall\\(.*policy=MANY, .*flag=INVOC_ANY\\)");
	assert_line("dat_evd_modify_upcall\\(.*policy=TEARDOWN, upcall=SAME, flag=INVOC_NEW\\)");
	assert_line("dat_ep_disconnect\\(ep=0x[0-9a-f]+, flags=GRACEFUL\\)");
	assert_line("dat_ep_disconnect\\(\\) = DAT_INVALID_STATE "
		    "DAT_INVALID_STATE_EP_UNCONNECTED \\(0x8007002f\\)");
	assert_line("dat_ep_post_send\\(ep=0x[0-9a-f]+, segments=1, iov=0x[0-9a-f]+, cookie=0x1, "
		    "flags=SUPPRESS\\|SOLICITED_WAIT\\)");
	assert_line("dat_evd_wait\\(evd=0x[0-9a-f]+, timeout=1000us, threshold=1\\)");
	assert_line("dat_ep_connect\\(ep=0x[0-9a-f]+, address=[0-9.]+, qual=[0-9]+, "
		    "timeout=INFINITE, size=0, data=NULL, qos=BEST_EFFORT, flags=DEFAULT\\)");
	assert_line("dat_evd_wait\\(\\) = DAT_SUCCESS, event=\\{"
		    "DAT_CONNECTION_EVENT_PEER_REJECTED, ep=0x[0-9a-f]+, size=[0-9]+\\}, more=0");
	assert_line("dat_ia_close\\(ia=0x[0-9a-f]+, flags=ABRUPT\\)");
	assert_no_line(".*RDMA_CM_EVENT.*");
}

static void
wake(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	(void)event;
	(void)more;
	sem_post(instance);
}

static void
wake_agent(DAT_PVOID instance, DAT_EVD_HANDLE evd)
{
	(void)evd;
	sem_post(instance);
}

/* An upcall for an event, one that only notifies, and an agent. */
static void
be_called(void)
{
	DAT_OS_WAIT_PROXY_AGENT agent;
	DAT_UPCALL_OBJECT upcall;
	DAT_IA_HANDLE ia;
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL, evd;
	DAT_CNO_HANDLE cno;
	sem_t called;

	sem_init(&called, 0, 0);
	upcall = (DAT_UPCALL_OBJECT){ &called, wake };
	agent = (DAT_OS_WAIT_PROXY_AGENT){ &called, wake_agent };
	dt_ok(dat_ia_open((DAT_NAME_PTR)(uintptr_t) "soft", 8, &async, &ia));
	dt_ok(dat_evd_kcreate(
	    ia, 8, DAT_UPCALL_SINGLE_INSTANCE, &upcall, DAT_EVD_SOFTWARE_FLAG, &evd));
	dt_post_se(evd, 7);
	sem_wait(&called);
	dt_ok(dat_evd_modify_upcall(evd, DAT_UPCALL_NOTIFY, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_NEW));
	dt_post_se(evd, 8);
	sem_wait(&called);
	dt_ok(
	    dat_evd_modify_upcall(evd, DAT_UPCALL_TEARDOWN, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_NEW));
	dt_ok(dat_cno_create(ia, agent, &cno));
	dt_ok(dat_evd_modify_cno(evd, cno));
	sem_wait(&called);
	dt_ok(dat_evd_free(evd));
	dt_ok(dat_cno_free(cno));
	dt_ok(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
	sem_destroy(&called);
}

static const struct {
	const char *variable, *value;
	bool before, after;
} callbacks[] = {
	{ "DAT_DBG_TYPE", "0x20", true, true },
	{ "DAPL_DBG_TYPE", "0x100", true, false },
	{ "DAPL_DBG_TYPE", "0x200", false, true },
	{ "DAPL_DBG_TYPE", "0x18", false, false },
	{ "DAT_DBG_TYPE", "calls", true, true },
	{ "DAPL_DBG_TYPE", "calls", true, false },
	{ "DAPL_DBG_TYPE", "results,connections", false, true },
};

TEST_LOOP(callbacks__class_enabled__are_printed_with_the_event_and_at_return, 7)
{
	const bool before = callbacks[_i].before, after = callbacks[_i].after;

	setenv(callbacks[_i].variable, callbacks[_i].value, 1);
	capture(STDERR_FILENO);
	be_called();
	captured();
	ck_assert_int_eq(has_line("upcall\\(evd=0x[0-9a-f]+, upcall=\\{0x[0-9a-f]+, "
				  "instance=0x[0-9a-f]+\\}, event=\\{DAT_SOFTWARE_EVENT, "
				  "pointer=0x7\\}, more_events=FALSE\\)"),
	    before);
	ck_assert_int_eq(has_line("upcall\\(evd=.*, event=NULL, more_events=TRUE\\)"), before);
	ck_assert_int_eq(has_line("agent\\(agent=\\{0x[0-9a-f]+, instance=0x[0-9a-f]+\\}, "
				  "evd=0x[0-9a-f]+\\)"),
	    before);
	ck_assert_int_eq(has_line("upcall\\(\\) returned"), after);
	ck_assert_int_eq(has_line("agent\\(\\) returned"), after);
}

DT_CASE("debug:lines");

TEST(extended_operations__class_enabled__are_printed_by_name_or_number)
{
	struct dat_rearm_evd_counters counters;
	struct dt_side side;

	setenv("DAT_DBG_TYPE", "0x20", 1);
	capture(STDERR_FILENO);
	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_ok(dat_evd_query_upcall_counters(side.recv, &counters));
	dt_assert_type(dat_ia_step(side.ia, 0, NULL), DAT_INVALID_STATE);
	dt_assert_type(dat_extension_op(side.ep, 0x77, 0), DAT_NOT_IMPLEMENTED);
	dt_side_close(&side);
	captured();
	assert_line("dat_evd_query_upcall_counters\\(evd=0x[0-9a-f]+, size=[0-9]+\\)");
	assert_line("dat_evd_query_upcall_counters\\(\\) = DAT_SUCCESS");
	assert_line("dat_extension_op\\(handle=0x[0-9a-f]+, op=0x103\\)");
	assert_line("dat_extension_op\\(\\) = DAT_INVALID_STATE .*");
	assert_line("dat_extension_op\\(handle=0x[0-9a-f]+, op=0x77\\)");
	assert_line("dat_extension_op\\(\\) = DAT_NOT_IMPLEMENTED .*");
}

TEST(calls__with_invalid_pointers__are_printed_and_refused)
{
	const DAT_PVOID nowhere = (DAT_PVOID)(uintptr_t)64;
	struct dt_side side;

	setenv("DAT_DBG_TYPE", "0x20", 1);
	capture(STDERR_FILENO);
	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_assert_type(dat_evd_post_se(side.ep, nowhere), DAT_INVALID_HANDLE);
	dt_assert_type(dat_ep_post_rdma_read(
			   side.pz, 1, nowhere, dt_cookie(1), nowhere, DAT_COMPLETION_DEFAULT_FLAG),
	    DAT_INVALID_HANDLE);
	dt_assert_type(dat_ep_connect(side.pz, nowhere, 1, 1000, 0, NULL, DAT_QOS_BEST_EFFORT,
			   DAT_CONNECT_DEFAULT_FLAG),
	    DAT_INVALID_HANDLE);
	dt_assert_type(
	    dat_evd_modify_upcall(side.pz, DAT_UPCALL_DISABLE, nowhere, DAT_UPCALL_INVOC_ANY),
	    DAT_INVALID_HANDLE);
	dt_assert_type(
	    dat_evd_modify_upcall(side.recv, (DAT_UPCALL_POLICY)99, NULL, (DAT_UPCALL_FLAG)77),
	    DAT_INVALID_PARAMETER);
	dt_side_close(&side);
	captured();
	assert_line("dat_evd_modify_upcall\\(.*policy=99, .*flag=77\\)");
	assert_line("dat_evd_post_se\\(evd=0x[0-9a-f]+, event=0x40\\)");
	assert_line("dat_ep_post_rdma_read\\(.*, remote=0x40, flags=DEFAULT\\)");
	assert_line("dat_ep_connect\\(.*, address=0x40, .*\\)");
	assert_line("dat_evd_modify_upcall\\(.*, upcall=0x40, flag=INVOC_ANY\\)");
}

/* Of the registry, for providers: the handle that a provider has for an adapter. */
DAT_RETURN dats_get_ia_handle(DAT_IA_HANDLE handle, DAT_IA_HANDLE *ia);

#define NOWHERE(n) ((void *)(uintptr_t)(n))
#define TRACED_MAX 80

static const char *traced_lines[TRACED_MAX];
static int traced_count;

/*
 * The call, with a handle that stands as @ in its line: of another kind, or of an adapter for a bad
 * call.
 */
#define TRACED(call, line) \
	do { \
		dt_assert_type(call, DAT_INVALID_HANDLE); \
		traced_lines[traced_count++] = line; \
	} while (0)
#define TRACED_OF_IA(call, line) \
	do { \
		(void)(call); \
		traced_lines[traced_count++] = line; \
	} while (0)

static void
trace_endpoints(DAT_IA_HANDLE ia, DAT_HANDLE h)
{
	const DAT_QOS qos = DAT_QOS_BEST_EFFORT;
	const DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
	struct sockaddr_in6 six = { .sin6_family = AF_INET6,
		.sin6_addr.s6_addr = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 } };
	DAT_RMR_TRIPLET near = {
		.virtual_address = 0x10, .segment_length = 11, .rmr_context = 0x12
	};
	DAT_RMR_TRIPLET far = {
		.virtual_address = 0x20, .segment_length = 21, .rmr_context = 0x22
	};

	TRACED_OF_IA(dat_ep_create(
			 ia, NOWHERE(16), NOWHERE(32), NOWHERE(48), NOWHERE(64), NOWHERE(80), NULL),
	    "dat_ep_create(ia=@, pz=0x10, recv_evd=0x20, request_evd=0x30, connect_evd=0x40, "
	    "attr=0x50)");
	TRACED_OF_IA(dat_ep_create_with_srq(ia, NOWHERE(16), NOWHERE(32), NOWHERE(48), NOWHERE(64),
			 NOWHERE(80), NOWHERE(96), NULL),
	    "dat_ep_create_with_srq(ia=@, pz=0x10, recv_evd=0x20, request_evd=0x30, "
	    "connect_evd=0x40, "
	    "srq=0x50, attr=0x60)");
	TRACED(dat_ep_query(h, 0x12, NOWHERE(16)), "dat_ep_query(ep=@, mask=0x12)");
	TRACED(dat_ep_modify(h, 0x13, NOWHERE(16)), "dat_ep_modify(ep=@, mask=0x13, param=0x10)");
	TRACED(dat_ep_connect(
		   h, NOWHERE(16), 17, 18, 19, NOWHERE(32), qos, DAT_CONNECT_MULTIPATH_FLAG),
	    "dat_ep_connect(ep=@, address=0x10, qual=17, timeout=18us, size=19, data=0x20, "
	    "qos=BEST_EFFORT, flags=MULTIPATH)");
	TRACED(dat_ep_dup_connect(h, NOWHERE(16), 18, 19, NOWHERE(32), qos),
	    "dat_ep_dup_connect(ep=@, dup=0x10, timeout=18us, size=19, data=0x20, "
	    "qos=BEST_EFFORT)");
	TRACED(dat_ep_common_connect(h, (DAT_IA_ADDRESS_PTR)(void *)&six, 18, 19, NOWHERE(32)),
	    "dat_ep_common_connect(ep=@, address=102:304:506:708:90a:b0c:d0e:f10, timeout=18us, "
	    "size=19, data=0x20)");
	TRACED(
	    dat_ep_disconnect(h, DAT_CLOSE_ABRUPT_FLAG), "dat_ep_disconnect(ep=@, flags=ABRUPT)");
	TRACED(dat_ep_post_recv(h, 17, NOWHERE(16), dt_cookie(0x12), flags),
	    "dat_ep_post_recv(ep=@, segments=17, iov=0x10, cookie=0x12, flags=UNSIGNALLED)");
	TRACED(dat_ep_post_rdma_read(h, 17, NOWHERE(16), dt_cookie(0x12), &far, flags),
	    "dat_ep_post_rdma_read(ep=@, segments=17, iov=0x10, cookie=0x12, "
	    "remote={0x20, length=21, context=0x22}, flags=UNSIGNALLED)");
	TRACED(dat_ep_post_rdma_write(h, 17, NOWHERE(16), dt_cookie(0x12), &far, flags),
	    "dat_ep_post_rdma_write(ep=@, segments=17, iov=0x10, cookie=0x12, "
	    "remote={0x20, length=21, context=0x22}, flags=UNSIGNALLED)");
	TRACED(dat_ep_post_rdma_read_to_rmr(h, &near, dt_cookie(0x12), &far, flags),
	    "dat_ep_post_rdma_read_to_rmr(ep=@, local={0x10, length=11, context=0x12}, "
	    "cookie=0x12, "
	    "remote={0x20, length=21, context=0x22}, flags=UNSIGNALLED)");
	TRACED(dat_ep_post_send_with_invalidate(
		   h, 17, NOWHERE(16), dt_cookie(0x12), flags, DAT_TRUE, 0x13),
	    "dat_ep_post_send_with_invalidate(ep=@, segments=17, iov=0x10, cookie=0x12, "
	    "flags=UNSIGNALLED, invalidate=TRUE, context=0x13)");
	TRACED(dat_ep_set_watermark(h, 17, 18), "dat_ep_set_watermark(ep=@, soft=17, hard=18)");
	TRACED(dat_cr_query(h, 0x12, NOWHERE(16)), "dat_cr_query(cr=@, mask=0x12)");
	TRACED(dat_cr_accept(h, NOWHERE(16), 17, NOWHERE(32)),
	    "dat_cr_accept(cr=@, ep=0x10, size=17, data=0x20)");
	TRACED(dat_cr_reject(h, 17, NOWHERE(32)), "dat_cr_reject(cr=@, size=17, data=0x20)");
	TRACED(dat_cr_handoff(h, 17), "dat_cr_handoff(cr=@, qual=17)");
	TRACED_OF_IA(dat_psp_create(ia, 17, NOWHERE(16), DAT_PSP_PROVIDER_FLAG, NULL),
	    "dat_psp_create(ia=@, qual=17, evd=0x10, flags=PROVIDER)");
	TRACED_OF_IA(dat_psp_create_any(ia, NULL, NOWHERE(16), DAT_PSP_CONSUMER_FLAG, NULL),
	    "dat_psp_create_any(ia=@, evd=0x10, flags=CONSUMER)");
	TRACED_OF_IA(dat_rsp_create(ia, 17, NOWHERE(16), NOWHERE(32), NULL),
	    "dat_rsp_create(ia=@, qual=17, ep=0x10, evd=0x20)");
	TRACED_OF_IA(dat_csp_create(ia, NULL, NOWHERE(32), NOWHERE(48), NULL),
	    "dat_csp_create(ia=@, comm=NULL, address=0x20, evd=0x30)");
	TRACED(dat_psp_query(h, 0x2, NULL), "dat_psp_query(psp=@, mask=0x2)");
	TRACED(dat_rsp_query(h, 0x4, NULL), "dat_rsp_query(rsp=@, mask=0x4)");
	TRACED(dat_csp_query(h, 0x8, NULL), "dat_csp_query(csp=@, mask=0x8)");
}

static void
trace_the_rest(DAT_IA_HANDLE ia, DAT_HANDLE h)
{
	const DAT_REGION_DESCRIPTION region = { .for_va = NULL };
	const DAT_OS_WAIT_PROXY_AGENT agent = { NULL, NULL };
	const DAT_UPCALL_ARRAY_OBJECT array = { NOWHERE(16), NULL, 5 };

	TRACED_OF_IA(
	    dat_lmr_create(ia, DAT_MEM_TYPE_LMR, region, 17, NOWHERE(16),
		DAT_MEM_PRIV_LOCAL_WRITE_FLAG, DAT_VA_TYPE_ZB, NULL, NULL, NULL, NULL, NULL),
	    "dat_lmr_create(ia=@, type=LMR, length=17, pz=0x10, privileges=LOCAL_WRITE, "
	    "va_type=ZB)");
	TRACED(dat_lmr_query(h, (DAT_LMR_PARAM_MASK)0x12, NULL), "dat_lmr_query(lmr=@, mask=0x12)");
	TRACED_OF_IA(dat_lmr_sync_rdma_read(ia, NOWHERE(16), 17),
	    "dat_lmr_sync_rdma_read(ia=@, segments=0x10, count=17)");
	TRACED_OF_IA(dat_lmr_sync_rdma_write(ia, NOWHERE(16), 18),
	    "dat_lmr_sync_rdma_write(ia=@, segments=0x10, count=18)");
	TRACED(dat_rmr_query(h, (DAT_RMR_PARAM_MASK)0x12, NULL), "dat_rmr_query(rmr=@, mask=0x12)");
	TRACED(
	    dat_rmr_bind(h, NOWHERE(16), NOWHERE(32), DAT_MEM_PRIV_REMOTE_READ_FLAG, DAT_VA_TYPE_VA,
		NOWHERE(48), dt_cookie(0x12), DAT_COMPLETION_BARRIER_FENCE_FLAG, NULL),
	    "dat_rmr_bind(rmr=@, lmr=0x10, range=0x20, privileges=REMOTE_READ, va_type=VA, "
	    "ep=0x30, "
	    "cookie=0x12, flags=BARRIER_FENCE)");
	TRACED_OF_IA(dat_srq_create(ia, NOWHERE(16), NOWHERE(32), NULL),
	    "dat_srq_create(ia=@, pz=0x10, attr=0x20)");
	TRACED(dat_srq_post_recv(h, 17, NOWHERE(16), dt_cookie(0x12)),
	    "dat_srq_post_recv(srq=@, segments=17, iov=0x10, cookie=0x12)");
	TRACED(dat_srq_query(h, (DAT_SRQ_PARAM_MASK)0x12, NULL), "dat_srq_query(srq=@, mask=0x12)");
	TRACED(dat_srq_resize(h, 17), "dat_srq_resize(srq=@, max_recv_dtos=17)");
	TRACED(dat_srq_set_lw(h, 18), "dat_srq_set_lw(srq=@, low_watermark=18)");
	TRACED_OF_IA(dat_evd_create(ia, 17, NOWHERE(16), DAT_EVD_DTO_FLAG, NULL),
	    "dat_evd_create(ia=@, min_qlen=17, cno=0x10, flags=DTO)");
	TRACED(dat_evd_query(h, (DAT_EVD_PARAM_MASK)0x12, NULL), "dat_evd_query(evd=@, mask=0x12)");
	TRACED(dat_evd_modify_cno(h, NOWHERE(16)), "dat_evd_modify_cno(evd=@, cno=0x10)");
	TRACED(
	    dat_evd_wait(h, 17, 18, NULL, NULL), "dat_evd_wait(evd=@, timeout=17us, threshold=18)");
	TRACED(dat_evd_resize(h, 17), "dat_evd_resize(evd=@, min_qlen=17)");
	TRACED(dat_evd_dequeue_n(h, 17, NULL, NULL), "dat_evd_dequeue_n(evd=@, max_events=17)");
	TRACED(dat_evd_modify_upcall_array(h, DAT_UPCALL_MANY, &array, DAT_UPCALL_INVOC_ANY),
	    "dat_evd_modify_upcall_array(evd=@, policy=MANY, upcall=NULL of up to 5 events, "
	    "flag=INVOC_ANY)");
	TRACED_OF_IA(dat_cno_create(ia, agent, NULL), "dat_cno_create(ia=@, agent=NONE)");
	TRACED(dat_cno_modify_agent(h, agent), "dat_cno_modify_agent(cno=@, agent=NONE)");
	TRACED(dat_cno_query(h, (DAT_CNO_PARAM_MASK)2, NULL), "dat_cno_query(cno=@, mask=0x2)");
	TRACED(dat_cno_wait(h, 17, NULL), "dat_cno_wait(cno=@, timeout=17us)");
	TRACED(dat_cno_trywait(h, NULL), "dat_cno_trywait(cno=@)");
	TRACED_OF_IA(dat_ia_query(ia, NULL, 0x12, NULL, 0x13, NULL),
	    "dat_ia_query(ia=@, ia_mask=0x12, provider_mask=0x13)");
	TRACED_OF_IA(
	    dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), "dat_ia_close(ia=@, flags=GRACEFUL)");
}

DT_CASE("debug:lines", .needs = feature_read, .reason = FEATURE_NO_READ);

/* No value is that of another argument. */
TEST(calls__each_argument_has_a_value_of_its_own__are_printed_with_those)
{
	struct dt_side side;
	DAT_IA_HANDLE ia;
	char line[512];
	const char *at;

	setenv("DAT_DBG_TYPE", "calls", 1);
	capture(STDERR_FILENO);
	dt_side_open(&side, "soft", DT_SEPARATE);
	trace_endpoints(side.ia, side.pz);
	trace_the_rest(side.ia, side.pz);
	dt_ok(dats_get_ia_handle(side.ia, &ia));
	dt_side_close(&side);
	captured();
	for (int i = 0; i < traced_count; i++) {
		at = strchr(traced_lines[i], '@');
		snprintf(line, sizeof line, "]: %.*s%p%s\n", (int)(at - traced_lines[i]),
		    traced_lines[i], strncmp(at - 3, "ia=", 3) ? side.pz : ia, at + 1);
		ck_assert_msg(strstr(printed, line) != NULL, "%s", line);
	}
}

static void
take_array(DAT_PVOID instance, const DAT_EVENT *events, DAT_COUNT n, DAT_BOOLEAN more)
{
	(void)events;
	(void)more;
	while (n-- > 0)
		sem_post(instance);
}

TEST(events__of_each_kind__are_printed_with_what_they_name)
{
	DAT_UPCALL_ARRAY_OBJECT upcall = { .upcall_func = take_array, .max_events = 3 };
	struct dt_pair pair;
	DAT_EVD_HANDLE evd;
	DAT_CONN_QUAL qual;
	DAT_PSP_HANDLE psp;
	DAT_EVENT event;
	sem_t called;

	setenv("DAT_DBG_TYPE", "calls", 1);
	capture(STDERR_FILENO);
	dt_pair_open(&pair, DT_SEPARATE);
	/* A request that does not fit, then one that does, and a message. */
	evd = dt_evd(&pair.b, DAT_EVD_CR_FLAG | DAT_EVD_SOFTWARE_FLAG, 1);
	dt_ok(dat_psp_create_any(pair.b.ia, &qual, evd, DAT_PSP_CONSUMER_FLAG, &psp));
	dt_post_se(evd, 1);
	dt_ok(dat_ep_connect(pair.a.ep, dt_address(pair.b.ia), qual, DAT_TIMEOUT_INFINITE, 0, NULL,
	    DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
	dt_expect_connection(pair.a.connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, pair.a.ep);
	dt_expect(pair.b.async, DAT_ASYNC_ERROR_EVD_OVERFLOW, &event);
	dt_ok(dat_ep_reset(pair.a.ep));
	dt_connect_pair(&pair);
	dt_recv(&pair.b, 0, 64, 5);
	dt_send(&pair.a, 0, 17, 6);
	dt_expect_dto(pair.b.recv, pair.b.ep, 5, DAT_DTO_SUCCESS, &event);
	dt_ok(dat_evd_free(dt_evd(&pair.a, DAT_EVD_SOFTWARE_FLAG, 4)));

	sem_init(&called, 0, 0);
	upcall.instance_data = &called;
	evd = dt_evd(&pair.a, DAT_EVD_SOFTWARE_FLAG, 4);
	dt_post_se(evd, 8);
	dt_post_se(evd, 9);
	dt_ok(dat_evd_modify_upcall_array(
	    evd, DAT_UPCALL_SINGLE_INSTANCE, &upcall, DAT_UPCALL_INVOC_ANY));
	for (int i = 0; i < 2; i++)
		sem_wait(&called);
	dt_pair_close(&pair);
	sem_destroy(&called);
	captured();
	assert_line("dat_evd_wait\\(\\) = DAT_SUCCESS, event=\\{DAT_ASYNC_ERROR_EVD_OVERFLOW, "
		    "handle=0x[0-9a-f]+, reason=0\\}, more=0");
	assert_line("dat_evd_wait\\(\\) = DAT_SUCCESS, event=\\{DAT_CONNECTION_REQUEST_EVENT, "
		    "sp=0x[0-9a-f]+, cr=0x[0-9a-f]+\\}, more=0");
	assert_line("dat_evd_wait\\(\\) = DAT_SUCCESS, event=\\{DAT_DTO_COMPLETION_EVENT, "
		    "ep=0x[0-9a-f]+, cookie=0x5, status=SUCCESS, length=17\\}, more=0");
	assert_line(
	    "upcall\\(evd=.*, upcall=\\{0x[0-9a-f]+, instance=0x[0-9a-f]+\\} of up to 3 events, "
	    "event=\\{DAT_SOFTWARE_EVENT, pointer=0x8\\}, n_events=2, more_events=FALSE\\)");
}

DT_CASE("debug:lines");

TEST(connections__class_enabled__every_change_of_state_is_printed)
{
	setenv("DAT_DBG_TYPE", "16", 1);
	capture(STDERR_FILENO);
	do_something();
	captured();
	assert_line("ep 0x[0-9a-f]+: RDMA_CM_EVENT_ROUTE_RESOLVED, status 0");
	assert_line("ep 0x[0-9a-f]+: RDMA_CM_EVENT_REJECTED, status 28");
	assert_line("ep 0x[0-9a-f]+: ACTIVE_CONNECTION_PENDING, the connection is rejected by the "
		    "consumer at the other end: DAT_CONNECTION_EVENT_PEER_REJECTED, DISCONNECTED");
	assert_no_line("dat_.*");
}

TEST_LOOP(provider_variable__bits_of_openfabrics__ask_for_the_same, 5)
{
	static const struct {
		const char *value;
		bool calls, results, connections;
	} cases[] = {
		{ "0x100", true, false, false },
		{ "0x200", false, true, false },
		{ "0x8", false, false, true },
		{ "0x318", true, true, true },
		{ "0x20", false, false, false },
	};

	setenv("DAPL_DBG_TYPE", cases[_i].value, 1);
	capture(STDERR_FILENO);
	do_something();
	captured();
	ck_assert_int_eq(has_line("dat_ep_create\\(.*\\)"), cases[_i].calls);
	ck_assert_int_eq(has_line("dat_ep_create\\(\\) = DAT_SUCCESS, .*"), cases[_i].results);
	ck_assert_int_eq(has_line("ep 0x.*"), cases[_i].connections);
}

static const struct {
	const char *type;
	bool reported;
} errors[] = { { NULL, true }, { "1", true }, { "0", false }, { "0x3e", false }, { "junk", true },
	{ "errors", true }, { "none", false }, { "calls,connections", false } };

TEST_LOOP(errors__unless_disabled__are_printed, 8)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia;

	if (errors[_i].type)
		setenv("DAT_DBG_TYPE", errors[_i].type, 1);
	else
		unsetenv("DAT_DBG_TYPE");
	capture(STDERR_FILENO);
	dt_assert_type(dat_ia_open((DAT_NAME_PTR)(uintptr_t) "bad-word", 8, &async, &ia),
	    DAT_INVALID_PARAMETER);
	captured();
	ck_assert_msg(has_line("dat_ia_open\\(\"bad-word\"\\): unknown option in the parameters of "
			       "the adapter: loop=3") == errors[_i].reported,
	    "%s", printed);
	/* What is wrong with a variable of the registry, the registry says. */
	ck_assert_msg(!has_line("DAT_DBG_TYPE.*"), "%s", printed);
}

/* The line names what there is. */
TEST(personality_that_does_not_exist__line_says_which_do)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia;

	if (!dt_on_soft("has personalities"))
		return;
	unsetenv("DAT_DBG_TYPE");
	capture(STDERR_FILENO);
	dt_assert_type(dat_ia_open((DAT_NAME_PTR)(uintptr_t) "bad-personality", 8, &async, &ia),
	    DAT_INVALID_PARAMETER);
	captured();
	ck_assert_msg(
	    has_line("dat_ia_open\\(\"bad-personality\"\\): the device has no personality "
		     "\"lazy\", but strict, .*"),
	    "%s", printed);
	ck_assert_msg(!has_line(".*unknown option.*"), "%s", printed);
}

TEST(provider_variable__wrong_word__is_reported)
{
	setenv("DAPL_DBG_TYPE", "calls,everything", 1);
	capture(STDERR_FILENO);
	do_something();
	captured();
	assert_line("DAPL_DBG_TYPE is ignored: \"everything\" is neither a number nor one of none, "
		    "errors, connections, calls, results, all");
	assert_no_line("dat_ep_create\\(.*");
}

static char logged[4096];

static void
note(DAT_PVOID context, DAT_LOG_LEVEL level, const char *line)
{
	(void)context;
	snprintf(logged, sizeof logged, "%s %s", level == DAT_LOG_ERROR ? "error" : "debug", line);
}

TEST(log_function__of_the_program__gets_the_lines_of_the_provider)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia;

	dt_ok(dat_rearm_set_log(note, NULL));
	capture(STDERR_FILENO);
	dt_assert_type(dat_ia_open((DAT_NAME_PTR)(uintptr_t) "bad-word", 8, &async, &ia),
	    DAT_INVALID_PARAMETER);
	captured();
	ck_assert_str_eq(printed, "");
	ck_assert_int_eq(strncmp(logged, "error rearm[", 12), 0);
	ck_assert_ptr_nonnull(strstr(logged, "loop=3"));
}

TEST(nothing_asked_for__nothing_is_printed)
{
	setenv("DAT_DBG_TYPE", "0", 1);
	capture(STDERR_FILENO);
	do_something();
	captured();
	ck_assert_str_eq(printed, "");
}

TEST_LOOP(destination__standard_output__is_where_lines_go, 2)
{
	setenv("DAT_DBG_TYPE", "0x20", 1);
	setenv("DAT_DBG_DEST", _i ? "2" : "1", 1);
	if (_i)
		setenv("DAPL_DBG_DEST", "1", 1); /* counts more */
	capture(STDOUT_FILENO);
	do_something();
	captured();
	assert_line("dat_ia_close\\(\\) = DAT_SUCCESS");
}

static void *
ask_often(void *ep)
{
	for (int i = 0; i < 200; i++)
		(void)dat_ep_get_status(ep, NULL, NULL, NULL);
	return NULL;
}

TEST(lines__of_several_threads__do_not_mix)
{
	pthread_t threads[4];
	struct dt_side side;
	int asked = 0, answered = 0;

	setenv("DAT_DBG_TYPE", "0x20", 1);
	capture(STDERR_FILENO);
	dt_side_open(&side, "soft", DT_SEPARATE);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, ask_often, side.ep), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	dt_side_close(&side);
	captured();
	for (char *at = printed, *next; *at; at = next) {
		next = strchr(at, '\n');
		ck_assert_ptr_nonnull(next);
		*next++ = '\0';
		ck_assert_msg(strncmp(at, "rearm[", 6) == 0 && !strstr(at + 6, "rearm["), "%s", at);
		asked += strstr(at, ": dat_ep_get_status(ep=0x") != NULL;
		answered += strstr(at, ": dat_ep_get_status() = DAT_SUCCESS") != NULL;
	}
	ck_assert_int_eq(asked, 4 * 200);
	ck_assert_int_eq(answered, 4 * 200);
}

TEST(errno__of_the_caller__is_left_alone)
{
	struct dt_side side;
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC), saved = dup(STDERR_FILENO);

	setenv("DAT_DBG_TYPE", "0x20", 1);
	dup2(full, STDERR_FILENO); /* no line can be written */
	dt_side_open(&side, "soft", DT_SEPARATE);
	errno = ENOTTY;
	dt_ok(dat_ep_get_status(side.ep, NULL, NULL, NULL));
	ck_assert_int_eq(errno, ENOTTY);
	dt_side_close(&side);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(full);
}

int
main(int argc, char **argv)
{
	dt_load_late(); /* the provider reads the environment once */
	return runner_run(argc, argv);
}

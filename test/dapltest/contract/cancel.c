/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of the program that are cancelled.  dat_evd_wait() and dat_cno_wait() are the only calls
 * in which a thread ends; what it waited for stays usable, and no event is lost.  Every other call
 * returns.
 */
#define _GNU_SOURCE /* ppoll() */
#include <dat2/dat_registry.h>
#include <poll.h>

#include "fault/fault.h"
#include "lib/late.h"
#include "lib/contract.h"

static const DAT_OS_WAIT_PROXY_AGENT none = { NULL, NULL };
static const int types[] = { PTHREAD_CANCEL_DEFERRED, PTHREAD_CANCEL_ASYNCHRONOUS };

/* ---- waits ---- */

/* What a thread waits for. */
enum object { SOFTWARE, COMPLETION, OBJECT_CNO, CNO_COMPLETION, OBJECTS };

struct waiter {
	pthread_t thread;
	enum object object;
	int type;
	bool once;
	DAT_EVD_HANDLE evd;
	DAT_CNO_HANDLE cno;
	_Atomic(int) taken;
};

static DAT_RETURN
wait_for_one(struct waiter *w, DAT_TIMEOUT timeout)
{
	DAT_EVD_HANDLE triggered;
	DAT_EVENT event;
	DAT_COUNT more;
	DAT_RETURN ret;

	if (w->object == SOFTWARE || w->object == COMPLETION) {
		ret = dat_evd_wait(w->evd, timeout, 1, &event, &more);
		w->taken += ret == DAT_SUCCESS;
		return ret;
	}
	ret = dat_cno_wait(w->cno, timeout, &triggered);
	/* A trigger may be left of an event that was taken before. */
	if (ret == DAT_SUCCESS && dat_evd_dequeue(w->evd, &event) == DAT_SUCCESS)
		w->taken++;
	return ret;
}

static void *
wait_forever(void *arg)
{
	struct waiter *w = arg;
	int was;

	pthread_setcanceltype(w->type, &was);
	do
		(void)wait_for_one(w, DAT_TIMEOUT_INFINITE);
	while (!w->once);
	return NULL;
}

static void
waiter_start(struct waiter *w)
{
	w->taken = 0;
	ck_assert_int_eq(pthread_create(&w->thread, NULL, wait_forever, w), 0);
}

static bool
waiter_cancel(struct waiter *w)
{
	void *end;

	ck_assert_int_eq(pthread_cancel(w->thread), 0);
	ck_assert_int_eq(pthread_join(w->thread, &end), 0);
	return end == PTHREAD_CANCELED;
}

/* The receives of the second side, or a software event, with a CNO or not. */
static void
waiter_open(struct waiter *w, struct dt_pair *pair, enum object object, int type)
{
	*w = (struct waiter){ .object = object, .type = type, .cno = DAT_HANDLE_NULL };
	contract_side(&pair->a, 0);
	contract_side(&pair->b, 0);
	if (object == OBJECT_CNO || object == CNO_COMPLETION)
		w->cno = contract_cno(&pair->b);
	if (object == SOFTWARE || object == OBJECT_CNO) {
		w->evd = contract_evd(&pair->b, w->cno, DAT_EVD_SOFTWARE_FLAG, 64);
		return;
	}
	dt_ok(dat_ep_free(pair->b.ep));
	w->evd = contract_evd(&pair->b, w->cno, DAT_EVD_DTO_FLAG, 64);
	dt_ok(dat_evd_free(pair->b.recv));
	pair->b.recv = w->evd;
	pair->b.ep = dt_ep(&pair->b, NULL);
	dt_side_listen(&pair->b);
	dt_connect_pair(pair);
}

static void
waiter_event(struct waiter *w, struct dt_pair *pair)
{
	DAT_EVENT event;

	if (w->object == SOFTWARE || w->object == OBJECT_CNO) {
		dt_post_se(w->evd, 1);
		return;
	}
	dt_recv(&pair->b, 0, 64, 1);
	dt_send(&pair->a, 0, 64, 2);
	dt_expect_dto(pair->a.request, pair->a.ep, 2, DAT_DTO_SUCCESS, &event);
}

/* The object is as if the thread had never waited. */
static void
waiter_check(struct waiter *w, struct dt_pair *pair)
{
	DAT_RETURN ret = DAT_SUCCESS;

	waiter_event(w, pair);
	for (w->taken = 0; !w->taken && ret == DAT_SUCCESS;)
		ret = wait_for_one(w, DT_FOREVER_MS * 1000);
	dt_ok(ret);
	dt_assert_empty(w->evd);
}

static void
waiter_close(struct waiter *w, struct dt_pair *pair)
{
	if (w->object == COMPLETION || w->object == CNO_COMPLETION) {
		dt_ok(dat_ep_free(pair->b.ep));
		pair->b.ep = DAT_HANDLE_NULL;
	}
	dt_ok(dat_evd_free(w->evd));
	if (w->cno != DAT_HANDLE_NULL)
		dt_ok(dat_cno_free(w->cno));
	dt_side_close(&pair->a);
	dt_side_close(&pair->b);
}

#define WAITS (OBJECTS * 2)

DT_CASE("contract_cancel:cancel");

/* origin: out33.F1A */
TEST_LOOP(wait__its_thread_is_cancelled__ends_and_leaves_the_object_usable, WAITS)
{
	struct dt_pair pair;
	struct waiter w;

	waiter_open(&w, &pair, (enum object)(_i / 2), types[_i % 2]);
	for (int i = 0; i < 12; i++) {
		waiter_start(&w);
		dt_nap_ms((unsigned int)i % 4);
		ck_assert(waiter_cancel(&w));
		waiter_check(&w, &pair);
	}
	waiter_close(&w, &pair);
}

/* origin: out33.F1A */
TEST_LOOP(wait__its_thread_is_cancelled_when_an_event_comes__returns_it_or_leaves_it, OBJECTS)
{
	struct dt_pair pair;
	struct waiter w;
	bool ended;

	waiter_open(&w, &pair, (enum object)_i, PTHREAD_CANCEL_DEFERRED);
	w.once = true;
	for (int i = 0; i < 60; i++) {
		waiter_start(&w);
		if (i % 3)
			dt_nap_ms(1);
		waiter_event(&w, &pair);
		ended = waiter_cancel(&w);
		/* Where the thread was about to end with the event, it may count as cancelled. */
		ck_assert(ended || w.taken);
		if (!w.taken) {
			dt_ok(wait_for_one(&w, DT_FOREVER_MS * 1000));
			ck_assert_int_eq(w.taken, 1);
		}
		dt_assert_empty(w.evd);
	}
	waiter_close(&w, &pair);
}

/* origin: out33.F1A */
TEST_LOOP(cno_wait__one_of_two_waiters_is_cancelled__the_other_gets_the_trigger, 2)
{
	struct waiter w[2];
	struct dt_pair pair;
	void *end;

	waiter_open(&w[0], &pair, OBJECT_CNO, types[_i]);
	w[0].once = true;
	for (int i = 0; i < 12; i++) {
		w[1] = w[0];
		waiter_start(&w[0]);
		waiter_start(&w[1]);
		dt_nap_ms(1);
		ck_assert(waiter_cancel(&w[i % 2]));
		waiter_event(&w[0], &pair);
		ck_assert_int_eq(pthread_join(w[!(i % 2)].thread, &end), 0);
		ck_assert_ptr_null(end);
	}
	waiter_close(&w[0], &pair);
}

/*
 * A request to cancel that is on its way for long: the signal that the C library sends for it is
 * blocked.
 */
struct late {
	struct waiter waiter;
	_Atomic(bool) blocked, disabled, over;
};

static void *
late_run(void *arg)
{
	struct late *late = arg;
	const struct timespec soon = { 0, 1000000 };
	sigset_t no_signals;
	int state;

	sigemptyset(&no_signals);
	fault_channel_let_signals();
	late->blocked = late_block();
	(void)wait_for_one(&late->waiter, DAT_TIMEOUT_INFINITE);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	late->disabled = true;
	(void)ppoll(NULL, 0, &soon, &no_signals);
	late->over = true;
	pthread_setcancelstate(state, NULL);
	return NULL;
}

/* origin: out33.F1B */
TEST_LOOP(
    wait__its_thread_is_cancelled_and_the_signal_for_it_comes_late__ends_in_no_other_call, OBJECTS)
{
	struct late late = { .over = false };
	struct dt_pair pair;
	void *end;

	waiter_open(&late.waiter, &pair, (enum object)_i, PTHREAD_CANCEL_DEFERRED);
	ck_assert_int_eq(pthread_create(&late.waiter.thread, NULL, late_run, &late), 0);
	while (!late.blocked)
		dt_nap_ms(1);
	dt_nap_ms(20);
	ck_assert_int_eq(pthread_cancel(late.waiter.thread), 0);
	waiter_event(&late.waiter, &pair);
	/* Now it waits for the signal, or goes on without it. */
	for (int i = 0; i < 100 && !late.over; i++)
		dt_nap_ms(1);
	ck_assert_int_eq(late_arrive(late.waiter.thread), 0);
	ck_assert_int_eq(pthread_join(late.waiter.thread, &end), 0);
	ck_assert(!late.disabled || late.over);
	if (!late.waiter.taken)
		dt_ok(wait_for_one(&late.waiter, DT_FOREVER_MS * 1000));
	waiter_check(&late.waiter, &pair);
	waiter_close(&late.waiter, &pair);
}

/* ---- every other call ---- */

static void
upcall(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	(void)instance, (void)event, (void)more;
}

/* Objects of one call, of the second side of a pair. */
struct objects {
	struct dt_side *own, *to;
	DAT_EVD_HANDLE evd, software, requests;
	DAT_CNO_HANDLE cno;
	DAT_PZ_HANDLE pz;
	DAT_SRQ_HANDLE srq;
	DAT_EP_HANDLE ep;
	DAT_PSP_HANDLE psp;
	DAT_RSP_HANDLE rsp;
	DAT_CR_HANDLE cr;
	DAT_LMR_HANDLE lmr;
	DAT_RMR_HANDLE rmr;
	DAT_CONN_QUAL qual;
	DAT_IA_HANDLE ia, opened;
};

/* Makes the call with this number; false if there is none. */
static bool
call_make(int number, struct objects *o, DAT_RETURN *ret)
{
	const DAT_UPCALL_OBJECT object = { NULL, upcall };
	const DAT_EVENT se = { .event_number = DAT_SOFTWARE_EVENT };
	struct dat_rearm_evd_counters counters;
	DAT_LMR_TRIPLET local = dt_local(o->own, 0, 64);
	DAT_RMR_TRIPLET remote = dt_remote(o->to, 0, 64);
	DAT_SRQ_ATTR srq_attr = { .max_recv_dtos = 4, .max_recv_iov = 1 };
	DAT_REGION_DESCRIPTION region = { .for_va = o->own->buffer };
	DAT_PROVIDER_INFO info, *list[] = { &info };
	DAT_EVD_HANDLE evd, async = DAT_HANDLE_NULL;
	DAT_REARM_RECORD record;
	DAT_RMR_CONTEXT context;
	DAT_HA_RELATIONSHIP ha;
	DAT_EP_STATE ep_state;
	DAT_HANDLE_TYPE type;
	DAT_CONTEXT own;
	DAT_PROVIDER_ATTR pa = { 0 };
	DAT_CNO_PARAM cno_p;
	DAT_EVD_PARAM evd_p;
	DAT_LMR_PARAM lmr_p;
	DAT_RMR_PARAM rmr_p;
	DAT_PSP_PARAM psp_p;
	DAT_SRQ_PARAM srq_p;
	DAT_PZ_PARAM pz_p;
	DAT_EP_PARAM ep_p;
	DAT_CR_PARAM cr_p;
	DAT_HANDLE handle;
	DAT_COUNT n = 1;
	DAT_EVENT event;
	DAT_BOOLEAN is;
	DAT_IA_ATTR ia;
	DAT_FD fd;

#define CALL(n, call) \
	case n: \
		*ret = (call); \
		return true;
	switch (number) {
		CALL(0, dat_evd_create(o->own->ia, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &evd))
		CALL(1, dat_evd_free(o->evd))
		CALL(2, dat_evd_resize(o->evd, 100))
		CALL(3, dat_evd_post_se(o->software, &se))
		CALL(4, dat_evd_dequeue(o->software, &event))
		CALL(5, dat_evd_dequeue_n(o->software, 1, &event, &n))
		CALL(6,
		    dat_evd_modify_upcall(o->evd, DAT_UPCALL_MANY, &object, DAT_UPCALL_INVOC_NEW))
		CALL(7, dat_evd_modify_upcall(
			    o->evd, DAT_UPCALL_SINGLE_INSTANCE, &object, DAT_UPCALL_INVOC_NEW))
		CALL(8,
		    dat_evd_modify_upcall(o->evd, DAT_UPCALL_TEARDOWN, NULL, DAT_UPCALL_INVOC_NEW))
		CALL(9, dat_evd_kcreate(
			    o->own->ia, 8, DAT_UPCALL_MANY, &object, DAT_EVD_DTO_FLAG, &evd))
		CALL(10, dat_evd_query(o->evd, DAT_EVD_FIELD_ALL, &evd_p))
		CALL(11, dat_evd_enable(o->evd))
		CALL(12, dat_evd_disable(o->evd))
		CALL(13, dat_evd_set_unwaitable(o->evd))
		CALL(14, dat_evd_clear_unwaitable(o->evd))
		CALL(15, dat_evd_modify_cno(o->evd, o->cno))
		CALL(16, dat_evd_query_upcall_counters(o->evd, &counters))
		CALL(17, dat_cno_create(o->own->ia, none, &handle))
		CALL(18, dat_cno_fd_create(o->own->ia, &fd, &handle))
		CALL(19, dat_cno_free(o->cno))
		CALL(20, dat_cno_query(o->cno, DAT_CNO_FIELD_ALL, &cno_p))
		CALL(21, dat_cno_modify_agent(o->cno, none))
		CALL(22, dat_pz_create(o->own->ia, &handle))
		CALL(23, dat_pz_free(o->pz))
		CALL(24, dat_pz_query(o->pz, DAT_PZ_FIELD_ALL, &pz_p))
		CALL(25,
		    dat_lmr_create(o->own->ia, DAT_MEM_TYPE_VIRTUAL, region, DT_BUFFER, o->own->pz,
			DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &handle, NULL, NULL, NULL, NULL))
		CALL(26, dat_lmr_free(o->lmr))
		CALL(27, dat_lmr_query(o->lmr, DAT_LMR_FIELD_ALL, &lmr_p))
		CALL(28, dat_rmr_create(o->own->pz, &handle))
		CALL(29, dat_rmr_free(o->rmr))
		CALL(30, dat_rmr_query(o->rmr, DAT_RMR_FIELD_ALL, &rmr_p))
		CALL(31,
		    dat_rmr_bind(o->rmr, o->own->lmr, &local, DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA,
			o->own->ep, dt_cookie(1), DAT_COMPLETION_DEFAULT_FLAG, &context))
		CALL(32, dat_ep_create(o->own->ia, o->own->pz, o->own->recv, o->own->request,
			     o->own->connect, NULL, &handle))
		CALL(33, dat_ep_free(o->ep))
		CALL(34, dat_ep_reset(o->ep))
		CALL(35, dat_ep_query(o->ep, DAT_EP_FIELD_ALL, &ep_p))
		CALL(36, dat_ep_get_status(o->ep, &ep_state, &is, &is))
		CALL(37,
		    dat_ep_connect(o->ep, dt_address(o->to->ia), o->to->qual, DAT_TIMEOUT_INFINITE,
			0, NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG))
		CALL(38, dat_ep_disconnect(o->own->ep, DAT_CLOSE_ABRUPT_FLAG))
		CALL(39, dat_ep_post_send(
			     o->own->ep, 1, &local, dt_cookie(1), DAT_COMPLETION_DEFAULT_FLAG))
		CALL(40, dat_ep_post_recv(
			     o->own->ep, 1, &local, dt_cookie(1), DAT_COMPLETION_DEFAULT_FLAG))
		CALL(41, dat_ep_post_rdma_write(o->own->ep, 1, &local, dt_cookie(1), &remote,
			     DAT_COMPLETION_DEFAULT_FLAG))
		CALL(42, dat_ep_post_rdma_read(o->own->ep, 1, &local, dt_cookie(1), &remote,
			     DAT_COMPLETION_DEFAULT_FLAG))
		CALL(43, dat_srq_create(o->own->ia, o->own->pz, &srq_attr, &handle))
		CALL(44, dat_srq_free(o->srq))
		CALL(45, dat_srq_post_recv(o->srq, 1, &local, dt_cookie(1)))
		CALL(46, dat_srq_query(o->srq, DAT_SRQ_FIELD_ALL, &srq_p))
		CALL(47, dat_srq_resize(o->srq, 8))
		CALL(48, dat_psp_create_any(
			     o->own->ia, &o->qual, o->requests, DAT_PSP_CONSUMER_FLAG, &handle))
		CALL(49, dat_psp_free(o->psp))
		CALL(50, dat_psp_query(o->psp, DAT_PSP_FIELD_ALL, &psp_p))
		CALL(51, dat_cr_query(o->cr, DAT_CR_FIELD_ALL, &cr_p))
		CALL(52, dat_cr_accept(o->cr, o->ep, 0, NULL))
		CALL(53, dat_cr_reject(o->cr, 0, NULL))
		CALL(54, dat_ia_open("soft", 8, &async, &o->opened))
		CALL(55, dat_ia_close(o->ia, DAT_CLOSE_GRACEFUL_FLAG))
		CALL(56, dat_ia_query(
			     o->own->ia, NULL, DAT_IA_FIELD_ALL, &ia, DAT_PROVIDER_FIELD_ALL, &pa))
		CALL(57, dat_registry_list_providers(1, &n, list))
		CALL(58, dat_rearm_list_records(1, &n, &record))
		CALL(59, dat_registry_providers_related("soft", "soft", &ha))
		CALL(60, dat_set_consumer_context(o->ep, (DAT_CONTEXT){ .as_64 = 1 }))
		CALL(61, dat_get_consumer_context(o->ep, &own))
		CALL(62, dat_get_handle_type(o->ep, &type))
	default:
		return false;
	}
#undef CALL
}

struct call {
	int number;
	struct objects *objects;
	DAT_RETURN ret;
	int bare_locks;
	_Atomic(bool) returned;
};

/* Only in the call itself it can be cancelled, and it is cancelled already. */
static void *
call_cancelled(void *arg)
{
	struct call *call = arg;
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_cancel(pthread_self());
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	(void)fault_locks_bare(0);
	(void)call_make(call->number, call->objects, &call->ret);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	call->bare_locks = fault_locks_bare(-1);
	call->returned = state == PTHREAD_CANCEL_ENABLE;
	return NULL;
}

static void
objects_make(struct objects *o, struct dt_pair *pair)
{
	DAT_SRQ_ATTR attr = { .max_recv_dtos = 4, .max_recv_iov = 1 };
	DAT_REGION_DESCRIPTION region = { .for_va = pair->b.buffer };
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	struct dt_side *b = &pair->b;
	DAT_EVENT event;

	*o = (struct objects){ .own = b, .to = &pair->a, .opened = DAT_HANDLE_NULL };
	o->evd = dt_evd(b, DAT_EVD_DTO_FLAG, 8);
	o->software = dt_evd(b, DAT_EVD_SOFTWARE_FLAG, 8);
	o->requests = dt_evd(b, DAT_EVD_CR_FLAG, 8);
	o->cno = contract_cno(b);
	dt_ok(dat_pz_create(b->ia, &o->pz));
	dt_ok(dat_srq_create(b->ia, b->pz, &attr, &o->srq));
	dt_ok(dat_psp_create_any(b->ia, &o->qual, o->requests, DAT_PSP_CONSUMER_FLAG, &o->psp));
	dt_ok(dat_lmr_create(b->ia, DAT_MEM_TYPE_VIRTUAL, region, 64, b->pz, DAT_MEM_PRIV_ALL_FLAG,
	    DAT_VA_TYPE_VA, &o->lmr, NULL, NULL, NULL, NULL));
	dt_ok(dat_rmr_create(b->pz, &o->rmr));
	o->ia = dt_open(contract_device(), &async);
	/* A request to the service point. */
	o->ep = dt_ep(&pair->a, NULL);
	dt_ok(dat_ep_connect(o->ep, dt_address(b->ia), o->qual, DAT_TIMEOUT_INFINITE, 0, NULL,
	    DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
	dt_expect(o->requests, DAT_CONNECTION_REQUEST_EVENT, &event);
	o->cr = event.event_data.cr_arrival_event_data.cr_handle;
	o->ep = dt_ep(b, NULL);
	dt_post_se(o->software, 1);
}

#define CALLS 63
/* The numbers of some of them. */
#define CALL_IS_OF_DATA_PATH(n) (((n) >= 3 && (n) <= 8) || ((n) >= 39 && (n) <= 42) || (n) == 45)
#define CALL_BINDS 31
#define CALL_RESIZES 47
#define CALL_CLOSES 55

/* A lock that is taken while the thread can be cancelled is for deferred cancellation alone. */
/* origin: out33.F1, out33.X1A */
TEST_LOOP(call__of_a_cancelled_thread__returns_and_the_adapter_can_be_closed, CALLS)
{
	struct objects objects;
	struct call call = { .number = _i, .objects = &objects };
	struct dt_pair pair;
	pthread_t thread;

	dt_side_open(&pair.a, contract_device(), DT_SEPARATE);
	dt_side_open(&pair.b, contract_device(), DT_SEPARATE);
	dt_side_listen(&pair.a);
	dt_side_listen(&pair.b);
	dt_connect_pair(&pair);
	objects_make(&objects, &pair);
	ck_assert_int_eq(pthread_create(&thread, NULL, call_cancelled, &call), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_msg(call.returned, "the thread ended in call %d", _i);
	if (!CALL_IS_OF_DATA_PATH(_i))
		ck_assert_msg(!call.bare_locks, "call %d can leave a lock taken", _i);
	/* The endpoint takes no binds; not every device has longer shared receive queues. */
	ck_assert_msg(call.ret == DAT_SUCCESS || _i == CALL_BINDS || _i == CALL_RESIZES,
	    "call %d returned 0x%x", _i, call.ret);
	if (objects.opened != DAT_HANDLE_NULL)
		dt_close(objects.opened);
	if (_i != CALL_CLOSES)
		dt_close(objects.ia);
	dt_pair_close(&pair);
}

/* A thread of the asynchronous type, with a request on its way, in a call of each library. */
enum { CALL_OF_THE_REGISTRY, CALL_OF_THE_PROVIDER, WAIT_OF_THE_PROVIDER, LATE_CALLS };

struct late_call {
	struct dt_side *side;
	int number;
	_Atomic(bool) blocked, cancelled, returned;
};

static void *
late_call_run(void *arg)
{
	struct late_call *call = arg;
	DAT_PROVIDER_INFO info, *list[] = { &info };
	DAT_EVENT event;
	DAT_COUNT n;
	DAT_PZ_HANDLE pz;
	int type;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	call->blocked = late_block();
	while (!call->cancelled)
		continue;
	switch (call->number) {
	case CALL_OF_THE_REGISTRY:
		(void)dat_registry_list_providers(1, &n, list);
		break;
	case CALL_OF_THE_PROVIDER:
		(void)dat_pz_create(call->side->ia, &pz);
		break;
	default:
		(void)dat_evd_wait(call->side->recv, 0, 1, &event, &n);
	}
	call->returned = true;
	return NULL;
}

/* origin: out33.F1B */
TEST_LOOP(call__of_a_thread_to_which_the_signal_comes_late__begins_after_it, LATE_CALLS)
{
	struct dt_pair pair;
	struct late_call call = { .side = &pair.b, .number = _i };
	pthread_t thread;
	void *end;

	contract_side(&pair.a, 0);
	contract_side(&pair.b, 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, late_call_run, &call), 0);
	while (!call.blocked)
		dt_nap_ms(1);
	ck_assert_int_eq(pthread_cancel(thread), 0);
	call.cancelled = true;
	for (int i = 0; i < 100 && !call.returned; i++)
		dt_nap_ms(1);
	ck_assert(!call.returned);
	ck_assert_int_eq(late_arrive(thread), 0);
	ck_assert_int_eq(pthread_join(thread, &end), 0);
	ck_assert_ptr_eq(end, PTHREAD_CANCELED);
	dt_side_close(&pair.a);
	dt_side_close(&pair.b);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every call inside every callback, on loops without a thread, with one, and with several.
 *
 * A cell of the table has a loop of its own with two queues: the subject, whose callback makes the
 * call, and another one.
 */
#include <arpa/inet.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>

#include "evd/park.h"
#include "queue_story.h"

/* Milliseconds after which a call is taken for one that does not return. */
#define PATIENCE 20000

enum kind { SINGLE, NOTIFY, MANY, REQUEST, FAILED, ASYNC, CM, KINDS };

static const char *const kinds[KINDS] = { "callback of SINGLE", "callback of NOTIFY",
	"callback of MANY", "callback of a request", "failed()", "callback of an async event",
	"callback of a CM event" };

static const int thread_counts[] = { 0, 1, 3 };
#define THREAD_COUNTS 3

static struct cell {
	enum kind kind;
	int threads;
	struct rearm_loop *loop;
	struct rearm_queue *own, *other; /* NULL: freed */
	struct ibv_cq *overrun;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct rearm_request request;
	int begun, ended; /* atomic */
	void (*inside)(void);
} cell;

static bool
has_completions(void)
{
	return cell.kind != ASYNC && cell.kind != CM;
}

static int
read_int(const int *value)
{
	return __atomic_load_n(value, __ATOMIC_SEQ_CST);
}

static void
write_int(int *value, int to)
{
	__atomic_store_n(value, to, __ATOMIC_SEQ_CST);
}

/* ---- the calls ---- */

#define IS(result, wanted) ck_assert_int_eq(result, wanted)
/* Of a call for completions, or for events: the other kind refuses it. */
#define FITS(result, wanted) ck_assert_int_eq(result, has_completions() ? (wanted) : -EINVAL)
#define FITS_EVENTS(result, wanted) ck_assert_int_eq(result, has_completions() ? -EINVAL : (wanted))

static void
nothing(void *arg, const struct ibv_wc *wc, int n, int more)
{
	(void)arg;
	(void)wc;
	(void)n;
	(void)more;
}

static const struct rearm_upcall no_upcall = { .function = nothing, .batch = 1 };

static struct rearm_loop *
new_loop(int threads)
{
	const struct rearm_loop_attr attr = { .threads = threads };
	struct rearm_loop *loop;

	IS(rearm_loop_create(&attr, &loop), 0);
	return loop;
}

static struct rearm_queue *
new_queue(struct rearm_loop *loop)
{
	const struct rearm_queue_attr attr = { .cqe = 4 };
	struct rearm_queue *queue;

	IS(rearm_queue_create(loop, qs.context, &attr, &queue), 0);
	return queue;
}

static void
call_loop_create(void)
{
	for (int i = 0; i < 2; i++)
		IS(rearm_loop_free(new_loop(i)), 0);
}

static void
call_loop_free(void)
{
	IS(rearm_loop_free(cell.loop), -EDEADLK);
}

static void
call_loop_fd(void)
{
	if (cell.threads)
		IS(rearm_loop_fd(cell.loop), -EINVAL);
	else
		ck_assert_int_ge(rearm_loop_fd(cell.loop), 0);
}

static void
call_loop_trywait(void)
{
	int timeout;
	const int r = rearm_loop_trywait(cell.loop, &timeout);

	if (cell.threads)
		IS(r, -EINVAL);
	else
		ck_assert(r == 0 || r == -EAGAIN);
}

static void
call_loop_dispatch(void)
{
	IS(rearm_loop_dispatch(cell.loop, 1, -1), cell.threads ? -EINVAL : -EDEADLK);
}

static void
call_queue_create(void)
{
	IS(rearm_queue_free(new_queue(cell.loop)), 0);
}

static void
call_queue_adopt(void)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(qs.context);
	const struct rearm_queue_attr shared = { .flags = REARM_SHARED_CHANNEL };
	struct rearm_queue *queue;
	struct ibv_cq *cq;

	ck_assert_ptr_nonnull(channel);
	cq = ibv_create_cq(qs.context, 4, NULL, channel, 0);
	ck_assert_ptr_nonnull(cq);
	for (int i = 0; i < 2; i++) {
		IS(rearm_queue_adopt(cell.loop, cq, i ? &shared : NULL, &queue), 0);
		IS(rearm_queue_enable(queue, REARM_SINGLE, &no_upcall, REARM_ANY), 0);
		IS(rearm_queue_free(queue), 0);
	}
	IS(ibv_destroy_cq(cq), 0);
	IS(ibv_destroy_comp_channel(channel), 0);
}

static void
call_queue_adopt_async(void)
{
	struct ibv_context *context = ibv_open_device(qs.context->device);
	struct rearm_queue *queue;

	ck_assert_ptr_nonnull(context);
	IS(rearm_queue_adopt_async(cell.loop, context, NULL, &queue), 0);
	IS(rearm_queue_free(queue), 0);
	IS(ibv_close_device(context), 0);
}

static void
call_queue_adopt_cm(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rearm_queue *queue;

	ck_assert_ptr_nonnull(channel);
	IS(rearm_queue_adopt_cm(cell.loop, channel, NULL, &queue), 0);
	IS(rearm_queue_free(queue), 0);
	rdma_destroy_event_channel(channel);
}

static void
call_queue_cq(void)
{
	ck_assert_int_eq(rearm_queue_cq(cell.own) != NULL, has_completions());
	ck_assert_ptr_nonnull(rearm_queue_cq(cell.other));
}

static void
call_queue_set_solicited(void)
{
	FITS(rearm_queue_set_solicited(cell.own, 1), 0);
	FITS(rearm_queue_set_solicited(cell.own, 0), 0);
	IS(rearm_queue_set_solicited(cell.other, 1), 0);
}

static void
call_queue_moderate(void)
{
	FITS(rearm_queue_moderate(cell.own, 2, 5), 0);
	IS(rearm_queue_moderate(cell.other, 2, 5), 0);
}

static void
free_own(void)
{
	struct rearm_queue *own = cell.own;

	queue_destroy_qp();
	cell.own = NULL;
	IS(rearm_queue_free(own), 0);
}

static void
free_other(void)
{
	struct rearm_queue *other = cell.other;

	cell.other = NULL;
	IS(rearm_queue_free(other), 0);
}

static void
free_both(void)
{
	free_other();
	free_own();
	IS(rearm_queue_free(NULL), 0);
}

/* Then nothing is left for which a free could wait. */
static void
free_torn_down(void)
{
	IS(rearm_queue_teardown(cell.own), 0);
	free_own();
}

/* An arm of the subject fails while failed() runs. */
static void
call_queue_enable(void)
{
	const int armed = cell.kind == FAILED ? -EIO : 0;

	FITS(rearm_queue_enable(cell.own, REARM_SINGLE, NULL, REARM_ANY), armed);
	FITS(rearm_queue_enable(cell.own, REARM_MANY, NULL, REARM_ANY), armed);
	IS(rearm_queue_enable(cell.other, REARM_NOTIFY, NULL, REARM_ANY), 0);
}

static void
call_queue_enable_events(void)
{
	FITS_EVENTS(rearm_queue_enable_events(cell.own, REARM_SINGLE, NULL, REARM_ANY), 0);
	IS(rearm_queue_enable_events(cell.other, REARM_SINGLE, NULL, REARM_ANY), -EINVAL);
}

static void
call_queue_disable(void)
{
	IS(rearm_queue_disable(cell.own), 0);
	IS(rearm_queue_disable(cell.other), 0);
}

static void
call_queue_teardown(void)
{
	IS(rearm_queue_teardown(cell.own), 0);
	IS(rearm_queue_teardown(cell.other), 0);
	IS(rearm_queue_teardown(cell.own), 0);
}

/* Under NOTIFY its completion is still there. */
static void
call_queue_take(void)
{
	struct ibv_wc wc;

	FITS(rearm_queue_take(cell.own, 1, &wc), cell.kind == NOTIFY);
	FITS(rearm_queue_take(cell.own, 1, &wc), 0);
	IS(rearm_queue_take(cell.other, 1, &wc), 0);
}

static void
call_queue_wait(void)
{
	struct ibv_wc wc;

	FITS(rearm_queue_wait(cell.own, 1, -1, 1, &wc), -EACCES);
	IS(rearm_queue_disable(cell.own), 0);
	IS(rearm_queue_disable(cell.other), 0);
	if (cell.kind == NOTIFY)
		IS(rearm_queue_wait(cell.own, 1, -1, 1, &wc), 1);
	FITS(rearm_queue_wait(cell.own, 1, 2000, 1, &wc), cell.kind == FAILED ? -EIO : -ETIMEDOUT);
	IS(rearm_queue_wait(cell.other, 1, 2000, 1, &wc), -ETIMEDOUT);
}

static void
call_queue_take_event(void)
{
	union rearm_event event;

	FITS_EVENTS(rearm_queue_take_event(cell.own, &event), 0);
	IS(rearm_queue_take_event(cell.other, &event), -EINVAL);
}

static void
call_queue_wait_event(void)
{
	union rearm_event event;

	FITS_EVENTS(rearm_queue_wait_event(cell.own, -1, &event), -EACCES);
	IS(rearm_queue_disable(cell.own), 0);
	FITS_EVENTS(rearm_queue_wait_event(cell.own, 2000, &event), -ETIMEDOUT);
}

static void
call_queue_counters(void)
{
	struct rearm_counters counters;

	IS(rearm_queue_counters(cell.own, &counters, sizeof counters), 0);
	IS(rearm_queue_counters(cell.other, &counters, sizeof counters), 0);
}

static void
request_done(struct rearm_request *request, const struct ibv_wc *wc, void *arg)
{
	(void)request;
	(void)wc;
	++*(int *)arg;
}

static void
call_call_requests(void)
{
	struct rearm_request request = { request_done };
	const struct ibv_wc wc = { .wr_id = (uintptr_t)&request };
	int done = 0;

	rearm_call_requests(&done, &wc, 1, 0);
	IS(done, 1);
}

static const struct call {
	const char *name;
	void (*make)(void);
} calls[] = {
	{ "rearm_call_requests", call_call_requests },
	{ "rearm_loop_create", call_loop_create },
	{ "rearm_loop_dispatch", call_loop_dispatch },
	{ "rearm_loop_fd", call_loop_fd },
	{ "rearm_loop_free", call_loop_free },
	{ "rearm_loop_trywait", call_loop_trywait },
	{ "rearm_queue_adopt", call_queue_adopt },
	{ "rearm_queue_adopt_async", call_queue_adopt_async },
	{ "rearm_queue_adopt_cm", call_queue_adopt_cm },
	{ "rearm_queue_counters", call_queue_counters },
	{ "rearm_queue_cq", call_queue_cq },
	{ "rearm_queue_create", call_queue_create },
	{ "rearm_queue_disable", call_queue_disable },
	{ "rearm_queue_enable", call_queue_enable },
	{ "rearm_queue_enable_events", call_queue_enable_events },
	{ "rearm_queue_free", free_own },
	{ "rearm_queue_free of another one", free_other },
	{ "rearm_queue_free of both", free_both },
	{ "rearm_queue_free after a teardown", free_torn_down },
	{ "rearm_queue_moderate", call_queue_moderate },
	{ "rearm_queue_set_solicited", call_queue_set_solicited },
	{ "rearm_queue_take", call_queue_take },
	{ "rearm_queue_take_event", call_queue_take_event },
	{ "rearm_queue_teardown", call_queue_teardown },
	{ "rearm_queue_wait", call_queue_wait },
	{ "rearm_queue_wait_event", call_queue_wait_event },
};

#define CALLS ((int)(sizeof calls / sizeof *calls))

/* ---- the callbacks ---- */

/* The first one makes the call. */
static void
enter(void)
{
	if (__atomic_exchange_n(&cell.begun, 1, __ATOMIC_SEQ_CST))
		return;
	cell.inside();
	write_int(&cell.ended, 1);
}

static void
on_completion(void *arg, const struct ibv_wc *wc, int n, int more)
{
	(void)arg;
	(void)wc;
	(void)n;
	(void)more;
	if (cell.kind != FAILED)
		enter();
}

static void
on_request(struct rearm_request *request, const struct ibv_wc *wc, void *arg)
{
	(void)wc;
	(void)arg;
	ck_assert_ptr_eq(request, &cell.request);
	enter();
}

static void
on_failure(void *arg, int error)
{
	(void)arg;
	if (cell.kind != FAILED)
		ck_abort_msg("failed(%d)", error);
	enter();
}

static void
on_event(void *arg, const union rearm_event *event)
{
	(void)arg;
	if (cell.kind == CM) {
		IS(event->cm->event, RDMA_CM_EVENT_ADDR_RESOLVED);
		IS(rdma_ack_cm_event(event->cm), 0);
	} else {
		union rearm_event copy = *event;

		ibv_ack_async_event(&copy.async);
	}
	enter();
}

static int (*device_arm)(struct ibv_cq *cq, int solicited_only);
static int (*device_poll)(struct ibv_cq *cq, int n, struct ibv_wc *wc);
static struct ibv_cq *failing; /* atomic */

static int
arm_or_fail(struct ibv_cq *cq, int solicited_only)
{
	return cq == __atomic_load_n(&failing, __ATOMIC_SEQ_CST) ? EIO :
								   device_arm(cq, solicited_only);
}

static int
poll_or_fail(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	return cq == __atomic_load_n(&failing, __ATOMIC_SEQ_CST) ? -1 : device_poll(cq, n, wc);
}

static void
let_fail(const struct rearm_queue *queue)
{
	__atomic_store_n(&failing, queue ? rearm_queue_cq(queue) : NULL, __ATOMIC_SEQ_CST);
}

/* ---- a cell ---- */

static void
open_subject_of_completions(void)
{
	static const enum rearm_policy policies[KINDS] = {
		[NOTIFY] = REARM_NOTIFY, [MANY] = REARM_MANY
	};
	const struct rearm_queue_attr attr = { .cqe = QUEUE_CQE, .failed = on_failure };
	const struct rearm_upcall upcall = {
		.function = cell.kind == REQUEST ? rearm_call_requests : on_completion, .batch = 1
	};
	const enum rearm_policy policy = policies[cell.kind] ? policies[cell.kind] : REARM_SINGLE;

	cell.request.done = on_request;
	IS(rearm_queue_create(cell.loop, qs.context, &attr, &cell.own), 0);
	IS(rearm_queue_enable(cell.own, policy, &upcall, REARM_ANY), 0);
	queue_destroy_qp();
	queue_make_qp(rearm_queue_cq(cell.own));
	if (cell.kind == FAILED)
		let_fail(cell.own);
	queue_complete((uintptr_t)&cell.request, 1);
}

static void
open_subject_of_events(void)
{
	const struct rearm_event_upcall upcall = { .function = on_event };
	const struct rearm_queue_attr attr = { .failed = on_failure };
	struct sockaddr_in here = {
		.sin_family = AF_INET, .sin_port = htons(1), .sin_addr = { htonl(INADDR_LOOPBACK) }
	};

	if (cell.kind == ASYNC) {
		IS(rearm_queue_adopt_async(cell.loop, qs.context, &attr, &cell.own), 0);
		cell.overrun = ibv_create_cq(qs.context, 1, NULL, NULL, 0);
		ck_assert_ptr_nonnull(cell.overrun);
		queue_destroy_qp();
		queue_make_qp(cell.overrun);
		queue_complete(0, cell.overrun->cqe + 1);
		queue_destroy_qp();
	} else {
		cell.channel = rdma_create_event_channel();
		ck_assert_ptr_nonnull(cell.channel);
		IS(rearm_queue_adopt_cm(cell.loop, cell.channel, &attr, &cell.own), 0);
		IS(rdma_create_id(cell.channel, &cell.id, NULL, RDMA_PS_TCP), 0);
		IS(rdma_resolve_addr(cell.id, NULL, (struct sockaddr *)&here, 2000), 0);
	}
	IS(rearm_queue_enable_events(cell.own, REARM_SINGLE, &upcall, REARM_ANY), 0);
}

static void
cell_open(enum kind kind, int threads, void (*inside)(void))
{
	cell = (struct cell){ .kind = kind, .threads = threads, .inside = inside };
	cell.loop = new_loop(threads);
	cell.other = new_queue(cell.loop);
	IS(rearm_queue_enable(cell.other, REARM_SINGLE, &no_upcall, REARM_ANY), 0);
	if (has_completions())
		open_subject_of_completions();
	else
		open_subject_of_events();
}

static void
cell_await(const int *flag, const char *call)
{
	for (int ms = 0; !read_int(flag); ms++) {
		if (ms > PATIENCE)
			ck_abort_msg("%s inside %s, %d threads: %s", call, kinds[cell.kind],
			    cell.threads, read_int(&cell.begun) ? "does not return" : "not called");
		if (cell.threads)
			queue_sleep_ms(1);
		else
			ck_assert_int_ge(rearm_loop_dispatch(cell.loop, 1, 1), 0);
	}
}

/* Whatever was called inside, what is left can be freed, and waits for nothing. */
static void
cell_close(void)
{
	let_fail(NULL);
	queue_destroy_qp();
	IS(rearm_queue_free(cell.own), 0);
	IS(rearm_queue_free(cell.other), 0);
	IS(rearm_loop_free(cell.loop), 0);
	if (cell.overrun)
		IS(ibv_destroy_cq(cell.overrun), 0);
	if (cell.id)
		IS(rdma_destroy_id(cell.id), 0);
	if (cell.channel)
		rdma_destroy_event_channel(cell.channel);
}

static void
replace_device(void)
{
	device_arm = qs.context->ops.req_notify_cq;
	device_poll = qs.context->ops.poll_cq;
	qs.context->ops.req_notify_cq = arm_or_fail;
	let_fail(NULL);
}

static void
restore_device(void)
{
	qs.context->ops.req_notify_cq = device_arm;
	qs.context->ops.poll_cq = device_poll;
}

CASE("rearm_inside:calls", replace_device, restore_device, .outer = &queue_case);

/* origin: out36.C2 */
TEST_LOOP(every_call__inside_every_callback__returns_what_the_header_says, KINDS *THREAD_COUNTS)
{
	const enum kind kind = (enum kind)(_i / THREAD_COUNTS);
	const int threads = thread_counts[_i % THREAD_COUNTS];

	for (int i = 0; i < CALLS; i++) {
		cell_open(kind, threads, calls[i].make);
		cell_await(&cell.ended, calls[i].name);
		cell_close();
	}
}

static bool
table_has(const char *name)
{
	for (int i = 0; i < CALLS; i++)
		if (!strcmp(calls[i].name, name))
			return true;
	return false;
}

/* The table has what the library exports. */
TEST(every_call__is_in_the_table)
{
	char line[256], name[256];
	FILE *map = fopen(REARM_MAP, "re");
	int found = 0;

	ck_assert_ptr_nonnull(map);
	while (fgets(line, sizeof line, map))
		if (sscanf(line, " rearm_%200[a-z_];", name) == 1) {
			char full[300];

			(void)snprintf(full, sizeof full, "rearm_%s", name);
			ck_assert_msg(table_has(full), "%s is not in the table", full);
			found++;
		}
	IS(fclose(map), 0);
	ck_assert_int_gt(found, 20);
}

/* ---- failed() among other callbacks ---- */

static int leave; /* atomic: the callback may return */

static void
stay_inside(void)
{
	while (!read_int(&leave))
		queue_sleep_ms(1);
}

static int ended_elsewhere;

static void *
tear_down_elsewhere(void *arg)
{
	(void)arg;
	IS(rearm_queue_teardown(cell.own), 0);
	write_int(&ended_elsewhere, 1);
	return NULL;
}

static void *
free_elsewhere(void *arg)
{
	free_own();
	write_int(&ended_elsewhere, 1);
	return arg;
}

static void
await_begun(void)
{
	while (!read_int(&cell.begun))
		queue_sleep_ms(1);
}

/* origin: out36.C2 */
TEST_LOOP(failed__runs__a_teardown_or_free_elsewhere_waits_for_it, 2)
{
	pthread_t thread;

	leave = ended_elsewhere = 0;
	cell_open(FAILED, 1, stay_inside);
	await_begun();
	IS(pthread_create(&thread, NULL, _i ? free_elsewhere : tear_down_elsewhere, NULL), 0);
	queue_sleep_ms(20);
	IS(read_int(&ended_elsewhere), 0);
	write_int(&leave, 1);
	IS(pthread_join(thread, NULL), 0);
	cell_close();
}

static void
end_inside_while_other_ends(void)
{
	pthread_t thread;

	/* A teardown of another thread waits for this failed(), which waits for none. */
	IS(pthread_create(&thread, NULL, tear_down_elsewhere, NULL), 0);
	queue_sleep_ms(20);
	IS(rearm_queue_teardown(cell.own), 0);
	IS(read_int(&ended_elsewhere), 0);
	IS(pthread_detach(thread), 0);
}

TEST(failed__tears_down_inside__while_another_thread_does)
{
	ended_elsewhere = 0;
	cell_open(FAILED, 1, end_inside_while_other_ends);
	cell_await(&cell.ended, "rearm_queue_teardown");
	while (!read_int(&ended_elsewhere))
		queue_sleep_ms(1);
	cell_close();
}

static void
tear_down_own(void)
{
	IS(rearm_queue_teardown(cell.own), 0);
}

static int entered;

/* One stays inside, the other waits for it. */
static void
stay_or_tear_down(void *arg, const struct ibv_wc *wc, int n, int more)
{
	nothing(arg, wc, n, more);
	if (__atomic_fetch_add(&entered, 1, __ATOMIC_SEQ_CST) == 0)
		stay_inside();
	else
		(void)tear_down_elsewhere(NULL);
}

/* origin: out36.C2 */
TEST(failed__was_torn_down_inside__the_next_teardown_inside_waits_for_the_others)
{
	const struct rearm_upcall upcall = { .function = stay_or_tear_down, .batch = 1 };

	leave = ended_elsewhere = entered = 0;
	cell_open(FAILED, 1, tear_down_own);
	cell_await(&cell.ended, "rearm_queue_teardown");
	let_fail(NULL);
	IS(rearm_queue_teardown(cell.own), 0);
	IS(rearm_queue_enable(cell.own, REARM_MANY, &upcall, REARM_ANY), 0);
	queue_complete(1, 2);
	while (read_int(&entered) < 2)
		queue_sleep_ms(1);
	queue_sleep_ms(20);
	IS(read_int(&ended_elsewhere), 0);
	write_int(&leave, 1);
	while (!read_int(&ended_elsewhere))
		queue_sleep_ms(1);
	cell_close();
}

/* A callback that waits reads for the loop meanwhile, which finds that the other queue fails. */
static struct rearm_queue *waited;
static int waits, told_while_it_waits, told;

static void
wait_inside(void)
{
	struct ibv_wc wc;

	stay_inside();
	write_int(&waits, 1);
	let_fail(cell.other);
	queue_destroy_qp();
	queue_make_qp(rearm_queue_cq(cell.other));
	queue_complete(1, 1);
	IS(rearm_queue_wait(waited, 1, 50000, 1, &wc), -ETIMEDOUT);
	write_int(&waits, 0);
}

static void
free_waited(void *arg, int error)
{
	struct rearm_queue *queue = waited;

	(void)arg;
	ck_assert_int_lt(error, 0);
	write_int(&told_while_it_waits, read_int(&waits));
	waited = NULL;
	IS(rearm_queue_free(queue), 0);
	write_int(&told, 1);
}

/* origin: out36.C2 */
TEST_LOOP(failed__while_a_callback_waits__comes_after_it, 2)
{
	const struct rearm_queue_attr attr = { .cqe = QUEUE_CQE, .failed = free_waited };

	leave = told = told_while_it_waits = waits = 0;
	qs.context->ops.poll_cq = poll_or_fail;
	cell_open(SINGLE, _i, wait_inside);
	IS(rearm_queue_free(cell.other), 0);
	IS(rearm_queue_create(cell.loop, qs.context, &attr, &cell.other), 0);
	IS(rearm_queue_enable(cell.other, REARM_SINGLE, &no_upcall, REARM_ANY), 0);
	waited = new_queue(cell.loop);
	write_int(&leave, 1);
	cell_await(&cell.ended, "rearm_queue_wait");
	cell_await(&told, "rearm_queue_free");
	IS(told_while_it_waits, 0);
	let_fail(NULL);
	cell_close();
}

/* ---- loops inside of loops ---- */

static void
end_loops(void *arg, const struct ibv_wc *wc, int n, int more)
{
	nothing(arg, wc, n, more);
	IS(rearm_loop_free(cell.loop), -EDEADLK);
	IS(rearm_loop_free(arg), -EDEADLK);
	IS(rearm_loop_dispatch(arg, 1, 0), -EDEADLK);
	IS(rearm_loop_dispatch(cell.loop, 1, 0), cell.threads ? -EINVAL : -EDEADLK);
}

static void
dispatch_inside(void)
{
	struct rearm_loop *inner = new_loop(0);
	struct rearm_queue *queue = new_queue(inner);
	const struct rearm_upcall upcall = { .function = end_loops, .arg = inner, .batch = 1 };

	queue_destroy_qp();
	queue_make_qp(rearm_queue_cq(queue));
	queue_complete(1, 1);
	IS(rearm_queue_enable(queue, REARM_SINGLE, &upcall, REARM_ANY), 0);
	ck_assert_int_gt(rearm_loop_dispatch(inner, 1, -1), 0);
	queue_destroy_qp();
	IS(rearm_queue_free(queue), 0);
	IS(rearm_loop_free(inner), 0);
}

/* origin: out36.C2 */
TEST_LOOP(dispatch_of_another_loop__inside__both_loops_have_the_caller, 2)
{
	cell_open(SINGLE, _i, dispatch_inside);
	cell_await(&cell.ended, "rearm_loop_dispatch");
	cell_close();
}

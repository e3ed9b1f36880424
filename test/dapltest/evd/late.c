/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Late calls and handlers: the EVD or CNO that they refer to was freed, and its slot has another.
 * They must not touch that.
 */
#include <string.h>

#include "cno/cno.h"
#include "evd/fast.h"
#include "evd/loop_body.h"

#include "script.h"
#include "window.h"

#define OTHER 77 /* the event of the successor */

static struct evd slot;
static struct loop *loop;
static struct evd_ref late; /* means the first EVD of the slot */
static int reads, calls, gone;

static int
count_read(void *source)
{
	(void)source;
	reads++;
	return 0;
}

static unsigned int completions; /* of the device, not polled yet */

static struct evd_device_result
poll_all(void *source, struct evd_batch *batch)
{
	int n = 0;

	(void)source;
	for (; completions; completions--, n++) {
		memset(evd_batch_record(batch), 0, sizeof(struct evd_record));
		evd_batch_queue(batch);
	}
	return (struct evd_device_result){ n };
}

static struct evd_device_result
armed(void *source, bool solicited_only)
{
	(void)source;
	(void)solicited_only;
	return (struct evd_device_result){ 0 };
}

static void
ack(void *source, unsigned int n)
{
	(void)source;
	(void)n;
	must(false); /* nothing was read */
}

static const struct evd_source_ops ops = {
	.poll = poll_all, .arm = armed, .ack = ack, .read = count_read
};

static void
fault(struct evd *evd, int error)
{
	(void)evd;
	(void)error;
}

static void
destroyed(struct evd *evd)
{
	(void)evd;
	gone++;
}

static void
upcall(void *instance, const struct script_event *event, int more)
{
	(void)instance;
	(void)event;
	(void)more;
	calls++;
}

static const struct evd_upcall object = { .function = (void (*)(void))upcall };

static bool posted_on_demand;

static void
open_slot(uint64_t serial, int fd)
{
	const struct evd_config config = {
		.serial = serial,
		.qlen = 4,
		.event_size = sizeof(struct script_event),
		.call = script_call,
		.ops = &ops,
		.channel_fd = fd,
		.posted_on_demand = posted_on_demand,
		.loop = loop,
		.pool = loop,
		.fault = fault,
		.destroyed = destroyed,
	};

	ck_assert_int_eq(evd_create(&slot, &config), 0);
}

static void
setup(void)
{
	reads = calls = gone = 0;
	posted_on_demand = false;
	ck_assert_int_eq(loop_create(LOOP_STEPPED, 0, &loop), 0);
	evd_slot_init(&slot);
}

static void
teardown(void)
{
	ck_assert_int_eq(evd_free(evd_self(&slot)), 0);
	while (loop_step(loop, 0))
		;
	loop_free(loop);
	park_close_self();
}

static void
succeed(void)
{
	struct script_event event = script_event(OTHER);

	ck_assert_int_eq(evd_free(late), 0);
	open_slot(late.serial + 1, -1);
	ck_assert_int_eq(evd_post(evd_self(&slot), EVD_STREAM_SOFTWARE, &event), 0);
}

/* The successor has what it was given, and nothing else. */
static void
check_successor(void)
{
	struct evd_status status;

	ck_assert_int_eq(evd_query(evd_self(&slot), &status), 0);
	ck_assert_int_eq(status.qlen, 4);
	ck_assert_uint_eq(slot.queue.qlen, 4);
	ck_assert_int_eq(status.queued, 1);
	ck_assert(status.enabled && status.waitable && !status.solicited_only);
	ck_assert(!status.overflowed);
	ck_assert_int_eq(status.policy, EVD_POLICY_DISABLE);
	ck_assert_int_eq(slot.counters.notifications, 0);
	ck_assert_int_eq(slot.counters.software, 1);
	ck_assert_int_eq(slot.armed, EVD_UNARMED);
	ck_assert(!slot.closing);
	ck_assert_ptr_eq(slot.listener, NULL);
}

static bool
every_event(const void *event, const void *key)
{
	(void)event;
	(void)key;
	return true;
}

CASE("evd_late:late", setup, teardown);

TEST(late_dequeue__slot_serves_another_with_completions__is_not_direct)
{
	open_slot(1, -1);
	late = evd_self(&slot);
	ck_assert_int_eq(evd_free(late), 0);
	open_slot(2, -1);
	completions = 2;
	ck_assert_int_eq(evd_refresh(evd_self(&slot)), 0);
	evd_lock(&slot);
	ck_assert(evd_is_direct(evd_self(&slot)));
	ck_assert(!evd_is_direct(late));
	evd_take_direct(&slot);
	ck_assert(evd_is_direct_last(evd_self(&slot)));
	ck_assert(!evd_is_direct_last(late));
	evd_unlock(&slot);
}

/* origin: attack.C2 */
TEST(late_call__slot_serves_another__is_refused_and_nothing_touched)
{
	struct evd_counters counters;
	struct evd_calls made;
	struct evd_hold hold = { .active = false };
	const struct evd_order order = { .endpoint = &slot, .hold = &hold };
	struct evd_status status;
	struct script_event event = script_event(1);
	int nmore;

	open_slot(1, -1);
	late = evd_self(&slot);
	succeed();
	ck_assert_int_eq(evd_dequeue(late, &event), -ENODEV);
	ck_assert_int_eq(evd_wait(late, 0, 1, &event, &nmore), -ENODEV);
	ck_assert_int_eq(evd_wait(late, EVD_FOREVER, 1, &event, &nmore), -ENODEV);
	ck_assert_int_eq(evd_post(late, EVD_STREAM_SOFTWARE, &event), -ENODEV);
	ck_assert_int_eq(evd_post_ordered(late, EVD_STREAM_CONNECTION, &event, &order), -ENODEV);
	for (int policy = EVD_POLICY_TEARDOWN; policy <= EVD_POLICY_NOTIFY; policy++)
		ck_assert_int_eq(
		    evd_modify_upcall(late, (enum evd_policy)policy, &object, EVD_PENDING_CALL),
		    -ENODEV);
	ck_assert_int_eq(evd_set_listener(late, NULL, NULL), -ENODEV);
	ck_assert_int_eq(evd_set_enabled(late, false), -ENODEV);
	ck_assert_int_eq(evd_set_waitable(late, false), -ENODEV);
	ck_assert_int_eq(evd_set_solicited(late, true), -ENODEV);
	ck_assert_int_eq(evd_resize(late, 8), -ENODEV);
	ck_assert_int_eq(evd_reserve(late, 1), -ENODEV);
	ck_assert_int_eq(evd_hold_reserve(late, &hold, 1), -ENODEV);
	ck_assert_int_eq(evd_refresh(late), -ENODEV);
	ck_assert_int_eq(evd_query(late, &status), -ENODEV);
	ck_assert_int_eq(evd_query_counters(late, &counters), -ENODEV);
	ck_assert_int_eq(evd_query_calls(late, &made), -ENODEV);
	ck_assert(!evd_is_alive(late));
	ck_assert_int_eq(evd_drain(late), -ENODEV);
	ck_assert_int_eq(evd_free_nowait(late), -ENODEV);
	ck_assert(!evd_is_left_to_closers(late));
	ck_assert(!evd_is_left_to_closers(evd_self(&slot)));
	ck_assert(!evd_await_others(late));
	ck_assert(!evd_mark_overflow(late));
	ck_assert(!evd_mark_refusal(late));
	evd_purge(late, NULL, NULL, every_event, NULL);
	evd_set_depth(late, 1);
	evd_set_pool(late, NULL);
	evd_set_closing(late);
	evd_hold_begin(late, &hold);
	ck_assert(!hold.active);
	evd_notified(late); /* and does not acknowledge */
	ck_assert_int_eq(evd_free(late), -ENODEV);
	ck_assert_int_eq(gone, 1);
	check_successor();
}

static int
resize(void)
{
	return evd_resize(late, 8);
}

static int
drain(void)
{
	return evd_drain(late);
}

static int
post_first(void)
{
	struct script_event event = script_event(1);

	return evd_post(late, EVD_STREAM_SOFTWARE, &event);
}

static int (*const in_sections[])(void) = { resize, drain, post_first };
#define SECTIONS ((int)(sizeof in_sections / sizeof in_sections[0]))

/*
 * Calls that drop the lock for a while to allocate: the ring is full, so that a drain does, and
 * there is no room for posted events, so that a post does.
 */
TEST_LOOP(call_in_several_sections__freed_in_a_window__is_refused_and_nothing_touched, SECTIONS)
{
	int window = 0;

	posted_on_demand = in_sections[_i] == post_first;
	for (;;) {
		open_slot(1, -1);
		late = evd_self(&slot);
		slot.queue.ring_count = in_sections[_i] == drain ? slot.queue.qlen : 0;
		window_at(&slot.lock, ++window, succeed);
		if (in_sections[_i]() == 0 && window_missed())
			break;
		check_successor();
		ck_assert_int_eq(evd_free(evd_self(&slot)), 0);
	}
	ck_assert_int_gt(window, 2);
}

/* origin: attack.C1 */
TEST(late_handler__slot_serves_another__reads_no_channel)
{
	int fd = os_event_open(false), window = 0;

	/* In each window of the loop's turn, the one before the handler's first lock among them. */
	do {
		open_slot(1, fd);
		late = evd_self(&slot);
		ck_assert_int_eq(
		    evd_modify_upcall(late, EVD_POLICY_SINGLE, &object, EVD_PENDING_CALL), 0);
		os_event_set(fd);
		window_at(&loop->lock, ++window, succeed);
		reads = 0;
		(void)loop_step(loop, 0);
		if (window_missed())
			break;
		/* The channel of the first EVD may have been read before it was freed. */
		(void)os_event_clear(fd);
		check_successor();
		/* the second: the handler is about to begin */
		ck_assert_int_le(reads, window <= 2 ? 0 : 1);
		ck_assert_int_eq(evd_free(evd_self(&slot)), 0);
	} while (window < 50);
	ck_assert_int_gt(window, 2);
	os_close(fd);
}

static void
agent(void *instance, void *evd)
{
	(void)instance;
	(void)evd;
	calls++;
}

static void
cno_destroyed(struct cno *cno)
{
	(void)cno;
	gone++;
}

/* origin: attack.C2 */
TEST(late_call_of_a_cno__slot_serves_another__is_refused_and_nothing_touched)
{
	static struct cno cno;
	struct cno_config config = {
		.serial = 1, .loop = loop, .with_fd = true, .destroyed = cno_destroyed
	};
	struct cno_agent got, given = { NULL, agent };
	struct cno_ref first;
	void *evd;

	open_slot(1, -1);
	cno_slot_init(&cno);
	ck_assert_int_eq(cno_create(&cno, &config), 0);
	first = cno_self(&cno);
	ck_assert_int_eq(cno_free(first, false), 0);
	config.serial = 2;
	ck_assert_int_eq(cno_create(&cno, &config), 0);
	ck_assert_int_eq(cno_attach_evd(cno_self(&cno)), 0);
	cno_detach_evd(&cno); /* a trigger: the last EVD went */

	ck_assert_int_eq(cno_wait(first, 0, &evd), -ENODEV);
	ck_assert_int_eq(cno_wait(first, EVD_FOREVER, &evd), -ENODEV);
	ck_assert_int_eq(cno_trigger(first, &evd), -ENODEV);
	ck_assert_int_eq(cno_trywait(first, &evd), -ENODEV);
	ck_assert_int_eq(cno_modify_agent(first, given), -ENODEV);
	ck_assert_int_eq(cno_query(first, &got), -ENODEV);
	ck_assert_int_eq(cno_attach_evd(first), -ENODEV);
	ck_assert_int_eq(cno_free(first, true), -ENODEV);
	ck_assert_int_eq(cno_free_nowait(first), -ENODEV);
	ck_assert(!cno_is_left_to_closer(first));
	ck_assert(!cno_is_left_to_closer(cno_self(&cno)));
	ck_assert(!cno_await_others(first));
	cno_set_closing(first);

	ck_assert_int_eq(cno_query(cno_self(&cno), &got), 0);
	ck_assert_ptr_eq((void *)got.function, NULL);
	ck_assert_int_eq(cno_trigger(cno_self(&cno), &evd), 0);
	ck_assert_int_eq(cno_wait(cno_self(&cno), 0, &evd), -ETIMEDOUT); /* not closing */
	ck_assert_int_eq(cno_free(cno_self(&cno), false), 0);
	ck_assert_int_eq(gone, 2);
}

/* What closes an adapter asks this of objects whose free another thread has ended. */
TEST(end_of_an_adapter__freed_and_nothing_runs__nothing_to_wait_for)
{
	static struct cno cno;
	const struct cno_config config = { .serial = 1, .loop = loop, .destroyed = cno_destroyed };

	open_slot(1, -1);
	late = evd_self(&slot);
	ck_assert_int_eq(evd_free(late), 0);
	ck_assert(!evd_await_others(late));
	ck_assert(!evd_is_left_to_closers(late));
	cno_slot_init(&cno);
	ck_assert_int_eq(cno_create(&cno, &config), 0);
	ck_assert_int_eq(cno_free(cno_self(&cno), false), 0);
	ck_assert(!cno_await_others(cno_self(&cno)));
	ck_assert(!cno_is_left_to_closer(cno_self(&cno)));
	open_slot(2, -1);
}

static uint64_t ran_for;

static void
remember_life(struct loop_job *job, uint64_t serial)
{
	(void)job;
	ran_for = serial;
}

static struct loop_job job;

static void
use_the_job_again(void)
{
	(void)loop_unready(&job);
	job = (struct loop_job){ .run = remember_life, .serial = 2 };
}

TEST(late_job__its_memory_serves_another__runs_for_the_life_it_was_queued_for)
{
	open_slot(1, -1);
	job = (struct loop_job){ .run = remember_life, .serial = 1 };
	loop_ready(loop, &job);
	/* Taken from the list, and not begun: the second release of a turn. */
	window_at(&loop->lock, 2, use_the_job_again);
	ck_assert_int_eq(loop_step(loop, 0), 1);
	ck_assert(!window_missed());
	ck_assert_uint_eq(ran_for, 1);
}

/* Queued before the slot's own job, on the loop whose upcalls these are. */
static void
run_for_the_first(struct loop_job *of_the_first, uint64_t serial)
{
	(void)of_the_first;
	slot.job.run(&slot.job, serial);
	must(calls == 0);
	must(slot.job_state == EVD_JOB_READY);
}

TEST(late_run__slot_serves_another_with_an_event__begins_nothing)
{
	struct loop_job of_the_first = { .run = run_for_the_first, .serial = 1 };

	open_slot(1, -1);
	late = evd_self(&slot);
	succeed();
	loop_ready(loop, &of_the_first);
	ck_assert_int_eq(
	    evd_modify_upcall(evd_self(&slot), EVD_POLICY_SINGLE, &object, EVD_PENDING_CALL), 0);
	ck_assert_int_eq(loop_step(loop, 0), 2);
	ck_assert_int_eq(calls, 1);
}

TEST(late_run_of_a_cno__slot_serves_another_with_a_trigger__calls_no_agent)
{
	static struct cno cno;
	struct cno_config config = {
		.serial = 1, .loop = loop, .agent = { NULL, agent }, .destroyed = cno_destroyed
	};
	struct script_event event = script_event(OTHER);

	cno_slot_init(&cno);
	ck_assert_int_eq(cno_create(&cno, &config), 0);
	ck_assert_int_eq(cno_free(cno_self(&cno), false), 0);
	config.serial = 2;
	ck_assert_int_eq(cno_create(&cno, &config), 0);
	open_slot(1, -1);
	ck_assert_int_eq(evd_set_listener(evd_self(&slot), cno_listener(&cno), &cno), 0);
	ck_assert_int_eq(evd_post(evd_self(&slot), EVD_STREAM_SOFTWARE, &event), 0);
	ck_assert_int_eq(loop_step(loop, 0), 1); /* the EVD's run, which queues the agent's call */
	cno.job.run(&cno.job, 1);
	ck_assert_int_eq(calls, 0);
	ck_assert_int_eq(loop_step(loop, 0), 1);
	ck_assert_int_eq(calls, 1);
	ck_assert_int_eq(evd_set_listener(evd_self(&slot), NULL, NULL), 0);
	ck_assert_int_eq(cno_free(cno_self(&cno), false), 0);
}

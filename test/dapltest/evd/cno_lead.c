/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that waits for a CNO reads the channel that the EVDs share; when the loop reads it. */
#include "cno_story.h"
#include "calls.h"

#include "evd/channel.h"

#define EVDS 3
#define CNOS 2

/*
 * The scripted devices have a descriptor each.  An epoll set of them is what the EVDs share.  The
 * loop runs only when the test steps it: what a waiter gets without a step, it has read by itself.
 */
static struct loop *loop;
static struct loop_ticket ticket;
static struct lead lead;
static int channel;
static _Atomic int read_error; /* of the channel; 0: none */
static _Atomic int failed_reads;
static int turns; /* of the loop that found the channel readable */
static struct script dev[EVDS];
static struct cno cnos[CNOS];
static struct cno *of[EVDS]; /* the CNO of each EVD, or NULL */

static int
read_one(void *arg, struct evd_ref *ref)
{
	(void)arg;
	if (read_error) {
		failed_reads++;
		return read_error;
	}
	for (int i = 0; i < EVDS; i++)
		if (script_get(&dev[i])) {
			*ref = script_ref(&dev[i]);
			return 1;
		}
	return 0;
}

static void
channel_readable(void *arg, uint64_t serial)
{
	struct evd_ref ref;

	(void)serial;
	turns++;
	if (read_one(arg, &ref) == 1)
		evd_notified(ref);
}

static void
attach(int i, struct cno *cno)
{
	ck_assert_int_eq(cno_attach_evd(cno_self(cno)), 0);
	ck_assert_int_eq(evd_set_listener(evd_self(&dev[i].evd), cno_listener(cno), cno), 0);
	of[i] = cno;
}

static void
detach(int i)
{
	ck_assert_int_eq(evd_set_listener(evd_self(&dev[i].evd), NULL, NULL), 0);
	cno_detach_evd(of[i]);
	of[i] = NULL;
}

static void
step_all(void)
{
	while (loop_step(loop, 0) > 0)
		;
}

static void
no_cno_destroyed(struct cno *cno)
{
	(void)cno;
}

static void
open_cno(struct cno *cno, bool with_fd)
{
	const struct cno_config config = {
		.loop = loop, .lead = &lead, .with_fd = with_fd, .destroyed = no_cno_destroyed
	};

	cno_slot_init(cno);
	ck_assert_int_eq(cno_create(cno, &config), 0);
}

static void
setup(void)
{
	struct script_options opt = { .channel = SCRIPT_LED, .lead = &lead };

	read_error = failed_reads = turns = 0;
	ck_assert_int_eq(loop_create(LOOP_STEPPED, 0, &loop), 0);
	channel = os_epoll_open();
	ck_assert_int_ge(channel, 0);
	ck_assert_int_eq(loop_add(loop, channel, channel_readable, NULL, 0, &ticket), 0);
	lead = (struct lead){ .loop = loop, .ticket = &ticket, .fd = channel, .read = read_one };
	lead_open(&lead);
	for (int i = 0; i < CNOS; i++)
		open_cno(&cnos[i], false);
	opt.loop = loop;
	for (int i = 0; i < EVDS; i++) {
		script_init(&dev[i]);
		script_open(&dev[i], &opt);
		ck_assert_int_eq(os_epoll_ctl(channel, EPOLL_CTL_ADD, dev[i].fd, EPOLLIN, 0), 0);
	}
	attach(0, &cnos[0]);
	attach(1, &cnos[1]);
	step_all(); /* the runs that arm */
}

static void
teardown(void)
{
	loop_remove(loop, &ticket);
	for (int i = 0; i < EVDS; i++) {
		if (of[i])
			detach(i);
		script_close(&dev[i]);
	}
	for (int i = 0; i < CNOS; i++)
		if (cnos[i].alive)
			ck_assert_int_eq(cno_free(cno_self(&cnos[i]), false), 0);
	os_close(channel);
	loop_free(loop);
	park_close_self();
}

static bool
loop_reads(void)
{
	return os_flag_get(&lead.state) == LEAD_OVER;
}

/* ---- a thread that waits ---- */

struct thread {
	pthread_t id;
	struct cno *cno;
	uint32_t timeout;
	void *handle;
	int r, calls;
};

static void *
thread_body(void *arg)
{
	struct thread *t = arg;

	t->r = cno_wait(cno_self(t->cno), t->timeout, &t->handle);
	t->calls = evd_calls();
	return NULL;
}

static unsigned int
waiters(struct cno *cno)
{
	unsigned int n;

	os_lock(&cno->lock);
	n = cno->n_waiters;
	os_unlock(&cno->lock);
	return n;
}

/* Returns when the thread sleeps, or is about to. */
static void
start(struct thread *t, struct cno *cno)
{
	const unsigned int before = waiters(cno);

	*t = (struct thread){ .cno = cno, .timeout = EVD_FOREVER };
	must(pthread_create(&t->id, NULL, thread_body, t) == 0);
	while (waiters(cno) == before)
		script_sleep_ms(0);
}

static void
returns(struct thread *t, int r, struct script *handle)
{
	pthread_join(t->id, NULL);
	ck_assert_int_eq(t->r, r);
	ck_assert_ptr_eq(t->handle, handle);
}

/* Until the thread has returned the loop is stepped, as its own thread would do it. */
static void
returns_by_the_loop(struct thread *t, struct script *handle)
{
	while (waiters(t->cno) > 0)
		(void)loop_step(loop, 1);
	returns(t, 0, handle);
}

static void
waits(struct cno *cno, uint32_t timeout, int r, struct script *expected)
{
	void *handle;

	ck_assert_int_eq(cno_wait(cno_self(cno), timeout, &handle), r);
	ck_assert_ptr_eq(handle, expected);
}

static void
drains(struct script *s, int n)
{
	cno_story_drains(s, n);
}

/* ---- it leads ---- */

CASE("cno_lead:lead", setup, teardown);

TEST(waiter__reads_the_channel__two_system_calls_and_no_turn_of_the_loop)
{
	struct thread t;

	for (uint64_t i = 0; i < 5; i++) {
		start(&t, &cnos[0]);
		script_complete(&dev[0], i);
		returns(&t, 0, &dev[0]);
		/* The sleep and the read; a read that finds nothing is rare: after 0, 1, 3, ... */
		ck_assert_int_le(t.calls, i == 0 || i == 2 ? 3 : 2);
		drains(&dev[0], 1);
	}
	ck_assert_int_eq(turns, 0);
	ck_assert(!loop_reads());
	ck_assert_int_eq(loop_step(loop, 0), 0);
}

TEST(waiter__its_evd_is_armed_again__and_polled_once_after_that)
{
	struct thread t;

	start(&t, &cnos[0]);
	script_complete(&dev[0], 1);
	returns(&t, 0, &dev[0]);
	story_check_rest(&dev[0]); /* armed, and its job is idle */
	ck_assert_uint_eq(dev[0].arms, 2);
	ck_assert_uint_eq(dev[0].polls, 3); /* two of the first run, one of the notification's */
}

TEST(raised_before_the_wait__returns_at_once)
{
	script_complete(&dev[0], 1);
	waits(&cnos[0], EVD_FOREVER, 0, &dev[0]);
	drains(&dev[0], 1);
	script_complete(&dev[0], 2);
	waits(&cnos[0], 1000 * MS, 0, &dev[0]);
	drains(&dev[0], 1);
	ck_assert_int_eq(turns, 0);
}

TEST(raised_before_a_call_without_a_timeout__found)
{
	waits(&cnos[0], 0, -ETIMEDOUT, NULL);
	script_complete(&dev[1], 1); /* of the other CNO, and first in the channel */
	script_complete(&dev[0], 1);
	waits(&cnos[0], 0, 0, &dev[0]);
	waits(&cnos[0], 0, -ETIMEDOUT, NULL);
	waits(&cnos[1], 0, 0, &dev[1]);
	waits(&cnos[1], 0, -ETIMEDOUT, NULL);
	ck_assert_int_eq(turns, 0);
}

TEST(notification_of_another_cno__is_reported_there_and_the_wait_goes_on)
{
	struct thread t;

	start(&t, &cnos[0]);
	script_complete(&dev[1], 1);
	while (script_raised(&dev[1]))
		script_sleep_ms(0);
	script_complete(&dev[0], 2);
	returns(&t, 0, &dev[0]);
	ck_assert_uint_eq(dev[1].gets, 1);
	waits(&cnos[1], EVD_FOREVER, 0, &dev[1]);
}

TEST(timeout__the_next_notification_is_not_lost)
{
	waits(&cnos[0], 2 * MS, -ETIMEDOUT, NULL);
	ck_assert_int_eq(os_flag_get(&lead.state), LEAD_FREE);
	script_complete(&dev[0], 1);
	waits(&cnos[0], 1000 * MS, 0, &dev[0]);
	ck_assert_int_eq(turns, 0);
}

TEST(posted_event__the_loop_wakes_the_waiter_that_leads)
{
	struct thread t;

	start(&t, &cnos[0]);
	ck_assert_int_eq(script_post(&dev[0], 100), 0);
	returns_by_the_loop(&t, &dev[0]);
	ck_assert_int_eq(turns, 0); /* it had a job, and did not read the channel */
	ck_assert(!loop_reads());
}

TEST(always_triggered__notifications_are_read_all_the_same)
{
	void *handle = NULL;
	int n = 0;

	attach(2, &cnos[0]);
	step_all();
	script_complete(&dev[0], 1);
	for (; handle != &dev[0] && n < 10 * LOOP_SPAN; n++) {
		ck_assert_int_eq(script_post(&dev[2], 100), 0);
		step_all();
		ck_assert_int_eq(cno_wait(cno_self(&cnos[0]), EVD_FOREVER, &handle), 0);
		drains(handle, 1);
	}
	ck_assert_ptr_eq(handle, &dev[0]);
	ck_assert_int_le(n, LOOP_SPAN + 3);
	ck_assert_int_eq(turns, 0);
}

TEST(device_answers_each_arm_before_a_poll__runs_poll_first)
{
	int for_nothing = 0;

	for (uint64_t i = 0; i < 10; i++) {
		const unsigned int polls = dev[0].polls;

		script_complete(&dev[0], i);
		waits(&cnos[0], 0, 0, &dev[0]);
		if (dev[0].polls - polls == 1) { /* it armed first */
			script_spurious(&dev[0]);
			drains(&dev[0], 1);
			waits(&cnos[0], 0, -ETIMEDOUT, NULL);
			for_nothing++;
		} else {
			drains(&dev[0], 1);
		}
	}
	ck_assert_int_eq(for_nothing, 1);
}

TEST(arm_fails__what_was_polled_is_reported)
{
	script_complete(&dev[0], 1);
	dev[0].fail_arms = 1;
	waits(&cnos[0], 0, 0, &dev[0]);
	ck_assert_int_eq(dev[0].faults, 1);
	drains(&dev[0], 1);
	/* The loop tries again after a delay, and arms. */
	while (!script_arms(&dev[0]) || dev[0].evd.job_state != EVD_JOB_IDLE)
		(void)loop_step(loop, 5);
	story_check_rest(&dev[0]);
}

TEST(last_evd_detached__and_free__end_the_wait)
{
	struct thread t;

	start(&t, &cnos[0]);
	detach(0);
	returns(&t, 0, NULL);
	start(&t, &cnos[0]);
	ck_assert_int_eq(cno_free(cno_self(&cnos[0]), true), 0);
	returns(&t, -ECANCELED, NULL);
	ck_assert_int_eq(os_flag_get(&lead.state), LEAD_FREE);
}

static void
wait_in_a_job(struct loop_job *job, uint64_t serial)
{
	(void)job;
	(void)serial;
	waits(&cnos[0], 1000 * MS, 0, &dev[0]);
}

TEST(wait_on_the_thread_of_the_loop__it_reads_too)
{
	struct loop_job job = { .run = wait_in_a_job };

	script_complete(&dev[0], 1);
	loop_ready(loop, &job);
	step_all();
	ck_assert_int_eq(turns, 0);
	ck_assert_uint_eq(dev[0].gets, 1);
}

/* ---- the loop reads ---- */

TEST(second_waiter__the_loop_reads_for_it)
{
	struct thread first, second;

	start(&first, &cnos[0]);
	while (os_flag_get(&lead.state) != LEAD_TAKEN)
		script_sleep_ms(0);
	start(&second, &cnos[1]);
	while (!loop_reads())
		script_sleep_ms(0);
	script_complete(&dev[0], 1);
	returns_by_the_loop(&first, &dev[0]);
	script_complete(&dev[1], 1);
	returns_by_the_loop(&second, &dev[1]);
	/* From now on no waiter leads. */
	start(&first, &cnos[0]);
	script_complete(&dev[0], 2);
	turns = 0;
	returns_by_the_loop(&first, &dev[0]);
	ck_assert_int_gt(turns, 0);
}

TEST(upcalls_enabled__the_loop_reads)
{
	struct thread t;
	struct tape tape;
	const struct evd_upcall object = (tape_init(&tape, &dev[2]), tape_object(&tape));

	start(&t, &cnos[0]);
	ck_assert_int_eq(
	    evd_modify_upcall(evd_self(&dev[2].evd), EVD_POLICY_SINGLE, &object, EVD_PENDING_CALL),
	    0);
	ck_assert(loop_reads());
	script_complete(&dev[0], 1);
	returns_by_the_loop(&t, &dev[0]);
	script_complete(&dev[2], 7);
	step_all();
	ck_assert_int_eq(tape_count(&tape), 1);
	ck_assert_int_eq(
	    evd_modify_upcall(evd_self(&dev[2].evd), EVD_POLICY_TEARDOWN, NULL, EVD_PENDING_CALL),
	    0);
	ck_assert(loop_reads());
}

TEST(upcalls_enabled_meanwhile__the_waiter_that_reads_leaves_them_to_the_loop)
{
	struct tape tape;
	const struct evd_upcall object = (tape_init(&tape, &dev[0]), tape_object(&tape));

	script_complete(&dev[0], 7);
	ck_assert_int_eq(
	    evd_modify_upcall(evd_self(&dev[0].evd), EVD_POLICY_SINGLE, &object, EVD_PENDING_CALL),
	    0);
	lead_read_all(&lead);
	ck_assert_int_eq(tape_count(&tape), 0);
	step_all();
	ck_assert_int_eq(tape_count(&tape), 1);
	ck_assert_int_eq(
	    evd_modify_upcall(evd_self(&dev[0].evd), EVD_POLICY_TEARDOWN, NULL, EVD_PENDING_CALL),
	    0);
}

TEST(thread_that_waits_for_an_evd__the_loop_reads_for_it)
{
	struct waiter w;

	waiter_start(&w, &dev[2], EVD_FOREVER, 1);
	ck_assert(loop_reads());
	script_complete(&dev[2], 1);
	while (!__atomic_load_n(&w.done, __ATOMIC_SEQ_CST))
		(void)loop_step(loop, 1);
	ck_assert_int_eq(waiter_join(&w), 0);
}

static int agents;

static void
agent(void *instance, void *evd)
{
	(void)instance;
	(void)evd;
	agents++;
}

TEST(agent__the_loop_reads)
{
	const struct cno_agent installed = { NULL, agent };

	agents = 0;
	ck_assert_int_eq(
	    cno_modify_agent(cno_self(&cnos[0]), ((struct cno_agent){ NULL, NULL })), 0);
	ck_assert(!loop_reads());
	ck_assert_int_eq(cno_modify_agent(cno_self(&cnos[0]), installed), 0);
	script_complete(&dev[0], 1);
	step_all();
	ck_assert_int_eq(agents, 1);
}

TEST(cno_with_a_descriptor__the_loop_reads)
{
	struct pollfd fd = { .events = POLLIN };
	struct cno cno;

	open_cno(&cno, true);
	attach(2, &cno);
	step_all();
	script_complete(&dev[2], 1);
	step_all();
	fd.fd = cno_fd(&cno);
	ck_assert_int_eq(poll(&fd, 1, 0), 1);
	detach(2);
	ck_assert_int_eq(cno_free(cno_self(&cno), false), 0);
}

TEST(channel_cannot_be_read__the_loop_finds_out)
{
	struct thread t;

	start(&t, &cnos[0]);
	read_error = -EIO;
	script_complete(&dev[0], 1);
	while (!loop_reads())
		script_sleep_ms(0);
	script_sleep_ms(20); /* the thread does not watch the channel, which is still readable */
	ck_assert_int_eq(failed_reads, 1);
	read_error = 0;
	returns_by_the_loop(&t, &dev[0]);
}

/* Both are there when the thread looks: the one that it would read, and the one that it needs. */
TEST(time_is_over_and_the_channel_readable__all_is_read)
{
	struct thread t;

	for (uint64_t i = 0; i < 20;
	     i++) { /* of single notifications: then it reads one at a time */
		script_complete(&dev[1], i);
		waits(&cnos[1], EVD_FOREVER, 0, &dev[1]);
		drains(&dev[1], 1);
	}
	for (uint64_t i = 0; i < 5; i++) {
		script_complete(&dev[0], i); /* first in the channel */
		script_complete(&dev[1], i);
		t = (struct thread){ .cno = &cnos[1], .timeout = 1 };
		os_lock(&cnos[1].lock);
		must(pthread_create(&t.id, NULL, thread_body, &t) == 0);
		script_sleep_ms(5);
		os_unlock(&cnos[1].lock);
		returns(&t, 0, &dev[1]);
		drains(&dev[1], 1);
		waits(&cnos[0], 0, 0, &dev[0]);
		drains(&dev[0], 1);
	}
	ck_assert_int_eq(turns, 0);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * No memory, no descriptor, no thread: each call that needs one fails in turn, and the dispatcher
 * returns an error and leaves nothing behind.  (The runner counts descriptors and threads, the
 * sanitizer memory.)
 *
 * The linker sends these calls through here (--wrap).
 */
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cno_story.h"
#include "calls.h"

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
int __real_eventfd(unsigned int count, int flags);
int __wrap_eventfd(unsigned int count, int flags);
int __real_epoll_create1(int flags);
int __wrap_epoll_create1(int flags);
int __real_epoll_ctl(int epfd, int op, int fd, struct epoll_event *event);
int __wrap_epoll_ctl(int epfd, int op, int fd, struct epoll_event *event);
int __real_pthread_create(
    pthread_t *thread, const pthread_attr_t *attr, void *(*body)(void *), void *arg);
int __wrap_pthread_create(
    pthread_t *thread, const pthread_attr_t *attr, void *(*body)(void *), void *arg);

static _Thread_local int countdown; /* the n-th call of this thread fails; <0: every call */
static _Thread_local int failed;

bool
evd_starved(int error)
{
	if (countdown == 0 || (countdown > 0 && --countdown > 0))
		return false;
	failed++;
	errno = error;
	return true;
}

void *
__wrap_calloc(size_t count, size_t size)
{
	return evd_starved(ENOMEM) ? NULL : __real_calloc(count, size);
}

int
__wrap_eventfd(unsigned int count, int flags)
{
	return evd_starved(EMFILE) ? -1 : __real_eventfd(count, flags);
}

int
__wrap_epoll_create1(int flags)
{
	return evd_starved(EMFILE) ? -1 : __real_epoll_create1(flags);
}

int
__wrap_epoll_ctl(int epfd, int op, int fd, struct epoll_event *event)
{
	return evd_starved(ENOSPC) ? -1 : __real_epoll_ctl(epfd, op, fd, event);
}

int
__wrap_pthread_create(
    pthread_t *thread, const pthread_attr_t *attr, void *(*body)(void *), void *arg)
{
	return evd_starved(EAGAIN) ? EAGAIN : __real_pthread_create(thread, attr, body, arg);
}

static bool
is_want(int r)
{
	return r == -ENOMEM || r == -EMFILE || r == -ENOSPC || r == -EAGAIN;
}

/* Calls `attempt` with its first, second, ... resource missing, until it misses none. */
static void
starve(int (*attempt)(void))
{
	int failures = 0, r = -1;

	for (int n = 1; r; n++) {
		countdown = n;
		failed = 0;
		r = attempt();
		countdown = 0;
		must(r == 0 || is_want(r));
		must(failed == (r != 0)); /* none is hidden */
		failures += r != 0;
		must(n < 50);
	}
	ck_assert_int_gt(failures, 0);
}

static struct loop *loop;
static int threads;

static int
create_loop(void)
{
	struct loop *const before = (struct loop *)&threads;
	int r;

	loop = before;
	r = loop_create(threads ? LOOP_POOL : LOOP_THREAD, threads, &loop);
	if (r)
		must(loop == before);
	return r;
}

CASE("evd_starve:starve");

TEST(loop_create__anything_missing__nothing_left_behind)
{
	for (threads = 0; threads < 4; threads += 3) {
		starve(create_loop);
		loop_free(loop);
	}
}

static struct evd slot;

static int
open_evd(void)
{
	static const struct evd_source_ops none;
	const struct evd_config config = {
		.handle = &slot, .qlen = 4, .ops = &none, .channel_fd = -1
	};
	int r = evd_create(&slot, &config);

	if (r)
		must(!script_evd_is(&slot, &slot));
	return r;
}

/* clause: c.2.9 */
TEST(evd_open__no_memory__the_slot_stays_dead)
{
	evd_slot_init(&slot);
	starve(open_evd);
	ck_assert(script_evd_is(&slot, &slot));
	evd_queue_fini(&slot.queue);
}

static struct cno cno;

static int
open_cno(void)
{
	const struct cno_config config = { .with_fd = true };

	return cno_create(&cno, &config);
}

TEST(cno_open__no_descriptor__fails_and_the_slot_stays_dead)
{
	struct cno_agent agent;

	cno_slot_init(&cno);
	countdown = -1;
	ck_assert_int_eq(open_cno(), -EMFILE);
	countdown = 0;
	ck_assert_int_eq(cno_query(cno_self(&cno), &agent), -ENODEV);
	starve(open_cno);
	ck_assert_int_eq(cno_query(cno_self(&cno), &agent), 0);
	close(cno_fd(&cno));
}

static struct evd_hold hold;

static int
init_hold(void)
{
	return evd_hold_init(&hold, 4);
}

TEST(hold_init__no_memory__nothing_left_behind)
{
	starve(init_hold);
	evd_hold_fini(&hold);
}

static void
ignore(void *arg, uint64_t serial)
{
	(void)serial;
	(void)os_event_clear(*(int *)arg);
}

TEST(loop_add__no_room__the_others_go_on)
{
	struct loop_ticket ticket[9], none = { 7 };
	int fd[9];

	ck_assert_int_eq(loop_create(LOOP_STEPPED, 0, &loop), 0);
	for (int i = 0; i < 9; i++) {
		fd[i] = os_event_open(false);
		if (i < 8)
			ck_assert_int_eq(loop_add(loop, fd[i], ignore, &fd[i], 0, &ticket[i]), 0);
	}
	for (int n = 1; n <= 2; n++) { /* the table is to grow; the kernel is to take it */
		countdown = n;
		ck_assert(is_want(loop_add(loop, fd[8], ignore, &fd[8], 0, &none)));
		countdown = 0;
		ck_assert_uint_eq(none.id, 7);
	}
	ck_assert_int_eq(loop_add(loop, fd[8], ignore, &fd[8], 0, &ticket[8]), 0);
	for (int i = 0; i < 9; i++)
		os_event_set(fd[i]);
	ck_assert_int_eq(loop_step(loop, 0), 9);
	for (int i = 0; i < 9; i++) {
		loop_remove(loop, &ticket[i]);
		os_close(fd[i]);
	}
	loop_free(loop);
}

TEST(wait__no_descriptor_to_sleep_on__fails_and_changes_nothing)
{
	struct cno_story cs;
	void *handle;
	struct script_event event;
	int nmore;

	story_begin(&st, NULL);
	cno_story_begin(&cs, 1);
	for (int n = 1; n <= 2; n++) {
		park_close_self();
		countdown = n;
		ck_assert(is_want(evd_wait(evd_self(&st.dev.evd), EVD_FOREVER, 1, &event, &nmore)));
		countdown = n;
		ck_assert(is_want(cno_wait(cno_self(&cs.cno), EVD_FOREVER, &handle)));
		countdown = 0;
		ck_assert_ptr_eq(handle, NULL);
		story_expect_nothing(&st);
	}
	/* What is there needs no place to sleep. */
	countdown = -1;
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	ck_assert_int_eq(evd_wait(evd_self(&st.dev.evd), EVD_FOREVER, 1, &event, &nmore), 0);
	countdown = 0;
	cno_story_end(&cs);
	story_end(&st);
}

static int
enable_single(void)
{
	int r = story_enable(&st, EVD_POLICY_SINGLE);

	if (r)
		must(st.dev.evd.policy == EVD_POLICY_DISABLE && !st.dev.evd.channel.id);
	return r;
}

static struct cno cno;

static int
attach(void)
{
	int r = evd_set_listener(evd_self(&st.dev.evd), cno_listener(&cno), &cno);

	if (r)
		must(!st.dev.evd.listener && !st.dev.evd.listener_cookie);
	return r;
}

TEST(sink_change__loop_cannot_watch_the_channel__error_and_nothing_changed)
{
	struct script_options opt = { .channel = SCRIPT_PRIVATE };
	const struct cno_config config = { 0 };

	ck_assert_int_eq(loop_create(LOOP_STEPPED, 0, &opt.loop), 0);
	story_begin(&st, &opt);
	starve(enable_single);
	script_complete(&st.dev, 1);
	story_upcall(&st, 1);
	ck_assert_int_eq(evd_free(evd_self(&st.dev.evd)), 0);
	opt.loop = NULL;
	story_end(&st);

	ck_assert_int_eq(loop_create(LOOP_STEPPED, 0, &opt.loop), 0);
	story_begin(&st, &opt);
	cno_slot_init(&cno);
	ck_assert_int_eq(cno_create(&cno, &config), 0);
	starve(attach);
	story_end(&st);
}

TEST(teardown_and_free__no_place_to_sleep__end_all_the_same)
{
	struct script_options opt = { .channel = SCRIPT_DIRECT };

	ck_assert_int_eq(loop_create(LOOP_THREAD, 0, &opt.loop), 0);
	story_begin(&st, &opt);
	tape_hold(&st.tape);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	script_complete(&st.dev, 1);
	tape_await_inside(&st.tape, 1);
	tape_release(&st.tape);
	park_close_self();
	countdown = -1;
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_TEARDOWN, EVD_PENDING_REFUSE), 0);
	ck_assert_int_eq(st.tape.inside, 0);
	ck_assert_int_eq(evd_free(evd_self(&st.dev.evd)), 0);
	countdown = 0;
	st.tape.read = st.tape.n;
	story_end(&st);
}

TEST(wait__the_sleep_itself_fails__returns_the_error_and_changes_nothing)
{
	struct script_event event;
	int nmore;

	story_begin(&st, NULL);
	ck_assert_ptr_nonnull(park_self());
	countdown = 1;
	ck_assert_int_eq(evd_wait(evd_self(&st.dev.evd), EVD_FOREVER, 1, &event, &nmore), -ENOMEM);
	ck_assert_int_eq(countdown, 0);
	ck_assert(!st.dev.evd.waiting);
	script_complete(&st.dev, 1);
	story_dequeues(&st, 1);
	story_end(&st);
}

static int
make_longer(void)
{
	int r = evd_resize(evd_self(&st.dev.evd), 40);
	struct evd_status status;

	must(evd_query(evd_self(&st.dev.evd), &status) == 0);
	must(status.qlen == (r ? 16 : 40));
	return r;
}

TEST(resize__no_memory__the_queue_stays_as_it_was)
{
	story_begin(&st, NULL);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	starve(make_longer);
	story_dequeues(&st, 100);
	story_end(&st);
}

static int
post_first(void)
{
	const int r = script_post(&st.dev, 100);

	must(r == 0 || r == -ENOMEM);
	return r;
}

TEST(first_post__no_memory__refused_and_nothing_changed)
{
	const struct script_options opt = { .qlen = 2, .posted_on_demand = true };

	story_begin(&st, &opt);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	starve(post_first);
	ck_assert_uint_eq(st.dev.evd.counters.software, 1);
	/* From now on posts need no memory. */
	countdown = -1;
	ck_assert_int_eq(script_post(&st.dev, 101), 0);
	ck_assert_int_eq(script_post(&st.dev, 102), -ENOSPC);
	countdown = 0;
	story_settle(&st);
	story_upcall(&st, 100);
	story_upcall(&st, 101);
	story_expect_nothing(&st);
	story_end(&st);
}

TEST(first_post__no_memory__what_was_held_for_it_is_released)
{
	const struct script_options opt = { .qlen = 4, .posted_on_demand = true };
	const struct script_event event = script_event(100);
	struct evd_hold held;
	const struct evd_order order = { .endpoint = &held, .hold = &held };

	story_begin(&st, &opt);
	ck_assert_int_eq(evd_hold_init(&held, 4), 0);
	st.dev.hold[1] = &held;
	evd_hold_begin(evd_self(&st.dev.evd), &held);
	script_complete_on(&st.dev, 1, 1);
	story_empty(&st);
	countdown = -1;
	ck_assert_int_eq(
	    evd_post_ordered(evd_self(&st.dev.evd), EVD_STREAM_CONNECTION, &event, &order),
	    -ENOMEM);
	countdown = 0;
	story_dequeues(&st, 1);
	story_empty(&st);
	evd_purge(evd_self(&st.dev.evd), &held, NULL, NULL, NULL);
	evd_hold_fini(&held);
	story_end(&st);
}

static int
empty_the_device(void)
{
	const int r = evd_drain(evd_self(&st.dev.evd));

	must(st.dev.count == (r ? 4 : 0));
	return r;
}

TEST(drain__no_memory__what_has_no_room_stays_in_the_device)
{
	story_begin(&st, NULL);
	for (uint64_t i = 0; i < 20; i++)
		script_complete(&st.dev, i);
	starve(empty_the_device);
	for (uint64_t i = 0; i < 20; i++)
		story_dequeues(&st, i);
	story_empty(&st);
	story_end(&st);
}

TEST(enable__loop_cannot_watch_the_channel__a_waiter_still_reads_it)
{
	struct script_options opt = { .channel = SCRIPT_PRIVATE };
	struct waiter w;

	ck_assert_int_eq(loop_create(LOOP_STEPPED, 0, &opt.loop), 0);
	story_begin(&st, &opt);
	countdown = -1;
	ck_assert(is_want(enable_single()));
	countdown = 0;
	waiter_start(&w, &st.dev, EVD_FOREVER, 1);
	script_complete(&st.dev, 1);
	ck_assert_int_eq(waiter_join(&w), 0);
	story_end(&st);
}

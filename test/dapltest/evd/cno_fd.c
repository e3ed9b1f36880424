/* SPDX-License-Identifier: BSD-3-Clause */
/* A CNO with a descriptor: readable while and only while it is triggered. */
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "cno_story.h"

static struct cno cno;
static int ended;

static void
gone(struct cno *c)
{
	(void)c;
	ended++;
}

static void
setup(void)
{
	const struct cno_config config = { .with_fd = true, .destroyed = gone };
	struct cno_config with_loop = config;

	story_begin(&st, NULL);
	ended = 0;
	with_loop.loop = st.loop;
	cno_slot_init(&cno);
	ck_assert_int_eq(cno_create(&cno, &with_loop), 0);
	ck_assert_int_eq(cno_attach_evd(cno_self(&cno)), 0);
	ck_assert_int_eq(evd_set_listener(evd_self(&st.dev.evd), cno_listener(&cno), &cno), 0);
	story_settle(&st);
}

static void
teardown(void)
{
	ck_assert_int_eq(evd_set_listener(evd_self(&st.dev.evd), NULL, NULL), 0);
	if (cno.evds)
		cno_detach_evd(&cno);
	ck_assert_int_eq(cno_free(cno_self(&cno), false), 0);
	ck_assert_int_eq(ended, 1);
	story_end(&st);
}

static bool
readable_fd(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

static bool
readable(void)
{
	return readable_fd(cno_fd(&cno));
}

static void
post_and_tell(uint64_t id)
{
	ck_assert_int_eq(script_post(&st.dev, id), 0);
	story_settle(&st);
}

CASE("cno_fd:fd", setup, teardown);

TEST(trigger__nothing_came__returns_queue_empty)
{
	void *handle = &st;

	ck_assert(!readable());
	ck_assert_int_eq(cno_trigger(cno_self(&cno), &handle), -EAGAIN);
	ck_assert_ptr_null(handle);
}

TEST(trigger__notified_twice__is_consumed_at_once_and_shown_again_by_the_next)
{
	void *handle;

	for (uint64_t i = 0; i < 3; i++) {
		post_and_tell(100 + 2 * i);
		post_and_tell(101 + 2 * i);
		ck_assert(readable());
		ck_assert_int_eq(cno_trigger(cno_self(&cno), &handle), 0);
		ck_assert_ptr_eq(handle, st.dev.evd.cfg.handle);
		ck_assert(!readable());
		ck_assert_int_eq(cno_trigger(cno_self(&cno), &handle), -EAGAIN);
		story_dequeues(&st, 100 + 2 * i);
		story_dequeues(&st, 101 + 2 * i);
	}
}

static void
expect_trywait(const void *evd)
{
	void *handle = &st;

	ck_assert_int_eq(cno_trywait(cno_self(&cno), &handle), evd ? 0 : -EAGAIN);
	ck_assert_ptr_eq(handle, evd);
}

TEST(trywait__events_are_left__names_the_evd_until_it_is_empty)
{
	const void *evd = st.dev.evd.cfg.handle;

	expect_trywait(NULL);
	for (uint64_t i = 100; i < 103; i++)
		post_and_tell(i);
	ck_assert(readable());
	for (uint64_t i = 100; i < 103; i++) {
		expect_trywait(evd);
		ck_assert(!readable());
		story_dequeues(&st, i);
	}
	expect_trywait(NULL);
	ck_assert(!readable());
	post_and_tell(103);
	ck_assert(readable());
	expect_trywait(evd);
	expect_trywait(evd); /* it was not dequeued */
	story_dequeues(&st, 103);
	expect_trywait(NULL);
}

/* Also after the trigger was taken by another call. */
TEST_LOOP(trywait__after_trigger_and_wait__names_the_evd, 2)
{
	void *handle;

	post_and_tell(100);
	post_and_tell(101);
	ck_assert_int_eq(
	    (_i ? cno_wait(cno_self(&cno), 0, &handle) : cno_trigger(cno_self(&cno), &handle)), 0);
	story_dequeues(&st, 100);
	ck_assert_int_eq(cno_trigger(cno_self(&cno), &handle), -EAGAIN);
	expect_trywait(st.dev.evd.cfg.handle);
	story_dequeues(&st, 101);
	expect_trywait(NULL);
}

/* The completions that a dequeue has polled are left for it. */
TEST(trywait__completions_are_left__names_the_evd)
{
	const void *evd = st.dev.evd.cfg.handle;

	for (uint64_t i = 1; i <= 3; i++)
		script_complete(&st.dev, i);
	story_settle(&st);
	for (uint64_t i = 1; i <= 3; i++) {
		expect_trywait(evd);
		story_dequeues(&st, i);
	}
	expect_trywait(NULL);
	script_complete(&st.dev, 4);
	story_settle(&st);
	ck_assert(readable());
	expect_trywait(evd);
	story_dequeues(&st, 4);
}

TEST(trywait__evd_is_disabled_or_leaves__names_it_not)
{
	void *handle;

	post_and_tell(100);
	post_and_tell(101);
	ck_assert_int_eq(cno_trigger(cno_self(&cno), &handle), 0);
	ck_assert_int_eq(evd_set_enabled(evd_self(&st.dev.evd), false), 0);
	expect_trywait(NULL);
	ck_assert_int_eq(evd_set_enabled(evd_self(&st.dev.evd), true), 0);
	story_settle(&st);
	expect_trywait(st.dev.evd.cfg.handle);
	ck_assert_int_eq(evd_set_listener(evd_self(&st.dev.evd), NULL, NULL), 0);
	expect_trywait(NULL);
	story_dequeues(&st, 100);
	story_dequeues(&st, 101);
}

TEST(wait__consumes_the_trigger__fd_is_not_readable)
{
	void *handle;

	post_and_tell(100);
	ck_assert_int_eq(cno_wait(cno_self(&cno), 0, &handle), 0);
	ck_assert(!readable());
	ck_assert_int_eq(cno_wait(cno_self(&cno), 0, &handle), -ETIMEDOUT);
	story_dequeues(&st, 100);
}

TEST(evd_leaves__its_trigger_goes_with_it)
{
	post_and_tell(100);
	ck_assert(readable());
	ck_assert_int_eq(evd_set_listener(evd_self(&st.dev.evd), NULL, NULL), 0);
	ck_assert(!readable());
	story_dequeues(&st, 100);
}

TEST(last_evd_leaves__is_a_trigger_of_its_own)
{
	void *handle = &st;

	cno_detach_evd(&cno);
	ck_assert(readable());
	ck_assert_int_eq(cno_trigger(cno_self(&cno), &handle), 0);
	ck_assert_ptr_null(handle);
	ck_assert(!readable());
	ck_assert_int_eq(cno_trigger(cno_self(&cno), &handle), -EAGAIN);
	ck_assert_int_eq(cno_attach_evd(cno_self(&cno)), 0);
	cno_detach_evd(&cno);
	ck_assert_int_eq(cno_wait(cno_self(&cno), 0, &handle), 0);
	ck_assert_ptr_null(handle);
	ck_assert(!readable());
	ck_assert_int_eq(cno_attach_evd(cno_self(&cno)), 0);
	cno_detach_evd(&cno);
	ck_assert_int_eq(cno_attach_evd(cno_self(&cno)), 0); /* not forsaken any more */
	ck_assert(!readable());
	post_and_tell(100);
	ck_assert_int_eq(cno_trigger(cno_self(&cno), &handle), 0);
	ck_assert_ptr_eq(handle, st.dev.evd.cfg.handle);
	story_dequeues(&st, 100);
}

TEST(without_a_descriptor__cannot_be_asked)
{
	const struct cno_config config = { .destroyed = gone };
	void *handle = &st;
	static struct cno plain;

	cno_slot_init(&plain);
	ck_assert_int_eq(cno_create(&plain, &config), 0);
	ck_assert_int_eq(cno_fd(&plain), -1);
	ck_assert_int_eq(cno_trigger(cno_self(&plain), &handle), -EINVAL);
	ck_assert_int_eq(cno_trywait(cno_self(&plain), &handle), -EINVAL);
	ck_assert_int_eq(cno_attach_evd(cno_self(&plain)), 0);
	cno_detach_evd(&plain);
	ck_assert_int_eq(cno_wait(cno_self(&plain), 0, &handle), -ETIMEDOUT);
	ck_assert_int_eq(cno_free(cno_self(&plain), false), 0);
	ck_assert_int_eq(cno_trigger(cno_self(&plain), &handle), -ENODEV);
	ck_assert_int_eq(ended, 1);
	ended = 0;
}

TEST(freed__a_poller_sees_it_readable_and_the_descriptor_is_closed)
{
	const struct cno_config config = { .with_fd = true, .destroyed = gone };
	struct pollfd p = { .events = POLLIN };
	static struct cno other;
	void *handle;

	cno_slot_init(&other);
	ck_assert_int_eq(cno_create(&other, &config), 0);
	p.fd = dup(cno_fd(&other));
	ck_assert_int_eq(poll(&p, 1, 0), 0);
	ck_assert_int_eq(cno_free(cno_self(&other), false), 0);
	ck_assert_int_eq(poll(&p, 1, 0), 1);
	ck_assert_int_eq(fcntl(cno_fd(&other), F_GETFD), -1);
	ck_assert_int_eq(cno_trigger(cno_self(&other), &handle), -ENODEV);
	close(p.fd);
	ended = 0;
}

/* Its last EVD leaves: the trigger that needs no dispatcher. */
static void
desert(struct cno *c)
{
	void *handle = &st;

	ck_assert(!readable_fd(cno_fd(c)));
	ck_assert_int_eq(cno_trigger(cno_self(c), &handle), -EAGAIN);
	ck_assert_int_eq(cno_attach_evd(cno_self(c)), 0);
	cno_detach_evd(c);
	ck_assert(readable_fd(cno_fd(c)));
	ck_assert_int_eq(cno_trigger(cno_self(c), &handle), 0);
	ck_assert_ptr_null(handle);
	ck_assert(!readable_fd(cno_fd(c)));
}

TEST(opened_again__the_last_one_was_freed_readable__begins_not_readable)
{
	const struct cno_config config = { .with_fd = true, .destroyed = gone };
	static struct cno slot;

	cno_slot_init(&slot);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(cno_create(&slot, &config), 0);
		desert(&slot);
		ck_assert_int_eq(cno_free(cno_self(&slot), false), 0); /* shown as readable */
	}
	ended = 0;
}

TEST(descriptor__standard_input_is_closed__does_not_take_its_place)
{
	const struct cno_config config = { .with_fd = true, .destroyed = gone };
	const int saved = dup(STDIN_FILENO);
	static struct cno zero;
	int fd;

	ck_assert_int_ge(saved, 0);
	ck_assert_int_eq(close(STDIN_FILENO), 0);
	cno_slot_init(&zero);
	ck_assert_int_eq(cno_create(&zero, &config), 0);
	fd = cno_fd(&zero);
	desert(&zero);
	ck_assert_int_eq(cno_free(cno_self(&zero), false), 0);
	ck_assert_int_eq(fcntl(STDIN_FILENO, F_GETFD), -1);
	ck_assert_int_eq(dup2(saved, STDIN_FILENO), STDIN_FILENO);
	close(saved);
	ck_assert_int_gt(fd, STDERR_FILENO);
	ended = 0;
}

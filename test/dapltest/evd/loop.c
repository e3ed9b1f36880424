/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop by itself: which descriptors it reads. */
#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "evd/loop.h"
#include "evd/park.h"

#include "script.h"

static struct loop *loop;

struct source {
	int fd;
	struct loop_ticket ticket;
	int entered;
	void (*then)(struct source *s);
	struct source *other;
};

static void
readable(void *arg, uint64_t serial)
{
	struct source *s = arg;

	(void)serial;
	must(loop_current() == loop);
	(void)os_event_clear(s->fd);
	__atomic_add_fetch(&s->entered, 1, __ATOMIC_SEQ_CST);
	if (s->then)
		s->then(s);
}

static void
source_open_with(struct source *s, void (*then)(struct source *))
{
	*s = (struct source){ .fd = os_event_open(false), .then = then };
	ck_assert_int_ge(s->fd, 0);
	ck_assert_int_eq(loop_add(loop, s->fd, readable, s, 0, &s->ticket), 0);
}

static void
source_open(struct source *s)
{
	source_open_with(s, NULL);
}

static void
source_close(struct source *s)
{
	loop_remove(loop, &s->ticket);
	os_close(s->fd);
}

static void
stepped(void)
{
	ck_assert_int_eq(loop_create(LOOP_STEPPED, 0, &loop), 0);
}

static void
destroy(void)
{
	loop_free(loop);
	park_close_self();
}

CASE("evd_loop:loop", stepped, destroy);

TEST(step__nothing_to_do__returns_zero_and_keeps_time)
{
	uint64_t before = os_clock_ns();

	ck_assert_int_eq(loop_step(loop, 0), 0);
	ck_assert_int_eq(loop_step(loop, 20), 0);
	ck_assert_uint_ge(os_clock_ns() - before, 19000000u);
	ck_assert_ptr_null(loop_current());
}

TEST(step__readable_source__handler_entered_inside_the_loop)
{
	struct source s;

	source_open(&s);
	os_event_set(s.fd);
	ck_assert_int_eq(loop_step(loop, 0), 1);
	ck_assert_int_eq(s.entered, 1);
	ck_assert_int_eq(loop_step(loop, 0), 0);
	source_close(&s);
}

static void
end_of_pipe(void *arg, uint64_t serial)
{
	struct source *s = arg;
	char byte;

	(void)serial;
	s->entered++;
	if (read(s->fd, &byte, 1) == 0)
		loop_forget(loop, &s->ticket);
}

/* A descriptor that reports more than data, here a hang-up, reaches its handler: nothing spins. */
/* origin: peer.34 */
TEST(step__source_readable_and_hung_up__handler_entered)
{
	struct source s = { .fd = -1 };
	int fds[2];

	ck_assert_int_eq(pipe(fds), 0);
	s.fd = fds[0];
	ck_assert_int_eq(loop_add(loop, s.fd, end_of_pipe, &s, 0, &s.ticket), 0);
	ck_assert_int_eq(write(fds[1], "x", 1), 1);
	close(fds[1]); /* now it is readable, and hung up */
	for (int i = 0; i < 4; i++)
		(void)loop_step(loop, 0);
	ck_assert_int_eq(s.entered, 2); /* the byte; the end */
	loop_remove(loop, &s.ticket);
	close(fds[0]);
}

TEST(watch__off_and_on__level_triggered)
{
	struct source s;

	source_open(&s);
	loop_watch(loop, &s.ticket, false);
	os_event_set(s.fd);
	ck_assert_int_eq(loop_step(loop, 0), 0);
	loop_watch(loop, &s.ticket, true);
	ck_assert_int_eq(loop_step(loop, 0), 1);
	source_close(&s);
	loop_watch(loop, &s.ticket, true); /* a stale ticket: nothing */
}

TEST(add__many_sources__all_served_and_slots_used_again)
{
	struct source s[40];

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 40; i++) {
			source_open(&s[i]);
			os_event_set(s[i].fd);
		}
		while (loop_step(loop, 0) > 0)
			;
		for (int i = 0; i < 40; i++) {
			ck_assert_int_eq(s[i].entered, 1);
			source_close(&s[i]);
		}
	}
}

TEST(add__bad_descriptor__refused_and_ticket_untouched)
{
	struct loop_ticket ticket = { .id = 77 };

	ck_assert_int_eq(loop_add(loop, -1, readable, NULL, 0, &ticket), -EBADF);
	ck_assert_uint_eq(ticket.id, 77);
}

TEST(add__descriptor_0__is_one_like_any_other)
{
	struct source s = { .fd = 0 }, other;
	int fd = os_event_open(false), before = dup(0);

	/* A program that closed its standard input gets this number for a channel. */
	ck_assert_int_eq(dup2(fd, 0), 0);
	ck_assert_int_eq(loop_add(loop, 0, readable, &s, 0, &s.ticket), 0);
	source_open(&other); /* another place in the table */
	os_event_set(0);
	ck_assert_int_eq(loop_step(loop, 0), 1);
	ck_assert_int_eq(s.entered, 1);
	source_close(&other);
	loop_remove(loop, &s.ticket);
	os_event_set(0);
	ck_assert_int_eq(loop_step(loop, 0), 0);
	os_close(fd);
	if (before < 0) {
		os_close(0);
	} else {
		ck_assert_int_eq(dup2(before, 0), 0);
		os_close(before);
	}
}

static void
remove_other_and_reuse(struct source *s)
{
	/* Both were reported by the same epoll_wait(): the other's report is stale from here on. */
	source_close(s->other);
	source_open(s->other);
}

/* origin: race.X5 */
TEST(remove__in_a_batch_already_fetched__the_successor_is_not_entered)
{
	struct source a, b;

	source_open(&a);
	source_open(&b);
	a.then = b.then = remove_other_and_reuse;
	a.other = &b;
	b.other = &a;
	os_event_set(a.fd);
	os_event_set(b.fd);
	(void)loop_step(loop, 0);
	/* Each would remove the other: exactly one got to. */
	ck_assert_int_eq(a.entered + b.entered, 1);
	source_close(&a);
	source_close(&b);
}

static void
remove_self(struct source *s)
{
	loop_remove(loop, &s->ticket);
}

static void
remove_other(struct source *s)
{
	loop_remove(loop, &s->other->ticket);
}

TEST(remove__in_a_batch_already_fetched__not_entered)
{
	struct source a, b;

	source_open_with(&a, remove_other);
	source_open_with(&b, remove_other);
	a.other = &b;
	b.other = &a;
	os_event_set(a.fd);
	os_event_set(b.fd);
	ck_assert_int_eq(loop_step(loop, 0), 1);
	ck_assert_int_eq(a.entered + b.entered, 1);
	source_close(&a);
	source_close(&b);
}

TEST(remove__from_its_own_handler__does_not_wait)
{
	struct source s;

	source_open(&s);
	s.then = remove_self;
	os_event_set(s.fd);
	ck_assert_int_eq(loop_step(loop, 0), 1);
	os_event_set(s.fd);
	ck_assert_int_eq(loop_step(loop, 0), 0);
	os_close(s.fd);
}

TEST(remove__descriptor_open_and_readable__the_loop_sleeps)
{
	uint64_t before;
	struct source s;

	source_open(&s);
	os_event_set(s.fd);
	loop_remove(loop, &s.ticket);
	before = os_clock_ns();
	ck_assert_int_eq(loop_step(loop, 10), 0);
	ck_assert_uint_ge(os_clock_ns() - before, 9000000u);
	os_close(s.fd);
}

static void
park_and_be_readable(struct source *s)
{
	must(s->entered == 1);
	os_event_set(s->fd);
	/* This thread pumps the loop, but the handler it is in reads on by itself. */
	for (int i = 0; i < 3; i++)
		(void)park_sleep(park_self(), os_clock_ns() + 1000000u, -1, NULL);
	s->then = NULL;
}

TEST(handler_that_sleeps__its_source_readable__not_entered_again)
{
	struct source s;

	source_open_with(&s, park_and_be_readable);
	os_event_set(s.fd);
	ck_assert_int_eq(loop_step(loop, 0), 1);
	ck_assert_int_eq(s.entered, 1);
	ck_assert_int_eq(loop_step(loop, 0), 1);
	ck_assert_int_eq(s.entered, 2);
	source_close(&s);
}

static int dawdled;

static void
dawdle(struct source *s)
{
	(void)s;
	script_sleep_ms(30);
	__atomic_store_n(&dawdled, 1, __ATOMIC_SEQ_CST);
}

TEST(remove__handler_runs_elsewhere__waits_for_it)
{
	struct source s;

	loop_free(loop);
	ck_assert_int_eq(loop_create(LOOP_THREAD, 0, &loop), 0);
	source_open_with(&s, dawdle);
	os_event_set(s.fd);
	while (__atomic_load_n(&s.entered, __ATOMIC_SEQ_CST) == 0)
		script_sleep_ms(0);
	loop_remove(loop, &s.ticket);
	ck_assert_int_eq(__atomic_load_n(&dawdled, __ATOMIC_SEQ_CST), 1);
	os_close(s.fd);
}

TEST(destroy__null__nothing)
{
	loop_free(NULL);
}

TEST(remove__twice_or_never_added__nothing)
{
	struct loop_ticket none = { 0 };
	struct source s;

	source_open(&s);
	loop_remove(loop, &s.ticket);
	ck_assert_uint_eq(s.ticket.id, 0);
	loop_remove(loop, &s.ticket);
	loop_remove(loop, &none);
	loop_forget(loop, &none);
	ck_assert_uint_eq(none.id, 0);
	os_event_set(s.fd);
	ck_assert_int_eq(loop_step(loop, 0), 0);
	os_close(s.fd);
}

/* As by closefrom(3): the thread cannot be woken, and no call waits for it. */
/* origin: out33.G3 */
TEST(free__program_has_closed_the_descriptors__does_not_wait)
{
	struct loop *own;
	int status;
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		if (loop_create(LOOP_THREAD, 0, &own))
			_exit(1);
		script_sleep_ms(10); /* most often the thread sleeps then */
		for (int fd = 3; fd < 64; fd++)
			os_close(fd);
		loop_free(own);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}

TEST(create__standard_input_is_closed__its_place_stays_free)
{
	struct loop *own;
	int before = dup(0);

	os_close(0); /* as of a program without a standard input */
	ck_assert_int_eq(loop_create(LOOP_STEPPED, 0, &own), 0);
	ck_assert_int_eq(loop_step(own, 0), 0);
	ck_assert_int_eq(fcntl(0, F_GETFD), -1);
	loop_free(own);
	if (before >= 0) {
		ck_assert_int_eq(dup2(before, 0), 0);
		os_close(before);
	}
}

TEST(create__stepped__no_thread_whatever_is_asked_for)
{
	int before = runner_count_threads();
	struct loop *own;

	ck_assert_int_eq(loop_create(LOOP_STEPPED, 3, &own), 0);
	ck_assert_int_eq(runner_await_threads(before), before);
	loop_free(own);
}

/* ---- how much a handler reads at once ---- */

struct notifications {
	int left, reads, error;
};

static int
read_notification(void *arg)
{
	struct notifications *n = arg;

	n->reads++;
	if (n->left == 0)
		return n->error;
	n->left--;
	return 1;
}

TEST(read_some__one_at_a_time__hardly_ever_a_vain_read)
{
	struct loop_pace pace = { 0 };
	struct notifications n = { 0 };

	for (int i = 0; i < 1000; i++) {
		n.left = 1;
		(void)loop_read_some(&pace, read_notification, &n);
		ck_assert_int_eq(n.left, 0);
	}
	ck_assert_int_le(n.reads, 1000 + 1000 / LOOP_SINGLES + 6);
}

TEST(read_some__many_each_time__read_together)
{
	struct loop_pace pace = { 0 };
	struct notifications n = { 0 };
	int turns = 0;

	for (int i = 0; i < 100; i++)
		for (n.left = 20; n.left > 0; turns++)
			(void)loop_read_some(&pace, read_notification, &n);
	ck_assert_int_eq(turns, 100);
	ck_assert_int_eq(n.reads, 100 * 21);
}

TEST(read_some__first_few_and_then_many__notices_it)
{
	struct loop_pace pace = { 0 };
	struct notifications n = { 0 };
	int turns = 0;

	for (int i = 0; i < 1000; i++) {
		n.left = 1;
		(void)loop_read_some(&pace, read_notification, &n);
	}
	for (n.left = 1000; n.left > 0; turns++)
		(void)loop_read_some(&pace, read_notification, &n);
	ck_assert_int_le(turns, LOOP_SINGLES + 1000 / LOOP_READS + 2);
}

TEST(read_some__error__returned)
{
	struct loop_pace pace = { 0 };
	struct notifications n = { .error = -EIO };

	ck_assert_int_eq(loop_read_some(&pace, read_notification, &n), -EIO);
	n.left = 2;
	ck_assert_int_eq(loop_read_some(&pace, read_notification, &n), -EIO);
	ck_assert_int_eq(n.left, 0);
}

/* ---- jobs of a pool ---- */

static struct loop_job first, second;
static int second_ran;

static void
run_second(struct loop_job *job, uint64_t serial)
{
	(void)job;
	(void)serial;
	__atomic_add_fetch(&second_ran, 1, __ATOMIC_SEQ_CST);
}

static void
await_second(struct loop_job *job, uint64_t serial)
{
	(void)job;
	while (__atomic_load_n(&second_ran, __ATOMIC_SEQ_CST) < (int)serial)
		script_sleep_ms(0);
}

/* Both become ready before a thread wakes, mostly, so that one wake-up stands for both. */
TEST(pool__a_job_blocks__another_thread_takes_the_next)
{
	struct loop *pool;

	ck_assert_int_eq(loop_create(LOOP_POOL, 2, &pool), 0);
	second_ran = 0;
	first = (struct loop_job){ .run = await_second };
	second = (struct loop_job){ .run = run_second };
	for (int i = 1; i <= 200; i++) {
		first.serial = (uint64_t)i;
		loop_ready(pool, &first);
		loop_ready(pool, &second);
		while (__atomic_load_n(&second_ran, __ATOMIC_SEQ_CST) < i)
			script_sleep_ms(0);
	}
	loop_free(pool);
}

/* ---- a job with an owner ---- */

static struct owner {
	struct os_mutex lock;
	struct loop_job job;
	bool queued; /* and not popped yet */
	int ran;
} owner;

static void
run_owned(struct loop_job *job, uint64_t serial)
{
	(void)job;
	(void)serial;
	os_lock(&owner.lock);
	owner.queued = false;
	owner.ran++;
	os_unlock(&owner.lock);
}

/*
 * The thread of the loop moves the job to the ready list under its own lock alone: it may touch
 * nothing that the owner reads without that.  Only the thread sanitizer sees it.
 */
TEST(job__becomes_due_while_its_owner_moves_it__they_share_nothing)
{
	struct loop *own;

	owner = (struct owner){ .job.run = run_owned };
	os_mutex_init(&owner.lock);
	ck_assert_int_eq(loop_create(LOOP_THREAD, 1, &own), 0);
	for (int i = 0; i < 2000; i++) {
		os_lock(&owner.lock);
		if (!owner.queued || loop_unready(&owner.job)) {
			loop_ready_later(own, &owner.job, 1000);
			owner.queued = true;
		}
		os_unlock(&owner.lock);
		if (i % 3 == 0)
			sched_yield();
	}
	os_lock(&owner.lock);
	ck_assert_ptr_eq(owner.job.on, own);
	(void)loop_unready(&owner.job);
	os_unlock(&owner.lock);
	loop_free(own);
	os_mutex_fini(&owner.lock);
}

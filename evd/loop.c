/* SPDX-License-Identifier: BSD-3-Clause */
#include "evd/loop.h"

#include "evd/loop_body.h"

/* ---- the job lists ---- */

static void
loop_list_init(struct loop_job *head) UNCHECKED
{
	head->next = head->prev = head;
}

/* It has no job and no source yet. */
static void
loop_lists_init(struct loop *loop) UNCHECKED
{
	loop_list_init(&loop->ready);
	loop_list_init(&loop->delayed);
	loop->drained = true;
}

static bool
loop_list_empty(const struct loop_job *head) REQUIRES(core_locks.loop)
{
	return head->next == head;
}

static void
loop_list_append(struct loop_job *head, struct loop_job *job) REQUIRES(core_locks.loop)
{
	job->prev = head->prev;
	job->next = head;
	head->prev->next = job;
	head->prev = job;
}

static void
loop_list_unlink(struct loop_job *job) REQUIRES(core_locks.loop)
{
	job->prev->next = job->next;
	job->next->prev = job->prev;
	job->next = job->prev = NULL;
}

/* Puts a job, which is on no list, on the list for `place`. */
static void
loop_list_locked(struct loop *loop, struct loop_job *job, enum loop_place place)
    REQUIRES(core_locks.loop)
{
	job->place = place;
	job->turn = loop->turn;
	loop_list_append(place == LOOP_JOB_DELAYED ? &loop->delayed : &loop->ready, job);
}

/*
 * The same, for the owner of the job, which alone decides about the loop and so may read `on`
 * without the lock.
 */
static void
loop_queue_locked(struct loop *loop, struct loop_job *job, enum loop_place place)
    REQUIRES(core_locks.loop)
{
	ASSUME(job->place == LOOP_JOB_OFF);
	job->on = loop;
	loop_list_locked(loop, job, place);
}

static void
loop_unqueue_locked(struct loop_job *job) REQUIRES(core_locks.loop)
{
	loop_list_unlink(job);
	job->place = LOOP_JOB_OFF;
}

static uint64_t
loop_promote_some(struct loop *loop) REQUIRES(core_locks.loop)
{
	struct loop_job *job, *next;
	uint64_t now = os_clock_ns(), least = UINT64_MAX;

	for (job = loop->delayed.next; job != &loop->delayed; job = next) {
		next = job->next;
		if (job->due <= now) {
			loop_unqueue_locked(job);
			loop_list_locked(loop, job, LOOP_JOB_READY);
		} else if (job->due < least) {
			least = job->due;
		}
	}
	return least;
}

/*
 * Moves the delayed jobs that are due to the ready list.  Returns when the next one is due;
 * UINT64_MAX: none.
 */
static inline uint64_t
loop_promote_delayed(struct loop *loop) REQUIRES(core_locks.loop)
{
	return loop_list_empty(&loop->delayed) ? UINT64_MAX : loop_promote_some(loop);
}

/* For epoll, which counts milliseconds: rounded up, so that the job is due when the sleep ends. */
static int
loop_ms_until(uint64_t due)
{
	uint64_t now;

	if (due == UINT64_MAX)
		return -1;
	now = os_clock_ns();
	return due > now ? (int)((due - now) / OS_NS_PER_MS) + 1 : 0;
}

/* ---- the doorbell: number of threads asleep = sleeping + tokens ---- */

/* Wakes one thread more. */
static void
loop_ring_locked(struct loop *loop) REQUIRES(core_locks.loop)
{
	if (loop->sleeping > 0) {
		loop->sleeping--;
		loop->tokens++;
		if (loop->kind != LOOP_POOL) {
			os_event_set(loop->doorbell);
		} else {
			(void)os_flag_swap(&loop->bell, os_flag_get(&loop->bell) + 1);
			os_flag_wake(&loop->bell);
		}
	}
}

/*
 * Work has come.  A token in the doorbell is for a thread that has not taken the lock since: it
 * finds this work, too.  If it takes one job of several, loop_run_next() wakes the next thread.
 */
static void
loop_wake_locked(struct loop *loop) REQUIRES(core_locks.loop)
{
	if (loop->tokens == 0)
		loop_ring_locked(loop);
}

/* Takes a token, if there is one: a token that stays would wake one thread after the other. */
static void
loop_awake_locked(struct loop *loop) REQUIRES(core_locks.loop)
{
	if (loop->tokens > 0) {
		loop->tokens--;
		if (loop->kind != LOOP_POOL)
			(void)os_event_clear(loop->doorbell);
	} else {
		loop->sleeping--;
	}
}

int
loop_fd(const struct loop *loop)
{
	return loop->epfd;
}

/* ---- jobs ---- */

void
loop_ready(struct loop *loop, struct loop_job *job)
{
	loop_lock(loop);
	loop_queue_locked(loop, job, LOOP_JOB_READY);
	loop_wake_locked(loop);
	loop_unlock(loop);
}

void
loop_defer(struct loop *loop, struct loop_job *job)
{
	loop_lock(loop);
	loop_queue_locked(loop, job, LOOP_JOB_DEFERRED);
	loop_unlock(loop);
}

void
loop_ready_later(struct loop *loop, struct loop_job *job, uint64_t delay_ns)
{
	loop_lock(loop);
	job->due = os_clock_ns() + delay_ns;
	loop_queue_locked(loop, job, LOOP_JOB_DELAYED);
	loop_wake_locked(loop); /* the sleeping thread computes its timeout again */
	loop_unlock(loop);
}

void
loop_hasten(struct loop_job *job)
{
	struct loop *loop = job->on;

	if (!loop)
		return;
	loop_lock(loop);
	if (job->place == LOOP_JOB_DEFERRED || job->place == LOOP_JOB_DELAYED) {
		loop_unqueue_locked(job);
		loop_list_locked(loop, job, LOOP_JOB_READY);
		loop_wake_locked(loop);
	}
	loop_unlock(loop);
}

bool
loop_unready(struct loop_job *job)
{
	struct loop *loop = job->on;
	bool listed;

	if (!loop)
		return false;
	loop_lock(loop);
	listed = job->place != LOOP_JOB_OFF;
	if (listed)
		loop_unqueue_locked(job);
	loop_unlock(loop);
	return listed;
}

/*
 * Runs the first job, if there is one that became ready before the turn `before`.  Drops the lock
 * for it.
 */
static inline bool
loop_run_next(struct loop *loop, uint64_t before) REQUIRES(core_locks.loop)
{
	struct loop_job *job = loop->ready.next;
	void (*run)(struct loop_job *, uint64_t);
	uint64_t serial;

	if (job == &loop->ready || job->turn >= before)
		return false;
	loop_unqueue_locked(job);
	/* Read under the lock: the memory may be reused from now on. */
	run = job->run;
	serial = job->serial;
	/* The job may block. */
	if (loop->kind == LOOP_POOL && !loop_list_empty(&loop->ready))
		loop_wake_locked(loop);
	loop_unlock(loop);
	os_self()->spent++;
	run(job, serial);
	loop_lock(loop);
	return true;
}

/*
 * Runs each job that is ready now once, or the first one if this is a pool; returns how many.  Jobs
 * that become ready meanwhile wait for the next turn.
 */
static inline int
loop_run_ready(struct loop *loop) REQUIRES(core_locks.loop)
{
	const uint64_t before = ++loop->turn;
	int done = 0;

	if (loop->kind == LOOP_POOL)
		return loop_run_next(loop, before);
	while (loop_run_next(loop, before))
		done++;
	return done;
}

/*
 * True if a turn has to read the sources although jobs are ready.  A busy EVD must not keep the
 * other sources from being read.  A run ends after EVD_BUDGET events, so the sources are read at
 * the latest after LOOP_SPAN jobs and events, and one run of each EVD that is ready: this is hardly
 * later than if each turn read them.  A read when jobs are ready costs as much as several events.
 */
static bool
loop_must_read(const struct loop *loop) REQUIRES(core_locks.loop)
{
	switch (loop->kind) {
	case LOOP_THREAD:
		return os_self()->spent >= LOOP_SPAN;
	case LOOP_POOL:
		return false;
	case LOOP_STEPPED: /* its caller expects it of each turn */
		break;
	}
	return true;
}

/* Waits for readable sources, if no job is ready, and reads them; returns how many. */
static inline __attribute__((always_inline)) int
loop_read(struct loop *loop, bool asleep, int timeout_ms, uint64_t due) REQUIRES(core_locks.loop)
{
	struct os_self *self = os_self();
	struct epoll_event events[LOOP_BATCH];
	int n, due_ms;

	loop_unlock(loop);
	due_ms = asleep ? loop_ms_until(due) : 0;
	if (due_ms >= 0 && (timeout_ms < 0 || due_ms < timeout_ms))
		timeout_ms = due_ms;

	n = os_epoll_wait(loop->epfd, events, LOOP_BATCH, timeout_ms);

	self->spent = 0;
	loop_lock(loop);
	if (asleep)
		loop_awake_locked(loop);
	loop->drained = n == 0;
	n = loop_serve(loop, events, n);
	(void)loop_promote_delayed(loop);
	return n;
}

/*
 * A thread of a pool sleeps until a job is ready or due.  The bell is read under the lock: a token
 * that comes after that has changed it.
 */
static void
loop_doze(struct loop *loop, uint64_t due) REQUIRES(core_locks.loop)
{
	const uint32_t bell = os_flag_get(&loop->bell);

	loop_unlock(loop);
	(void)os_flag_wait(&loop->bell, bell, due);
	loop_lock(loop);
	loop_awake_locked(loop);
	(void)loop_promote_delayed(loop);
}

/*
 * One turn: sleeps if nothing is ready, reads every readable source unless there is other work,
 * then runs each job that is ready by then once.
 */
static int
loop_turn(struct loop *loop, int timeout_ms) REQUIRES(core_locks.loop)
{
	const uint64_t due = loop_promote_delayed(loop);
	const bool asleep = loop_list_empty(&loop->ready) && !loop->stop;
	int done = 0;

	if (asleep)
		loop->sleeping++;
	if (asleep && loop->kind == LOOP_POOL)
		loop_doze(loop, due);
	else if (asleep || loop_must_read(loop))
		done = loop_read(loop, asleep, timeout_ms, due);
	return done + loop_run_ready(loop);
}

int
loop_step(struct loop *loop, int timeout_ms)
{
	struct os_self *self = os_self();
	struct loop_outer outer = { self->outer, self->loop };
	int done;

	self->outer = &outer;
	self->loop = loop;
	loop_lock(loop);
	done = loop_turn(loop, timeout_ms);
	loop_unlock(loop);
	self->loop = outer.loop;
	self->outer = outer.next;
	return done;
}

bool
loop_is_inside(const struct loop *loop)
{
	const struct os_self *self = os_self();
	bool inside = self->loop == loop;

	for (const struct loop_outer *outer = self->outer; outer && !inside; outer = outer->next)
		inside = outer->loop == loop;
	return inside;
}

/* ---- pumping: a thread of the loop is parked inside a callback ---- */

/*
 * A deferred job is for the next turn: the thread that is inside of a turn sleeps in spite of it,
 * one that is about to begin the next does not.
 */
bool
loop_sleep_begin(struct loop *loop, bool drained, uint64_t *until)
{
	const bool inside = loop_is_inside(loop);
	struct loop_job *job;
	bool idle;

	loop_lock(loop);
	*until = loop_promote_delayed(loop);
	idle = loop->drained || !drained;
	for (job = loop->ready.next; job != &loop->ready && idle; job = job->next)
		idle = inside && job->place == LOOP_JOB_DEFERRED;
	if (idle)
		loop->sleeping++;
	loop_unlock(loop);
	return idle;
}

void
loop_sleep_end(struct loop *loop)
{
	loop_lock(loop);
	loop_awake_locked(loop);
	loop_unlock(loop);
}

void
loop_pump(struct loop *loop)
{
	struct os_self *self = os_self();
	const bool outer = self->pumping;
	struct epoll_event events[LOOP_BATCH];
	int n = os_epoll_wait(loop->epfd, events, LOOP_BATCH, 0);

	loop_lock(loop);
	loop->drained = n == 0;
	(void)loop_serve(loop, events, n);
	(void)loop_promote_delayed(loop);
	self->pumping = true;
	(void)loop_run_ready(loop);
	self->pumping = outer;
	loop_unlock(loop);
}

bool
loop_is_pumping(void)
{
	return os_self()->pumping;
}

struct loop *
loop_current(void)
{
	return os_self()->loop;
}

struct loop *
loop_to_pump(void)
{
	struct loop *loop = os_self()->loop;

	return loop && loop->kind != LOOP_POOL ? loop : NULL;
}

/* ---- threads ---- */

/* No other thread knows the loop any more. */
static void
loop_release(struct loop *loop) UNCHECKED
{
	os_close(loop->doorbell);
	os_close(loop->epfd);
	os_mutex_fini(&loop->lock);
	os_free(loop->sources);
	os_free(loop->threads);
	os_free(loop);
}

static void *
loop_thread(void *arg)
{
	struct loop *loop = arg;
	bool mine;

	os_self()->loop = loop;
	loop_lock(loop);
	while (!loop->stop)
		(void)loop_turn(loop, -1);
	mine = loop->orphan;
	loop_unlock(loop);
	if (mine)
		loop_release(loop);
	return NULL;
}

void
loop_stop(struct loop *loop)
{
	loop_lock(loop);
	loop->stop = true;
	while (loop->sleeping > 0)
		loop_ring_locked(loop);
	loop_unlock(loop);
}

int
loop_create(enum loop_kind kind, int threads, struct loop **out)
{
	struct loop *loop = os_alloc(1, sizeof *loop);
	int r = -ENOMEM;

	if (kind == LOOP_STEPPED)
		threads = 0;
	else if (kind == LOOP_THREAD)
		threads = 1;
	if (!loop)
		return -ENOMEM;
	os_mutex_init(&loop->lock);
	loop->kind = kind;
	loop_lists_init(loop);
	loop->threads = os_alloc((size_t)threads + 1, sizeof *loop->threads);
	if (!loop->threads)
		goto err_free;
	r = loop->epfd = os_epoll_open();
	if (r < 0)
		goto err_threads;
	r = loop->doorbell = os_event_open(true);
	if (r < 0)
		goto err_epoll;
	r = os_epoll_ctl(loop->epfd, EPOLL_CTL_ADD, loop->doorbell, EPOLLIN, 0);
	if (r)
		goto err_doorbell;
	for (; loop->n_threads < threads; loop->n_threads++) {
		r = os_thread_start(&loop->threads[loop->n_threads], loop_thread, loop);
		if (r)
			goto err_started;
	}
	*out = loop;
	return 0;

err_started:
	loop_stop(loop);
	for (int i = 0; i < loop->n_threads; i++)
		os_thread_join(&loop->threads[i]);
err_doorbell:
	os_close(loop->doorbell);
err_epoll:
	os_close(loop->epfd);
err_threads:
	os_free(loop->threads);
err_free:
	os_mutex_fini(&loop->lock);
	os_free(loop);
	return r;
}

/*
 * The program has closed descriptors that are not its own: no thread of the loop can be woken, and
 * the numbers may be those of others.  What a thread sleeps with stays for ever.
 */
static void
loop_abandon(struct loop *loop)
{
	for (int i = 0; i < loop->n_threads; i++)
		os_thread_detach(&loop->threads[i]);
}

void
loop_free(struct loop *loop)
{
	bool own = false;

	if (!loop)
		return;
	ASSUME(loop_list_empty(&loop->ready) && loop_list_empty(&loop->delayed));
	loop_stop(loop);
	if (!os_epoll_has(loop->epfd, loop->doorbell, EPOLLIN, 0)) {
		loop_abandon(loop);
		return;
	}
	for (int i = 0; i < loop->n_threads; i++) {
		if (os_thread_is_self(&loop->threads[i]))
			own = true;
		else
			os_thread_join(&loop->threads[i]);
	}
	if (!own) {
		loop_release(loop);
		return;
	}
	os_thread_detach_self();
	loop_lock(loop);
	loop->orphan = true;
	loop_unlock(loop);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "evd/loop.h"

#include "evd/loop_body.h"

/* ---- the two job lists; the loop's lock is held ---- */

static void
loop_list_init(struct loop_job *head)
{
	head->next = head->prev = head;
}

static bool
loop_list_empty(const struct loop_job *head)
{
	return head->next == head;
}

static void
loop_list_append(struct loop_job *head, struct loop_job *job)
{
	job->prev = head->prev;
	job->next = head;
	head->prev->next = job;
	head->prev = job;
}

static void
loop_list_unlink(struct loop_job *job)
{
	job->prev->next = job->next;
	job->next->prev = job->prev;
	job->next = job->prev = NULL;
}

/* Puts a job that is on no list onto one. */
static void
loop_list_locked(struct loop *loop, struct loop_job *job, enum loop_place place)
{
	job->place = place;
	loop_list_append(place == LOOP_JOB_DELAYED ? &loop->delayed : &loop->ready, job);
}

/* The same for the job's owner, which alone decides about the loop: it reads `on` unlocked. */
static void
loop_queue_locked(struct loop *loop, struct loop_job *job, enum loop_place place)
{
	job->on = loop;
	loop_list_locked(loop, job, place);
}

static void
loop_unqueue_locked(struct loop_job *job)
{
	loop_list_unlink(job);
	job->place = LOOP_JOB_OFF;
}

/* Moves what is due and returns when the earliest of the others is; UINT64_MAX: none. */
static uint64_t
loop_promote_delayed(struct loop *loop)
{
	struct loop_job *job, *next;
	uint64_t now, least = UINT64_MAX;

	if (loop_list_empty(&loop->delayed))
		return least;
	now = os_clock_ns();
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

/* For epoll, which counts milliseconds: rounded up, so that what is waited for is due. */
static int
loop_ms_until(uint64_t due)
{
	uint64_t now = os_clock_ns();

	if (due == UINT64_MAX)
		return -1;
	return due > now ? (int)((due - now) / 1000000u) + 1 : 0;
}

/* ---- the doorbell: threads asleep = sleeping + tokens ---- */

static void
loop_ring_locked(struct loop *loop)
{
	if (loop->sleeping > 0) {
		loop->sleeping--;
		loop->tokens++;
		os_event_set(loop->doorbell);
	}
}

/* A token first: one that stayed would wake thread after thread, each of which left it. */
static void
loop_awake_locked(struct loop *loop)
{
	if (loop->tokens > 0) {
		loop->tokens--;
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
	os_lock(&loop->lock);
	loop_queue_locked(loop, job, LOOP_JOB_READY);
	loop_ring_locked(loop);
	os_unlock(&loop->lock);
}

void
loop_defer(struct loop *loop, struct loop_job *job)
{
	os_lock(&loop->lock);
	loop_queue_locked(loop, job, LOOP_JOB_DEFERRED);
	os_unlock(&loop->lock);
}

void
loop_ready_later(struct loop *loop, struct loop_job *job, uint64_t delay_ns)
{
	os_lock(&loop->lock);
	job->due = os_clock_ns() + delay_ns;
	loop_queue_locked(loop, job, LOOP_JOB_DELAYED);
	loop_ring_locked(loop); /* the sleeper recomputes how long it may sleep */
	os_unlock(&loop->lock);
}

void
loop_hasten(struct loop_job *job)
{
	struct loop *loop = job->on;

	if (!loop)
		return;
	os_lock(&loop->lock);
	if (job->place == LOOP_JOB_DEFERRED || job->place == LOOP_JOB_DELAYED) {
		loop_unqueue_locked(job);
		loop_list_locked(loop, job, LOOP_JOB_READY);
		loop_ring_locked(loop);
	}
	os_unlock(&loop->lock);
}

bool
loop_unready(struct loop_job *job)
{
	struct loop *loop = job->on;
	bool listed;

	if (!loop)
		return false;
	os_lock(&loop->lock);
	listed = job->place != LOOP_JOB_OFF;
	if (listed)
		loop_unqueue_locked(job);
	os_unlock(&loop->lock);
	return listed;
}

/* Runs the first job; false when there is none. */
static bool
loop_run_next(struct loop *loop)
{
	struct loop_job *job = NULL;
	void (*run)(struct loop_job *, uint64_t) = NULL;
	uint64_t serial = 0;

	os_lock(&loop->lock);
	if (!loop_list_empty(&loop->ready)) {
		job = loop->ready.next;
		loop_unqueue_locked(job);
		/* Read here: from now on its memory may become another's. */
		run = job->run;
		serial = job->serial;
	}
	os_unlock(&loop->lock);
	if (job)
		run(job, serial);
	return job != NULL;
}

/* Runs the jobs that are ready now, each once; returns how many. */
static int
loop_run_ready(struct loop *loop)
{
	struct loop_job *job;
	int jobs = 0, done = 0;

	os_lock(&loop->lock);
	(void)loop_promote_delayed(loop);
	for (job = loop->ready.next; job != &loop->ready; job = job->next)
		jobs++;
	os_unlock(&loop->lock);
	while (jobs-- > 0 && loop_run_next(loop))
		done++;
	return done;
}

/*
 * One turn: sleep if nothing is ready, read every readable source, then run the jobs that were
 * ready when the reading ended, each once; what they make ready waits for the next turn, so that a
 * busy EVD does not keep the sources unread.
 */
static int
loop_turn(struct loop *loop, int timeout_ms)
{
	struct epoll_event events[LOOP_BATCH];
	uint64_t due;
	int n, due_ms, done;
	bool asleep;

	os_lock(&loop->lock);
	due = loop_promote_delayed(loop);
	asleep = loop_list_empty(&loop->ready) && !loop->stop;
	if (asleep)
		loop->sleeping++;
	os_unlock(&loop->lock);
	due_ms = loop_ms_until(due);
	if (!asleep)
		timeout_ms = 0;
	else if (due_ms >= 0 && (timeout_ms < 0 || due_ms < timeout_ms))
		timeout_ms = due_ms;

	n = os_epoll_wait(loop->epfd, events, LOOP_BATCH, timeout_ms);

	os_lock(&loop->lock);
	if (asleep)
		loop_awake_locked(loop);
	os_unlock(&loop->lock);
	done = loop_serve(loop, events, n);
	return done + loop_run_ready(loop);
}

int
loop_step(struct loop *loop, int timeout_ms)
{
	struct os_self *self = os_self();
	struct loop *outer = self->loop;
	int done;

	self->loop = loop;
	done = loop_turn(loop, timeout_ms);
	self->loop = outer;
	return done;
}

/* ---- while a thread of the loop is parked inside a call-out ---- */

bool
loop_sleep_begin(struct loop *loop, uint64_t *until)
{
	struct loop_job *job;
	bool idle = true;

	os_lock(&loop->lock);
	*until = loop_promote_delayed(loop);
	for (job = loop->ready.next; job != &loop->ready && idle; job = job->next)
		idle = job->place == LOOP_JOB_DEFERRED;
	if (idle)
		loop->sleeping++;
	os_unlock(&loop->lock);
	return idle;
}

void
loop_sleep_end(struct loop *loop)
{
	os_lock(&loop->lock);
	loop_awake_locked(loop);
	os_unlock(&loop->lock);
}

void
loop_pump(struct loop *loop)
{
	struct os_self *self = os_self();
	const bool outer = self->pumping;
	struct epoll_event events[LOOP_BATCH];
	int n = os_epoll_wait(loop->epfd, events, LOOP_BATCH, 0);

	(void)loop_serve(loop, events, n);
	self->pumping = true;
	(void)loop_run_ready(loop);
	self->pumping = outer;
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

static void
loop_release(struct loop *loop)
{
	os_close(loop->doorbell);
	os_close(loop->epfd);
	os_mutex_fini(&loop->lock);
	os_free(loop->sources);
	os_free(loop->threads);
	os_free(loop);
}

static bool
loop_is_stopping(struct loop *loop)
{
	bool stop;

	os_lock(&loop->lock);
	stop = loop->stop;
	os_unlock(&loop->lock);
	return stop;
}

static void *
loop_thread(void *arg)
{
	struct loop *loop = arg;
	bool mine;

	os_self()->loop = loop;
	while (!loop_is_stopping(loop))
		(void)loop_turn(loop, -1);
	os_lock(&loop->lock);
	mine = loop->orphan;
	os_unlock(&loop->lock);
	if (mine)
		loop_release(loop);
	return NULL;
}

void
loop_stop(struct loop *loop)
{
	os_lock(&loop->lock);
	loop->stop = true;
	while (loop->sleeping > 0)
		loop_ring_locked(loop);
	os_unlock(&loop->lock);
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
	loop_list_init(&loop->ready);
	loop_list_init(&loop->delayed);
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

void
loop_free(struct loop *loop)
{
	bool own = false;

	if (!loop)
		return;
	loop_stop(loop);
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
	os_lock(&loop->lock);
	loop->orphan = true;
	os_unlock(&loop->lock);
}

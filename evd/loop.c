/* SPDX-License-Identifier: BSD-3-Clause */
#include "evd/loop.h"

#include <string.h>

#include "evd/os.h"
#include "evd/park.h"

#define LOOP_BATCH 32 /* descriptors read per turn; more only delays the jobs */

struct loop_source {
	int fd; /* -1: free slot */
	uint32_t generation;
	void (*handler)(void *arg);
	void *arg;
	bool busy; /* the loop's thread is inside the handler */
};

struct loop {
	struct os_mutex lock;
	enum loop_kind kind;
	int epfd;
	int doorbell;
	int sleeping; /* threads that saw the ready list empty and have no token in the doorbell */
	int tokens;   /* in the doorbell */
	bool stop;
	bool orphan; /* destroyed by one of its own threads, which frees it when it ends */
	struct loop_job ready;	 /* list heads */
	struct loop_job delayed; /* unordered: only jobs backing off from a fault are here */
	struct loop_source *sources;
	uint32_t n_sources;
	struct park_list removers;
	int n_threads;
	struct os_thread *threads;
};

/* ---- the two job lists; the loop's lock is held ---- */

static void
list_init(struct loop_job *head)
{
	head->next = head->prev = head;
}

static bool
list_empty(const struct loop_job *head)
{
	return head->next == head;
}

static void
list_append(struct loop_job *head, struct loop_job *job)
{
	job->prev = head->prev;
	job->next = head;
	head->prev->next = job;
	head->prev = job;
}

static void
list_unlink(struct loop_job *job)
{
	job->prev->next = job->next;
	job->next->prev = job->prev;
	job->next = job->prev = NULL;
}

/* Moves what is due and returns when the earliest of the others is; UINT64_MAX: none. */
static uint64_t
promote_delayed(struct loop *loop)
{
	struct loop_job *job, *next;
	uint64_t now, least = UINT64_MAX;

	if (list_empty(&loop->delayed))
		return least;
	now = os_clock_ns();
	for (job = loop->delayed.next; job != &loop->delayed; job = next) {
		next = job->next;
		if (job->due <= now) {
			list_unlink(job);
			job->due = 0;
			list_append(&loop->ready, job);
		} else if (job->due < least) {
			least = job->due;
		}
	}
	return least;
}

/* For epoll, which counts milliseconds: rounded up, so that what is waited for is due. */
static int
ms_until(uint64_t due)
{
	uint64_t now = os_clock_ns();

	if (due == UINT64_MAX)
		return -1;
	return due > now ? (int)((due - now) / 1000000u) + 1 : 0;
}

/* ---- the doorbell: threads asleep = sleeping + tokens ---- */

static void
ring_locked(struct loop *loop)
{
	if (loop->sleeping > 0) {
		loop->sleeping--;
		loop->tokens++;
		os_event_set(loop->doorbell);
	}
}

/* A token first: one that stayed would wake thread after thread, each of which left it. */
static void
awake_locked(struct loop *loop)
{
	if (loop->tokens > 0) {
		loop->tokens--;
		(void)os_event_clear(loop->doorbell);
	} else {
		loop->sleeping--;
	}
}

/* ---- sources ---- */

static uint64_t
source_id(uint32_t index, uint32_t generation)
{
	return (uint64_t)generation << 32 | (index + 1);
}

/* NULL for the doorbell's 0 and for a source that was removed since. */
static struct loop_source *
source_find(struct loop *loop, uint64_t id)
{
	uint32_t index = (uint32_t)id - 1; /* of 0: past any table */

	if (index >= loop->n_sources)
		return NULL;
	if (loop->sources[index].fd < 0 || loop->sources[index].generation != id >> 32)
		return NULL;
	return &loop->sources[index];
}

static int
source_slot(struct loop *loop, uint32_t *index)
{
	struct loop_source *grown;
	uint32_t n = loop->n_sources, i;

	for (i = 0; i < n; i++)
		if (loop->sources[i].fd < 0 && !loop->sources[i].busy)
			goto found;
	grown = os_alloc(n ? 2 * n : 8, sizeof *grown);
	if (!grown)
		return -ENOMEM;
	if (n)
		memcpy(grown, loop->sources, n * sizeof *grown);
	os_free(loop->sources);
	loop->sources = grown;
	loop->n_sources = n ? 2 * n : 8;
	for (uint32_t j = n; j < loop->n_sources; j++)
		grown[j].fd = -1;
found:
	*index = i;
	return 0;
}

int
loop_add(struct loop *loop, int fd, void (*handler)(void *arg), void *arg,
    struct loop_ticket *ticket)
{
	struct loop_source *source;
	uint32_t index, generation;
	int r;

	os_lock(&loop->lock);
	r = source_slot(loop, &index);
	if (r)
		goto out;
	generation = loop->sources[index].generation + 1;
	r = os_epoll_ctl(loop->epfd, EPOLL_CTL_ADD, fd, EPOLLIN, source_id(index, generation));
	if (r)
		goto out;
	source = &loop->sources[index];
	*source = (struct loop_source){
		.fd = fd, .generation = generation, .handler = handler, .arg = arg
	};
	ticket->id = source_id(index, generation);
out:
	os_unlock(&loop->lock);
	return r;
}

void
loop_watch(struct loop *loop, const struct loop_ticket *ticket, bool on)
{
	struct loop_source *source;

	os_lock(&loop->lock);
	source = source_find(loop, ticket->id);
	if (source)
		(void)os_epoll_ctl(loop->epfd, EPOLL_CTL_MOD, source->fd, on ? EPOLLIN : 0,
		    ticket->id);
	os_unlock(&loop->lock);
}

static struct loop_source *
forget_locked(struct loop *loop, struct loop_ticket *ticket)
{
	struct loop_source *source = source_find(loop, ticket->id);

	ticket->id = 0;
	if (!source)
		return NULL;
	(void)os_epoll_ctl(loop->epfd, EPOLL_CTL_DEL, source->fd, 0, 0);
	source->fd = -1;
	return source;
}

void
loop_forget(struct loop *loop, struct loop_ticket *ticket)
{
	os_lock(&loop->lock);
	(void)forget_locked(loop, ticket);
	os_unlock(&loop->lock);
}

void
loop_remove(struct loop *loop, struct loop_ticket *ticket)
{
	struct park_entry entry;
	struct loop_source *source;
	struct park *park;
	uint32_t index;

	os_lock(&loop->lock);
	source = forget_locked(loop, ticket);
	if (!source)
		goto out;
	index = (uint32_t)(source - loop->sources); /* the array may move while we sleep */
	if (loop_current() != loop && source->busy) {
		park = park_self();
		park_list_add(&loop->removers, &entry, park);
		for (;;) {
			park_reset(park);
			if (!loop->sources[index].busy)
				break;
			os_unlock(&loop->lock);
			(void)park_sleep(park, PARK_FOREVER, -1, NULL);
			os_lock(&loop->lock);
		}
		park_list_remove(&loop->removers, &entry);
	}
out:
	os_unlock(&loop->lock);
}

/* Enters the handlers of what epoll reported, if it did (n > 0); returns how many. */
static int
serve(struct loop *loop, const struct epoll_event *events, int n)
{
	struct loop_source *source;
	void (*handler)(void *);
	void *arg;
	uint32_t index;
	int served = 0;

	for (int i = 0; i < n; i++) {
		os_lock(&loop->lock);
		source = source_find(loop, events[i].data.u64);
		/*
		 * NULL: gone, or the doorbell, which the sleeper accounts for.
		 * busy: a handler of this thread parked and pumps us; it reads on by itself.
		 */
		if (!source || source->busy) {
			os_unlock(&loop->lock);
			continue;
		}
		source->busy = true;
		index = (uint32_t)(source - loop->sources);
		handler = source->handler;
		arg = source->arg;
		os_unlock(&loop->lock);

		handler(arg);
		served++;

		os_lock(&loop->lock);
		loop->sources[index].busy = false;
		park_list_wake_all(&loop->removers);
		os_unlock(&loop->lock);
	}
	return served;
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
	job->on = loop;
	job->due = 0;
	job->put_off = false;
	list_append(&loop->ready, job);
	ring_locked(loop);
	os_unlock(&loop->lock);
}

void
loop_put_off(struct loop *loop, struct loop_job *job)
{
	os_lock(&loop->lock);
	job->on = loop;
	job->due = 0;
	job->put_off = true;
	list_append(&loop->ready, job);
	os_unlock(&loop->lock);
}

void
loop_ready_later(struct loop *loop, struct loop_job *job, uint64_t delay_ns)
{
	os_lock(&loop->lock);
	job->on = loop;
	job->due = os_clock_ns() + delay_ns;
	job->put_off = false;
	list_append(&loop->delayed, job);
	ring_locked(loop); /* the sleeper recomputes how long it may sleep */
	os_unlock(&loop->lock);
}

void
loop_hasten(struct loop_job *job)
{
	struct loop *loop = job->on;

	if (!loop)
		return;
	os_lock(&loop->lock);
	if (job->next && (job->due || job->put_off)) {
		list_unlink(job);
		job->due = 0;
		job->put_off = false;
		list_append(&loop->ready, job);
		ring_locked(loop);
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
	listed = job->next != NULL;
	if (listed)
		list_unlink(job);
	os_unlock(&loop->lock);
	return listed;
}

static struct loop_job *
next_ready(struct loop *loop)
{
	struct loop_job *job = NULL;

	os_lock(&loop->lock);
	if (!list_empty(&loop->ready)) {
		job = loop->ready.next;
		list_unlink(job);
	}
	os_unlock(&loop->lock);
	return job;
}

/* Runs the jobs that are ready now, each once; returns how many. */
static int
run_ready(struct loop *loop)
{
	struct loop_job *job;
	int jobs = 0, done = 0;

	os_lock(&loop->lock);
	(void)promote_delayed(loop);
	for (job = loop->ready.next; job != &loop->ready; job = job->next)
		jobs++;
	os_unlock(&loop->lock);
	while (jobs-- > 0 && (job = next_ready(loop))) {
		job->run(job);
		done++;
	}
	return done;
}

/*
 * One turn: sleep if nothing is ready, read every readable source, then run the jobs that were ready
 * when the reading ended, each once; what they make ready waits for the next turn, so that a busy
 * EVD does not keep the sources unread.
 */
static int
turn(struct loop *loop, int timeout_ms)
{
	struct epoll_event events[LOOP_BATCH];
	uint64_t due;
	int n, due_ms, done;
	bool asleep;

	os_lock(&loop->lock);
	due = promote_delayed(loop);
	asleep = list_empty(&loop->ready) && !loop->stop;
	if (asleep)
		loop->sleeping++;
	os_unlock(&loop->lock);
	due_ms = ms_until(due);
	if (!asleep)
		timeout_ms = 0;
	else if (due_ms >= 0 && (timeout_ms < 0 || due_ms < timeout_ms))
		timeout_ms = due_ms;

	n = os_epoll_wait(loop->epfd, events, LOOP_BATCH, timeout_ms);

	os_lock(&loop->lock);
	if (asleep)
		awake_locked(loop);
	os_unlock(&loop->lock);
	done = serve(loop, events, n);
	return done + run_ready(loop);
}

int
loop_step(struct loop *loop, int timeout_ms)
{
	struct os_self *self = os_self();
	struct loop *outer = self->loop;
	int done;

	self->loop = loop;
	done = turn(loop, timeout_ms);
	self->loop = outer;
	return done;
}

/* ---- while a thread of the loop is parked inside a call-out ---- */

bool
loop_rest(struct loop *loop, uint64_t *until)
{
	struct loop_job *job;
	bool idle = true;

	os_lock(&loop->lock);
	*until = promote_delayed(loop);
	for (job = loop->ready.next; job != &loop->ready && idle; job = job->next)
		idle = job->put_off;
	if (idle)
		loop->sleeping++;
	os_unlock(&loop->lock);
	return idle;
}

void
loop_rise(struct loop *loop)
{
	os_lock(&loop->lock);
	awake_locked(loop);
	os_unlock(&loop->lock);
}

void
loop_pump(struct loop *loop)
{
	struct os_self *self = os_self();
	const bool outer = self->pumping;
	struct epoll_event events[LOOP_BATCH];
	int n = os_epoll_wait(loop->epfd, events, LOOP_BATCH, 0);

	(void)serve(loop, events, n);
	self->pumping = true;
	(void)run_ready(loop);
	self->pumping = outer;
}

bool
loop_pumping(void)
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

	return loop && loop->kind != LOOP_CREW ? loop : NULL;
}

/* ---- threads ---- */

static void
loop_free(struct loop *loop)
{
	os_close(loop->doorbell);
	os_close(loop->epfd);
	os_mutex_fini(&loop->lock);
	os_free(loop->sources);
	os_free(loop->threads);
	os_free(loop);
}

static bool
stopping(struct loop *loop)
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
	while (!stopping(loop))
		(void)turn(loop, -1);
	os_lock(&loop->lock);
	mine = loop->orphan;
	os_unlock(&loop->lock);
	if (mine)
		loop_free(loop);
	return NULL;
}

static void
loop_stop(struct loop *loop)
{
	os_lock(&loop->lock);
	loop->stop = true;
	while (loop->sleeping > 0)
		ring_locked(loop);
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
	list_init(&loop->ready);
	list_init(&loop->delayed);
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
loop_destroy(struct loop *loop)
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
		loop_free(loop);
		return;
	}
	os_thread_detach_self();
	os_lock(&loop->lock);
	loop->orphan = true;
	os_unlock(&loop->lock);
}

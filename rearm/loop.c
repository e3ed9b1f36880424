/* SPDX-License-Identifier: BSD-3-Clause */
/* loop -- the threads that serve queues, or the descriptor of a program that does it itself */
#include <limits.h>

#include "rearm/internal.h"

#define THREADS_MOST 256

/* Creates a loop whose threads run on `n` processors of the list from `first` on; 0: on any. */
static int
loop_create_on(const struct rearm_loop *loop, enum loop_kind kind, int threads, int first, int n,
    struct loop **out)
{
	cpu_set_t before, wanted;
	int r;

	if (n == 0)
		return loop_create(kind, threads, out);
	CPU_ZERO(&wanted);
	for (int i = 0; i < n; i++)
		CPU_SET((size_t)loop->cpus[(first + i) % loop->n_cpus], &wanted);
	/* A new thread runs where the one that creates it does. */
	r = pthread_getaffinity_np(pthread_self(), sizeof before, &before);
	if (!r)
		r = pthread_setaffinity_np(pthread_self(), sizeof wanted, &wanted);
	if (r)
		return -r;
	r = loop_create(kind, threads, out);
	(void)pthread_setaffinity_np(pthread_self(), sizeof before, &before);
	return r;
}

static int
loop_check(const struct rearm_loop_attr *attr)
{
	if (attr->threads < 0 || attr->threads > THREADS_MOST || attr->n_cpus < 0 ||
	    (attr->n_cpus && !attr->cpus))
		return -EINVAL;
	for (int i = 0; i < attr->n_cpus; i++)
		if (attr->cpus[i] < 0 || attr->cpus[i] >= CPU_SETSIZE)
			return -EINVAL;
	for (int i = 0; i < 4; i++)
		if (attr->reserved[i])
			return -EINVAL;
	return 0;
}

static void
loop_release(struct rearm_loop *loop)
{
	for (unsigned int i = 0; i < loop->n_loops; i++)
		loop_free(loop->loops[i]);
	loop_free(loop->pool);
	os_mutex_fini(&loop->lock);
	os_free(loop);
}

REARM_API int
rearm_loop_create(const struct rearm_loop_attr *attr, struct rearm_loop **out)
{
	REARM_UNCANCELLED;
	static const struct rearm_loop_attr usual = { .threads = 1 };
	struct rearm_loop *loop;
	size_t n_loops, cpus;
	int r = 0;

	if (!attr)
		attr = &usual;
	if (!out || loop_check(attr))
		return -EINVAL;
	n_loops = attr->threads ? (size_t)attr->threads : 1;
	cpus = (size_t)attr->n_cpus * sizeof *loop->cpus;
	loop = os_alloc(1, sizeof *loop + n_loops * sizeof *loop->loops + cpus);
	if (!loop)
		return -ENOMEM;
	os_mutex_init(&loop->lock);
	loop->stepped = attr->threads == 0;
	loop->n_loops = (unsigned int)n_loops;
	loop->cpus = (int *)(void *)&loop->loops[n_loops];
	loop->n_cpus = attr->n_cpus;
	if (cpus)
		memcpy(loop->cpus, attr->cpus, cpus);
	for (unsigned int i = 0; i < loop->n_loops && !r; i++)
		r = loop->stepped ? loop_create(LOOP_STEPPED, 0, &loop->loops[i]) :
				    loop_create_on(loop, LOOP_THREAD, 1, (int)i,
					attr->n_cpus ? 1 : 0, &loop->loops[i]);
	if (r) {
		loop_release(loop);
	} else {
		loop->publishes = rearm_stats_start();
		*out = loop;
	}
	return r;
}

/* Whether the calling thread runs a job or handler of the loop. */
static bool
loop_has_caller(const struct rearm_loop *loop)
{
	bool inside = loop->pool && loop_is_inside(loop->pool);

	for (unsigned int i = 0; i < loop->n_loops; i++)
		inside |= loop_is_inside(loop->loops[i]);
	return inside;
}

static bool
loop_is_left(void *arg)
{
	return ((struct rearm_loop *)arg)->queues == 0;
}

REARM_API int
rearm_loop_free(struct rearm_loop *loop)
{
	REARM_UNCANCELLED;
	int r = 0;

	if (!loop)
		return 0;
	os_lock(&loop->lock);
	if (loop_has_caller(loop))
		r = -EDEADLK;
	else if (loop->open)
		r = -EBUSY;
	else
		park_list_await(&loop->frees, &loop->lock, loop_is_left, loop);
	os_unlock(&loop->lock);
	if (r)
		return r;
	if (loop->asleep)
		loop_sleep_end(loop->loops[0]);
	if (loop->publishes)
		evd_stats_stop();
	loop_release(loop);
	park_close_self(); /* of a wait, in free or teardown perhaps: the next one opens it again */
	return 0;
}

REARM_API int
rearm_loop_fd(const struct rearm_loop *loop)
{
	return loop->stepped ? loop_fd(loop->loops[0]) : -EINVAL;
}

static void
loop_awake(struct rearm_loop *loop)
{
	if (loop->asleep)
		loop_sleep_end(loop->loops[0]);
	loop->asleep = false;
}

static int
loop_ms_left(uint64_t until)
{
	const uint64_t now = os_clock_ns();
	uint64_t ms;

	if (until == UINT64_MAX)
		return -1;
	ms = until > now ? (until - now) / OS_NS_PER_MS + 1 : 0;
	return ms < INT_MAX ? (int)ms : INT_MAX;
}

REARM_API int
rearm_loop_trywait(struct rearm_loop *loop, int *timeout)
{
	uint64_t until;

	if (!loop->stepped || !timeout)
		return -EINVAL;
	loop_awake(loop);
	loop->asleep = loop_sleep_begin(loop->loops[0], true, &until);
	if (!loop->asleep)
		return -EAGAIN;
	*timeout = loop_ms_left(until);
	return 0;
}

REARM_API int
rearm_loop_dispatch(struct rearm_loop *loop, int budget, int timeout)
{
	REARM_UNCANCELLED; /* also for the callbacks */
	int done = 0, n;

	if (!loop->stepped || budget < 1)
		return -EINVAL;
	if (loop_has_caller(loop))
		return -EDEADLK;
	loop_awake(loop);
	do {
		n = loop_step(loop->loops[0], done ? 0 : timeout);
		done += n;
	} while (n > 0 && done < budget);
	return done;
}

struct loop *
rearm_loop_enter(struct rearm_loop *loop)
{
	struct loop *own;

	os_lock(&loop->lock);
	own = loop->loops[loop->next++ % loop->n_loops];
	loop->open++;
	loop->queues++;
	os_unlock(&loop->lock);
	return own;
}

int
rearm_loop_pool(struct rearm_loop *loop, struct loop **pool)
{
	int r = 0;

	os_lock(&loop->lock);
	/* Without threads it is not written: dispatch reads it without the lock. */
	if (!loop->stepped && !loop->pool)
		r = loop_create_on(loop, LOOP_POOL, REARM_POOL, 0, loop->n_cpus, &loop->pool);
	*pool = loop->stepped ? loop->loops[0] : loop->pool;
	os_unlock(&loop->lock);
	return r;
}

void
rearm_loop_freed(struct rearm_loop *loop)
{
	os_lock(&loop->lock);
	loop->open--;
	os_unlock(&loop->lock);
}

void
rearm_loop_leave(struct rearm_loop *loop)
{
	os_lock(&loop->lock);
	loop->queues--;
	park_list_wake_all(&loop->frees);
	os_unlock(&loop->lock);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "fetch.h"
#include "softverbs/device/last.h"
#include "softverbs/device/mutex.h"
#include "softverbs/device/progress.h"

#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STACK (256u << 10)

/* What a read may take without being charged for it. */
#define USUAL (200 * SOFT_MICROSECOND)

/* What may be owed: for one process, and for all. */
#define DEBT_MAX SOFT_FETCH_WAIT
#define DEBT_MAX_OF_ALL (SOFT_FETCH_THREADS * SOFT_FETCH_WAIT)

enum fetch_state {
	FETCH_FREE,    /* there is no thread */
	FETCH_DONE,    /* it waits for the next read */
	FETCH_ASKED,   /* a read is wanted */
	FETCH_READING, /* the thread is in the call */
	FETCH_LATE,    /* nothing waits for it any more; it ends when the call returns */
	FETCH_QUIT,    /* it is to end */
};

/*
 * A thread and what it reads.  They are never freed, so that a thread that returns late finds its
 * own.  Up to FETCH_ASKED all but the state belongs to the holder of the lock, then to the thread;
 * after FETCH_DONE to the holder again.
 */
struct fetcher {
	atomic_uint state;
	atomic_bool idle;    /* the thread is in futex(2) */
	atomic_bool awaited; /* so is the one that waits for it */
	pthread_t thread;
	pid_t pid;
	int count;
	int result;
	uint64_t spent;
	struct iovec pieces[SOFT_FETCH_PIECES];
	char bytes[SOFT_FETCH_MAX];
};

static struct soft_mutex lock = SOFT_MUTEX_INITIALIZER;
static struct fetcher fetchers[SOFT_FETCH_THREADS];
static struct fetcher *current GUARDED_BY(soft_locks.fetch);
static struct soft_fetch_debt debt_of_all GUARDED_BY(soft_locks.fetch);

void
soft_fetch_lock(void) UNCHECKED
{
	soft_mutex_lock(&lock);
}

void
soft_fetch_unlock(void) UNCHECKED
{
	soft_mutex_unlock(&lock);
}

static void
fetch_wake(struct fetcher *fetcher, const atomic_bool *asleep)
{
	if (*asleep)
		(void)syscall(
		    SYS_futex, &fetcher->state, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/*
 * Returns when the state is another, at the time `until` (0: never), and perhaps for no reason. Who
 * sleeps sets the flag, and the kernel then looks at the state; who changes the state then looks at
 * the flag.
 */
static void
fetch_sleep(struct fetcher *fetcher, atomic_bool *asleep, unsigned int state, uint64_t until)
{
	const struct timespec end = { (time_t)(until / SOFT_SECOND), (long)(until % SOFT_SECOND) };

	*asleep = true;
	(void)syscall(SYS_futex, &fetcher->state, FUTEX_WAIT_BITSET_PRIVATE, state,
	    until ? &end : NULL, NULL, FUTEX_BITSET_MATCH_ANY);
	*asleep = false;
}

static bool
fetch_become(struct fetcher *fetcher, unsigned int from, unsigned int to)
{
	return atomic_compare_exchange_strong(&fetcher->state, &from, to);
}

/* The only place where softverbs reads the memory of another process. */
static void
fetch_read(struct fetcher *fetcher)
{
	const uint64_t begin = soft_now();
	struct iovec here = { fetcher->bytes, 0 };
	long n;

	for (int i = 0; i < fetcher->count; i++)
		here.iov_len += fetcher->pieces[i].iov_len;
	n = syscall(
	    SYS_process_vm_readv, fetcher->pid, &here, 1, fetcher->pieces, fetcher->count, 0);
	fetcher->result = n < 0 ? -errno : (size_t)n == here.iov_len ? 0 : -EFAULT;
	fetcher->spent = soft_now() - begin;
}

/* Whether a read is wanted, and still is when the thread has seen that. */
static bool
fetch_next(struct fetcher *fetcher)
{
	while (fetcher->state == FETCH_DONE)
		fetch_sleep(fetcher, &fetcher->idle, FETCH_DONE, 0);
	return fetch_become(fetcher, FETCH_ASKED, FETCH_READING);
}

static void *
fetch_run(void *arg)
{
	struct fetcher *fetcher = arg;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	soft_last_enter();
	pthread_setname_np(pthread_self(), SOFT_PROGRESS_NAME);
	while (fetch_next(fetcher)) {
		fetch_read(fetcher);
		if (!fetch_become(fetcher, FETCH_READING, FETCH_DONE))
			break;
		fetch_wake(fetcher, &fetcher->awaited);
	}
	soft_last_leave();
	fetcher->state = FETCH_FREE;
	return NULL;
}

static bool
fetch_start_thread(struct fetcher *fetcher)
{
	sigset_t all, saved;
	pthread_attr_t attr;
	int r;

	if (pthread_attr_init(&attr))
		return false;
	(void)pthread_attr_setstacksize(&attr, STACK);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &saved);
	r = pthread_create(&fetcher->thread, &attr, fetch_run, fetcher);
	pthread_sigmask(SIG_SETMASK, &saved, NULL);
	pthread_attr_destroy(&attr);
	return !r;
}

static struct fetcher *
fetch_find(void) REQUIRES(soft_locks.fetch)
{
	for (int i = 0; !current && i < SOFT_FETCH_THREADS; i++) {
		if (fetchers[i].state != FETCH_FREE)
			continue;
		fetchers[i].idle = fetchers[i].awaited = false;
		fetchers[i].state = FETCH_DONE;
		if (fetch_start_thread(&fetchers[i]))
			current = &fetchers[i];
		else
			fetchers[i].state = FETCH_FREE;
		break;
	}
	return current;
}

/* False if it is late: the thread is then left alone. */
static bool
fetch_await(struct fetcher *fetcher) REQUIRES(soft_locks.fetch)
{
	const uint64_t until = soft_now() + SOFT_FETCH_WAIT;
	unsigned int state;

	while ((state = fetcher->state) != FETCH_DONE) {
		if (soft_now() < until)
			fetch_sleep(fetcher, &fetcher->awaited, state, until);
		else if (fetch_become(fetcher, state, FETCH_LATE))
			break;
	}
	if (state == FETCH_DONE)
		return true;
	current = NULL;
	pthread_detach(fetcher->thread);
	return false;
}

static bool
fetch_debt_is_paid(struct soft_fetch_debt *debt, uint64_t max)
{
	const uint64_t now = soft_now(), paid = (now - debt->at) / 100;

	debt->owed -= paid < debt->owed ? paid : debt->owed;
	debt->at = now;
	return debt->owed < max;
}

static void
fetch_charge(struct soft_fetch_source *source, uint64_t spent) REQUIRES(soft_locks.fetch)
{
	if (spent <= USUAL)
		return;
	source->debt.owed += spent - USUAL;
	debt_of_all.owed += spent - USUAL;
}

static int
fetch_call(struct soft_fetch_source *source, const struct iovec *pieces, int count, char **bytes)
    REQUIRES(soft_locks.fetch)
{
	struct fetcher *fetcher = fetch_find();

	if (!fetcher)
		return -ETIMEDOUT;
	fetcher->pid = source->pid;
	fetcher->count = count;
	memcpy(fetcher->pieces, pieces, (size_t)count * sizeof *pieces);
	fetcher->state = FETCH_ASKED;
	fetch_wake(fetcher, &fetcher->idle);
	source->late = !fetch_await(fetcher);
	fetch_charge(source, source->late ? SOFT_FETCH_WAIT : fetcher->spent);
	if (source->late)
		return -ETIMEDOUT;
	*bytes = fetcher->bytes;
	return fetcher->result;
}

int
soft_fetch(struct soft_fetch_source *source, const struct iovec *pieces, int count, char **bytes)
{
	const int saved = errno;
	int r;

	if (source->late || !fetch_debt_is_paid(&source->debt, DEBT_MAX) ||
	    !fetch_debt_is_paid(&debt_of_all, DEBT_MAX_OF_ALL))
		return -ETIMEDOUT;
	r = fetch_call(source, pieces, count, bytes);
	errno = saved;
	return r;
}

void
soft_fetch_stop(void)
{
	soft_fetch_lock();
	if (current) {
		current->state = FETCH_QUIT;
		fetch_wake(current, &current->idle);
		pthread_join(current->thread, NULL);
		current = NULL;
	}
	soft_fetch_unlock();
}

void
soft_fetch_reset(void) UNCHECKED
{
	soft_mutex_init(&lock);
	current = NULL;
	debt_of_all = (struct soft_fetch_debt){ 0 };
	for (int i = 0; i < SOFT_FETCH_THREADS; i++)
		fetchers[i].state = FETCH_FREE;
}

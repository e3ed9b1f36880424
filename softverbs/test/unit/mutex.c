/* SPDX-License-Identifier: BSD-3-Clause */
/* mutex -- the locks of the device: threads exclude each other, and those that wait are woken */
#include "asleep.h"
#include "story.h"

#include "softverbs/device/mutex.h"

#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#define THREADS 4
#define TURNS 20000

static struct soft_mutex mutex;
static struct soft_rwlock rwlock;
static unsigned long first, second; /* under the lock, and always equal */
static atomic_int holders;
static atomic_int ids[THREADS];

static void
setup(void)
{
	soft_mutex_init(&mutex);
	rwlock = (struct soft_rwlock)SOFT_RWLOCK_INITIALIZER;
	first = second = 0;
	holders = 0;
	for (int i = 0; i < THREADS; i++)
		ids[i] = 0;
}

static void
teardown(void)
{
	soft_mutex_destroy(&mutex);
}

static void
start_all(pthread_t *threads, void *(*run)(void *))
{
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, run, &ids[i]), 0);
}

static void
join_all(pthread_t *threads)
{
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
}

/* Each has begun and sleeps, or has ended. */
static void
await_all(void)
{
	for (int i = 0; i < THREADS; i++) {
		while (!ids[i])
			sched_yield();
		await_asleep(ids[i]);
	}
}

/* With the lock held for writing. */
static void
change(void)
{
	first++;
	if (first % 64 == 0)
		sched_yield();
	second++;
}

static void *
change_often(void *unused)
{
	(void)unused;
	for (int i = 0; i < TURNS; i++) {
		soft_mutex_lock(&mutex);
		change();
		soft_mutex_unlock(&mutex);
	}
	return NULL;
}

CASE("soft-mutex:mutex", setup, teardown);

TEST(threads_change_two_numbers__each_change_is_whole)
{
	pthread_t threads[THREADS];

	start_all(threads, change_often);
	join_all(threads);
	ck_assert_uint_eq(first, THREADS * TURNS);
	ck_assert_uint_eq(second, THREADS * TURNS);
}

static void *
hold_once(void *id)
{
	*(atomic_int *)id = gettid();
	soft_mutex_lock(&mutex);
	first++;
	soft_mutex_unlock(&mutex);
	return NULL;
}

TEST(several_threads_sleep_for_it__each_gets_it)
{
	pthread_t threads[THREADS];

	soft_mutex_lock(&mutex);
	start_all(threads, hold_once);
	await_all();
	ck_assert_uint_eq(first, 0);
	soft_mutex_unlock(&mutex);
	join_all(threads);
	ck_assert_uint_eq(first, THREADS);
}

static void *
hold_and_keep_errno(void *id)
{
	errno = E2BIG;
	hold_once(id);
	ck_assert_int_eq(errno, E2BIG);
	return NULL;
}

TEST(waiting_and_waking__keep_errno)
{
	pthread_t threads[THREADS];

	soft_mutex_lock(&mutex);
	start_all(threads, hold_and_keep_errno);
	await_all();
	errno = ENOTDIR;
	soft_mutex_unlock(&mutex);
	ck_assert_int_eq(errno, ENOTDIR);
	join_all(threads);
}

TEST(trylock__fails_while_it_is_held)
{
	ck_assert(soft_mutex_trylock(&mutex));
	ck_assert(!soft_mutex_trylock(&mutex));
	soft_mutex_unlock(&mutex);
	ck_assert(soft_mutex_trylock(&mutex));
	soft_mutex_unlock(&mutex);
}

/* ---- readers and writers ---- */

static void *
read_and_write_often(void *id)
{
	const int writer = (atomic_int *)id == &ids[0];

	for (int i = 0; i < TURNS; i++) {
		if (writer || i % 16 == 0) {
			soft_rwlock_write(&rwlock);
			change();
			soft_rwlock_unwrite(&rwlock);
		} else {
			soft_rwlock_read(&rwlock);
			ck_assert_uint_eq(first, second);
			soft_rwlock_unread(&rwlock);
		}
	}
	return NULL;
}

CASE("soft-mutex:rwlock", setup, teardown);

TEST(readers_and_writers__no_reader_sees_half_a_change)
{
	pthread_t threads[THREADS];

	start_all(threads, read_and_write_often);
	join_all(threads);
	ck_assert_uint_eq(first, TURNS + (THREADS - 1) * (TURNS / 16));
	ck_assert_uint_eq(second, first);
}

static void *
write_once(void *id)
{
	*(atomic_int *)id = gettid();
	soft_rwlock_write(&rwlock);
	ck_assert_int_eq(holders, 0);
	first++;
	soft_rwlock_unwrite(&rwlock);
	return NULL;
}

static void *
read_together(void *unused)
{
	(void)unused;
	soft_rwlock_read(&rwlock);
	holders++;
	while (holders < THREADS)
		sched_yield();
	soft_rwlock_unread(&rwlock);
	return NULL;
}

TEST(readers__hold_it_together)
{
	pthread_t threads[THREADS];

	start_all(threads, read_together);
	join_all(threads);
}

TEST(writers_sleep_for_a_reader__each_gets_it)
{
	pthread_t threads[THREADS];

	soft_rwlock_read(&rwlock);
	holders++;
	start_all(threads, write_once);
	await_all();
	ck_assert_uint_eq(first, 0);
	holders--;
	soft_rwlock_unread(&rwlock);
	join_all(threads);
	ck_assert_uint_eq(first, THREADS);
}

static void *
read_once(void *id)
{
	*(atomic_int *)id = gettid();
	soft_rwlock_read(&rwlock);
	ck_assert_uint_eq(first, 1);
	soft_rwlock_unread(&rwlock);
	return NULL;
}

TEST(readers_sleep_for_a_writer__each_gets_it)
{
	pthread_t threads[THREADS];

	soft_rwlock_write(&rwlock);
	start_all(threads, read_once);
	await_all();
	first++;
	soft_rwlock_unwrite(&rwlock);
	join_all(threads);
}

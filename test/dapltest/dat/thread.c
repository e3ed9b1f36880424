/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several threads in the registry at once
 */
#include "story.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { THREADS = 8 };

#define CONF(params) \
	"x u2.0 threadsafe default %S id.2.0 \"" params "\" \"\"\n" \
	"y u2.0 threadsafe default %S id.2.0 \"" params "\" \"\"\n"

static pthread_barrier_t barrier;
static atomic_int failures;
static DAT_IA_HANDLE shared;

static void
run_threads(void *(*body)(void *))
{
	pthread_t threads[THREADS];
	int i;

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, body, (void *)(uintptr_t)i), 0);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&barrier);
	ck_assert_int_eq(atomic_load(&failures), 0);
}

static void *
open_and_close(void *arg)
{
	const char *name = (uintptr_t)arg % 2 ? "x" : "y";
	DAT_IA_HANDLE ia, own, back;
	int i;

	pthread_barrier_wait(&barrier);
	for (i = 0; i < 50; i++)
		if (story_try_open(name, 2, 0, DAT_TRUE, &ia) != DAT_SUCCESS ||
		    dats_get_ia_handle(ia, &own) != DAT_SUCCESS ||
		    dats_get_ia_handle(own, &back) != DAT_SUCCESS || back != ia ||
		    dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG) != DAT_SUCCESS)
			atomic_fetch_add(&failures, 1);
	return NULL;
}

START_TEST(threads__open_and_close__loads_and_unloads_are_even)
{
	story_conf(CONF(""));
	run_threads(open_and_close);
	ck_assert_int_ge(story_traced("init"), 2);
	ck_assert_int_eq(story_traced("init"), story_traced("fini"));
	ck_assert_int_eq(story_traced("init"), story_traced("remove 00000000"));
	ck_assert_int_eq(story_traced("open x 8"), 4 * 50);
	ck_assert_int_eq(story_traced("close abrupt"), THREADS * 50);
}
END_TEST

static void *
open_once(void *arg)
{
	DAT_IA_HANDLE ia;

	(void)arg;
	pthread_barrier_wait(&barrier);
	if (story_try_open("x", 2, 0, DAT_TRUE, &ia) != DAT_SUCCESS)
		atomic_fetch_add(&failures, 1);
	pthread_barrier_wait(&barrier);
	if (dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG) != DAT_SUCCESS)
		atomic_fetch_add(&failures, 1);
	return NULL;
}

START_TEST(threads__open_together__one_loads_and_the_others_wait_for_it)
{
	story_conf(CONF("slow"));
	run_threads(open_once);
	ck_assert_int_eq(story_traced("init"), 1);
	ck_assert_int_eq(story_traced("fini"), 1);
}
END_TEST

static atomic_int closed;

static void *
close_shared(void *arg)
{
	DAT_RETURN ret;

	(void)arg;
	pthread_barrier_wait(&barrier);
	ret = dat_ia_close(shared, DAT_CLOSE_ABRUPT_FLAG);
	if (ret == DAT_SUCCESS)
		atomic_fetch_add(&closed, 1);
	else if (ret != DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA))
		atomic_fetch_add(&failures, 1);
	return NULL;
}

START_TEST(threads__close_the_same_ia__one_succeeds)
{
	int i;

	story_conf(CONF(""));
	for (i = 0; i < 20; i++) {
		atomic_store(&closed, 0);
		shared = story_open("x", DAT_TRUE);
		run_threads(close_shared);
		ck_assert_int_eq(atomic_load(&closed), 1);
	}
	ck_assert_int_eq(story_traced("close abrupt"), 20);
}
END_TEST

static void *
list_providers(void *arg)
{
	DAT_COUNT n = 0;

	(void)arg;
	pthread_barrier_wait(&barrier);
	(void)dat_registry_list_providers(0, &n, NULL);
	if (n != 2)
		atomic_fetch_add(&failures, 1);
	return NULL;
}

START_TEST(threads__first_use__reads_dat_conf_once)
{
	char want[8192];

	story_conf(CONF("") "bad\n");
	story_listen();
	run_threads(list_providers);
	snprintf(want, sizeof want, "dat: %s:3: 1 field where 8 are due; line ignored\n",
	    story_conf_path());
	ck_assert_str_eq(story_heard(), want);
}
END_TEST

Suite *
dat_thread_suite(void)
{
	Suite *suite = suite_create("thread");
	TCase *t = story_tcase(suite, "thread");

	tcase_add_test(t, threads__open_and_close__loads_and_unloads_are_even);
	tcase_add_test(t, threads__open_together__one_loads_and_the_others_wait_for_it);
	tcase_add_test(t, threads__close_the_same_ia__one_succeeds);
	tcase_add_test(t, threads__first_use__reads_dat_conf_once);
	return suite;
}

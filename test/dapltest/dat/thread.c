/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several threads in the registry at once
 */
#include "story.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

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

STORY_CASE("thread:thread");

TEST(threads__open_and_close__loads_and_unloads_are_even)
{
	story_conf(CONF(""));
	run_threads(open_and_close);
	ck_assert_int_ge(story_traced("init"), 2);
	ck_assert_int_eq(story_traced("init"), story_traced("fini"));
	ck_assert_int_eq(story_traced("init"), story_traced("remove 00000000"));
	ck_assert_int_eq(story_traced("open x 8"), 4 * 50);
	ck_assert_int_eq(story_traced("close abrupt"), THREADS * 50);
}

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

TEST(threads__open_together__one_loads_and_the_others_wait_for_it)
{
	story_conf(CONF("slow"));
	run_threads(open_once);
	ck_assert_int_eq(story_traced("init"), 1);
	ck_assert_int_eq(story_traced("fini"), 1);
}

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

TEST(threads__close_the_same_ia__one_succeeds)
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

TEST(threads__first_use__reads_dat_conf_once)
{
	char want[8192];

	story_conf(CONF("") "bad\n");
	story_listen();
	run_threads(list_providers);
	snprintf(want, sizeof want, "dat: %s:3: 1 field where 8 are due; line ignored\n",
	    story_conf_path());
	ck_assert_str_eq(story_heard(), want);
}

/* ---- a library that another thread loads or unloads ---- */

enum { WAITERS = 3, WAIT_S = 10 };

#define NOT_FOUND DAT_ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED)
#define NO_DEVICE DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_DEVICE)

/* Opens and closes. */
struct user {
	pthread_t thread;
	const char *name;
	atomic_long tid;
	DAT_RETURN ret;
};

static void *
use(void *arg)
{
	struct user *user = arg;
	DAT_IA_HANDLE ia;

	atomic_store(&user->tid, syscall(SYS_gettid));
	user->ret = story_try_open(user->name, 2, 0, DAT_TRUE, &ia);
	if (user->ret == DAT_SUCCESS)
		user->ret = dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG);
	return NULL;
}

static void
user_start(struct user *user, const char *name)
{
	user->name = name;
	ck_assert_int_eq(pthread_create(&user->thread, NULL, use, user), 0);
}

static bool
user_sleeps(const struct user *user)
{
	char path[64], state = '?';
	FILE *in;

	snprintf(path, sizeof path, "/proc/self/task/%ld/stat", atomic_load(&user->tid));
	in = fopen(path, "re");
	ck_assert_ptr_nonnull(in);
	ck_assert_int_eq(fscanf(in, "%*d (%*[^)]) %c", &state), 1);
	fclose(in);
	return state == 'S';
}

/* It may have slept for something short once; not ten times. */
static void
user_await_sleep(const struct user *user)
{
	const struct timespec moment = { .tv_nsec = 1000 * 1000 };
	int asleep = 0;

	while (asleep < 10) {
		asleep = atomic_load(&user->tid) != 0 && user_sleeps(user) ? asleep + 1 : 0;
		nanosleep(&moment, NULL);
	}
}

static DAT_RETURN
user_end(struct user *user)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += WAIT_S;
	ck_assert_msg(pthread_timedjoin_np(user->thread, NULL, &end) == 0,
	    "the thread that opens \"%s\" still waits", user->name);
	return user->ret;
}

/* A thread of the provider is at the gate. */
static void
gate_await(const int gate[2])
{
	char byte;

	ck_assert_int_eq(recv(gate[0], &byte, 1, 0), 1);
}

/* Each way in which a record gets out of LOADING and UNLOADING.  %d: the gate. */
static const struct settling {
	const char *first, *second; /* parameters of one and perhaps another record */
	DAT_RETURN ret;
} settlings[] = {
	{ "initgate=%d", NULL, DAT_SUCCESS },
	{ "silent initgate=%d", NULL, NOT_FOUND },
	{ "otherkey initgate=%d", NULL, NOT_FOUND },
	{ "silent initgate=%d", "second", DAT_SUCCESS },
	{ "noopen initgate=%d", NULL, NO_DEVICE },
	{ "finigate=%d", NULL, DAT_SUCCESS },
	{ "forget finigate=%d", NULL, DAT_SUCCESS },
	{ "otherkey finigate=%d", NULL, NOT_FOUND },
	{ "otherkey finigate=%d", "second", DAT_SUCCESS },
	{ "noopen finigate=%d", NULL, NO_DEVICE },
};

enum { SETTLINGS = sizeof settlings / sizeof settlings[0] };

static void
put_record(char *text, size_t size, const char *name, const char *params, int gate)
{
	size_t n = strlen(text);

	n += (size_t)snprintf(text + n, size - n, "%s u2.0 threadsafe default %%S id.2.0 \"", name);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	n += (size_t)snprintf(text + n, size - n, params, gate);
#pragma GCC diagnostic pop
	snprintf(text + n, size - n, "\" \"\"\n");
}

/* origin: out33.E2 */
TEST_LOOP(threads__open_while_another_loads_or_unloads__all_go_on_when_it_has, SETTLINGS)
{
	const struct settling *settling = &settlings[_i];
	struct user first = { .tid = 0 }, users[WAITERS] = { { .tid = 0 } };
	char text[512] = "";
	int gate[2], i;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, gate), 0);
	put_record(text, sizeof text, "x", settling->first, gate[1]);
	if (settling->second)
		put_record(text, sizeof text, "x", settling->second, gate[1]);
	story_conf(text);
	story_listen();
	user_start(&first, "x");
	gate_await(gate);
	for (i = 0; i < WAITERS; i++)
		user_start(&users[i], "x");
	for (i = 0; i < WAITERS; i++)
		user_await_sleep(&users[i]);
	close(gate[0]);
	story_assert_ret(user_end(&first), settling->ret);
	for (i = 0; i < WAITERS; i++)
		story_assert_ret(user_end(&users[i]), settling->ret);
	(void)story_heard();
	close(gate[1]);
}

/* Those who wait for one record do not take the news of another from those who wait for that. */
/* origin: out33.E2 */
TEST_LOOP(threads__wait_for_two_names__each_goes_on_with_its_own, SETTLINGS)
{
	const struct settling *settling = &settlings[_i];
	struct user first[2] = { { .tid = 0 } }, users[2] = { { .tid = 0 } };
	const char *const names[2] = { "x", "y" };
	char text[512] = "";
	int gates[2][2], i;

	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, gates[i]), 0);
		put_record(text, sizeof text, names[i], settling->first, gates[i][1]);
		if (settling->second)
			put_record(text, sizeof text, names[i], settling->second, gates[i][1]);
	}
	story_conf(text);
	story_listen();
	for (i = 0; i < 2; i++) {
		user_start(&first[i], names[i]);
		gate_await(gates[i]);
		user_start(&users[i], names[i]);
		user_await_sleep(&users[i]);
	}
	/* The last that came is the first that may go on. */
	for (i = 1; i >= 0; i--) {
		close(gates[i][0]);
		story_assert_ret(user_end(&first[i]), settling->ret);
		story_assert_ret(user_end(&users[i]), settling->ret);
		close(gates[i][1]);
	}
	(void)story_heard();
}

/*
 * A second name of a library, without a record of its own, is none while the library is unloaded.
 */
TEST(threads__open_a_second_name_of_what_is_unloaded__is_not_found)
{
	struct user first = { .tid = 0 };
	char text[512] = "";
	DAT_IA_HANDLE ia;
	int gate[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, gate), 0);
	put_record(text, sizeof text, "x", "also=y finigate=%d", gate[1]);
	story_conf(text);
	story_listen();
	user_start(&first, "x");
	gate_await(gate);
	story_assert_ret(story_try_open("y", 2, 0, DAT_TRUE, &ia), NOT_FOUND);
	close(gate[0]);
	story_assert_ret(user_end(&first), DAT_SUCCESS);
	story_assert_ret(story_try_open("y", 2, 0, DAT_TRUE, &ia), NOT_FOUND);
	(void)story_heard();
	close(gate[1]);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The locks of the provider, counted on the thread of the consumer that calls it.  window.c lets
 * something happen between two of its lock sections.
 */
#include <pthread.h>

#include "fault.h"
#include "suites.h"

/* Locked and not yet unlocked; below zero: unlocked, and never locked. */
static _Thread_local int held;

/* Of the thread that set them. */
static _Thread_local int windows;
static _Thread_local void (*intruder)(void);

void
device_window_at(int n, void (*intrude)(void))
{
	windows = n;
	intruder = intrude;
}

bool
device_window_missed(void)
{
	const bool missed = windows > 0;

	windows = 0;
	return missed;
}

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int
__wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
	held++;
	return __real_pthread_mutex_lock(mutex);
}

static void *
run(void *intrude)
{
	void (**call)(void) = intrude;

	(*call)();
	return NULL;
}

/*
 * On a thread of its own: on this one it would sleep at the place where the interrupted call sleeps, and take
 * the wake that is meant for that call.
 */
static void
let_intrude(void)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, run, &intruder), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int
__wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	const int r = __real_pthread_mutex_unlock(mutex);

	if (--held == 0 && windows > 0 && --windows == 0)
		let_intrude();
	return r;
}

static void
refused(DAT_RETURN ret, DAT_RETURN_TYPE type)
{
	dt_assert_type(ret, type);
	ck_assert_int_eq(held, 0);
}

static void
ignore(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	(void)instance;
	(void)event;
	(void)more;
}

/* origin: peer.32 */
/* clause: c.4.9, c.4.10, c.4.11 */
START_TEST(wait__refused__leaves_every_lock_as_it_was)
{
	DAT_UPCALL_OBJECT object = { NULL, ignore };
	DAT_EVD_HANDLE evd, called;
	struct dt_side side;
	DAT_EVENT event;
	DAT_COUNT more;

	dt_side_open(&side, "device", DT_SEPARATE);
	evd = dt_evd(&side, DAT_EVD_DTO_FLAG | DAT_EVD_SOFTWARE_FLAG, 8);
	dt_ok(dat_evd_kcreate(
	    side.ia, 8, DAT_UPCALL_SINGLE_INSTANCE, &object, DAT_EVD_SOFTWARE_FLAG, &called));
	ck_assert_int_eq(held, 0);
	refused(dat_evd_wait(side.ep, 0, 1, &event, &more), DAT_INVALID_HANDLE);
	refused(dat_evd_wait(evd, 0, 1, NULL, &more), DAT_INVALID_PARAMETER);
	refused(dat_evd_wait(evd, 0, 1, &event, NULL), DAT_INVALID_PARAMETER);
	refused(dat_evd_wait(evd, 0, 0, &event, &more), DAT_INVALID_PARAMETER);
	refused(dat_evd_wait(evd, 0, 100000, &event, &more), DAT_INVALID_PARAMETER);
	refused(dat_evd_wait(evd, 0, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
	refused(dat_evd_wait(evd, 1000, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
	refused(dat_evd_wait(called, 0, 1, &event, &more), DAT_INVALID_STATE);
	dt_ok(dat_evd_set_unwaitable(evd));
	refused(dat_evd_wait(evd, 0, 1, &event, &more), DAT_INVALID_STATE);
	dt_ok(dat_evd_free(evd));
	refused(dat_evd_wait(evd, 0, 1, &event, &more), DAT_INVALID_HANDLE);
	dt_side_close(&side);
	ck_assert_int_eq(held, 0);
}
END_TEST

Suite *
device_lock_suite(void)
{
	Suite *s = suite_create("device-lock");
	TCase *tc = device_tcase(s, "lock");

	tcase_add_test(tc, wait__refused__leaves_every_lock_as_it_was);
	return s;
}

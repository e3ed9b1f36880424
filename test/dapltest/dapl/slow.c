/* SPDX-License-Identifier: BSD-3-Clause */
/* The word slow=MICROSECONDS: an upcall that takes longer is reported, once for each EVD. */
#include <string.h>
#include <unistd.h>

#include "lib/dt.h"
#include "printed.h"

#define LINE \
	"an upcall of EVD 0x[0-9a-f]+ took [0-9]+ microseconds, and dat.conf has slow=1000: its " \
	"thread makes " \
	"no other upcall meanwhile; leave long work to another thread"

struct sleeper {
	int ms;
	_Atomic(int) calls;
};

static void
sleep_in_upcall(DAT_PVOID arg, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	struct sleeper *sleeper = arg;

	(void)event, (void)more;
	if (sleeper->ms)
		dt_nap_ms(sleeper->ms);
	sleeper->calls++;
}

static void
sleep_in_array_upcall(DAT_PVOID arg, const DAT_EVENT *events, DAT_COUNT n, DAT_BOOLEAN more)
{
	for (DAT_COUNT i = 0; i < n; i++)
		sleep_in_upcall(arg, &events[i], more);
}

/* Posts n events to a new EVD, one after the other returned, and frees it. */
static void
post(DAT_IA_HANDLE ia, int n, int ms, bool array)
{
	struct sleeper sleeper = { .ms = ms };
	DAT_UPCALL_OBJECT object = { &sleeper, sleep_in_upcall };
	DAT_UPCALL_ARRAY_OBJECT several = { &sleeper, sleep_in_array_upcall, 4 };
	DAT_EVD_HANDLE evd;

	dt_ok(dat_evd_kcreate(ia, 8, DAT_UPCALL_DISABLE, &object, DAT_EVD_SOFTWARE_FLAG, &evd));
	if (array)
		dt_ok(dat_evd_modify_upcall_array(
		    evd, DAT_UPCALL_SINGLE_INSTANCE, &several, DAT_UPCALL_INVOC_ANY));
	else
		dt_ok(dat_evd_modify_upcall(
		    evd, DAT_UPCALL_SINGLE_INSTANCE, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_ANY));
	for (int i = 1; i <= n; i++) {
		dt_post_se(evd, 1);
		dt_await_count(&sleeper.calls, i);
	}
	dt_ok(dat_evd_free(evd));
}

static unsigned int
lines(void)
{
	unsigned int n = 0;

	for (const char *at = printed; (at = strstr(at, "an upcall of EVD ")); at++)
		n++;
	return n;
}

DT_CASE("slow:slow");

TEST_LOOP(upcall__takes_longer__is_reported_once_for_an_evd, 2)
{
	DAT_IA_HANDLE ia = dt_open("soft-slow", NULL);

	capture(STDERR_FILENO);
	post(ia, 3, 3, _i);
	captured();
	assert_line(LINE);
	ck_assert_uint_eq(lines(), 1);
	capture(STDERR_FILENO);
	post(ia, 1, 3, _i); /* the slot is used again */
	captured();
	ck_assert_uint_eq(lines(), 1);
	dt_close(ia);
}

/* Without the word no upcall is reported, however long it takes. */
TEST_LOOP(upcall__does_not_take_longer_or_no_limit_is_set__nothing_is_printed, 2)
{
	DAT_IA_HANDLE ia = dt_open(_i ? "soft-hardly-slow" : "soft", NULL);

	capture(STDERR_FILENO);
	post(ia, 1, 20, false);
	captured();
	ck_assert_uint_eq(lines(), 0);
	dt_close(ia);
}

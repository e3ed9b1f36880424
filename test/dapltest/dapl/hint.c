/* SPDX-License-Identifier: BSD-3-Clause */
/* Hints: why a call was refused.  Each test is a process of its own, which loads the provider after it has asked for them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dat2/dat_log.h>

#include "suites.h"
#include "lib/dt.h"

static char said[16384];

static void
note(DAT_PVOID context, DAT_LOG_LEVEL level, const char *line)
{
	const size_t used = strlen(said);

	(void)context;
	(void)level;
	snprintf(said + used, sizeof said - used, "%s\n", line);
}

/* There is one line that has all of these, in their order; the list ends with NULL. */
static bool
said_line(const char *const *parts)
{
	char copy[sizeof said], *rest = copy, *line, *at;
	int n = 0;

	memcpy(copy, said, sizeof copy);
	while ((line = strsep(&rest, "\n")) != NULL) {
		at = line;
		for (int i = 0; at && parts[i]; i++)
			at = strstr(at, parts[i]);
		n += at != NULL;
	}
	return n == 1;
}

#define assert_said(...) \
	ck_assert_msg( \
	    said_line((const char *const[]){ __VA_ARGS__, NULL }), "%s\n%s", #__VA_ARGS__, said)

static void
listen_to_hints(void)
{
	setenv("DAT_DBG_TYPE", "hints", 1);
	dt_ok(dat_rearm_set_log(note, NULL));
}

/* The code says what is wrong with which argument, and the hint the rest. */
/* origin: out33.H */
START_TEST(hints__calls_that_are_refused__have_a_line_that_says_why)
{
	struct dt_side side;
	DAT_CONN_QUAL qual;
	DAT_PSP_HANDLE psp;
	DAT_EVD_HANDLE evd;
	DAT_EP_HANDLE ep;

	listen_to_hints();
	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_assert_type(dat_evd_create(side.ia, 8, DAT_HANDLE_NULL, 0, &evd), DAT_INVALID_PARAMETER);
	assert_said("hint: dat_evd_create(ia=0x", "flags=NONE) is refused, DAT_INVALID_PARAMETER ",
	    "DAT_INVALID_ARG4: argument 4, flags: ");
	dt_assert_type(dat_psp_create_any(side.ia, &qual, side.recv, DAT_PSP_CONSUMER_FLAG, &psp),
	    DAT_INVALID_HANDLE);
	assert_said("hint: dat_psp_create_any(",
	    "DAT_INVALID_HANDLE_EVD_CR: ", "was created without DAT_EVD_CR_FLAG");
	dt_assert_type(
	    dat_ep_create(side.ia, side.pz, side.connect, side.request, side.connect, NULL, &ep),
	    DAT_INVALID_HANDLE);
	assert_said("hint: dat_ep_create(",
	    "DAT_INVALID_HANDLE_EVD_RECV: ", "was created without DAT_EVD_DTO_FLAG");
	dt_assert_type(
	    dat_ep_create(side.ia, side.pz, side.recv, side.request, side.recv, NULL, &ep),
	    DAT_INVALID_HANDLE);
	assert_said("hint: dat_ep_create(",
	    "DAT_INVALID_HANDLE_EVD_CONN: ", "was created without DAT_EVD_CONNECTION_FLAG");
	dt_assert_type(dat_evd_free(side.recv), DAT_INVALID_STATE);
	assert_said("hint: dat_evd_free(", "DAT_INVALID_STATE_EVD_IN_USE: ", ": used by EP 0x");
	dt_assert_type(dat_pz_free(side.pz), DAT_INVALID_STATE);
	assert_said(
	    "hint: dat_pz_free(", "DAT_INVALID_STATE_PZ_IN_USE: ", ": used by LMR 0x", ", EP 0x");
	dt_assert_type(dat_ep_disconnect(side.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_INVALID_STATE);
	assert_said("hint: dat_ep_disconnect(", "DAT_INVALID_STATE_EP_UNCONNECTED: ");
	dt_assert_type(dat_pz_free((DAT_PZ_HANDLE)&side), DAT_INVALID_HANDLE);
	assert_said("hint: dat_pz_free() is refused, DAT_INVALID_HANDLE: no open adapter has");
	ck_assert_ptr_null(strstr(said, "does not list"));
	dt_ok(dat_rearm_set_log(NULL, NULL));
	dt_side_close(&side);
}
END_TEST

/* What is no mistake has no hint; nor has anything, unless it is asked for. */
/* origin: out33.H */
START_TEST(hints__calls_that_are_answered__have_none)
{
	struct dt_side side;
	DAT_EVENT event;
	DAT_COUNT more;

	if (_i)
		listen_to_hints();
	else
		dt_ok(dat_rearm_set_log(note, NULL));
	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_assert_type(dat_evd_dequeue(side.recv, &event), DAT_QUEUE_EMPTY);
	dt_assert_type(dat_evd_wait(side.recv, 1000, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
	if (!_i)
		dt_assert_type(dat_evd_free(side.recv), DAT_INVALID_STATE);
	ck_assert_str_eq(said, "");
	dt_ok(dat_rearm_set_log(NULL, NULL));
	dt_side_close(&side);
}
END_TEST

Suite *
dapl_hint_suite(void)
{
	Suite *s = suite_create("hint");
	TCase *tc = dt_tcase(s, "hint");

	tcase_add_test(tc, hints__calls_that_are_refused__have_a_line_that_says_why);
	tcase_add_loop_test(tc, hints__calls_that_are_answered__have_none, 0, 2);
	return s;
}

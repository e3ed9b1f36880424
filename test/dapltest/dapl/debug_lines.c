/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The debug lines of the provider, which environment variables turn on.  Each test is a separate
 * process, which loads the provider after it has set the variables.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <dat2/dat_log.h>

#include "lib/dt.h"
#include "lib/feature.h"
#include "printed.h"

static void
nothing(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	(void)instance;
	(void)event;
	(void)more;
}

/* Some calls with every kind of argument. */
static void
do_something(void)
{
	DAT_UPCALL_OBJECT upcall = { NULL, nothing };
	DAT_CONTEXT context = { .as_64 = 42 };
	struct dt_side side;
	DAT_EVD_HANDLE evd;
	DAT_EVENT event;
	DAT_COUNT more;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_side_listen(&side);
	dt_ok(dat_set_consumer_context(side.ep, context));
	dt_ok(dat_evd_kcreate(side.ia, 8, DAT_UPCALL_DISABLE, DAT_UPCALL_SAME,
	    DAT_EVD_SOFTWARE_FLAG | DAT_EVD_CONNECTION_FLAG, &evd));
	dt_post_se(evd, 7);
	dt_assert_type(
	    dat_evd_modify_upcall(evd, DAT_UPCALL_SINGLE_INSTANCE, &upcall, DAT_UPCALL_INVOC_NEW),
	    DAT_INVALID_STATE);
	dt_ok(dat_evd_dequeue(evd, &event));
	dt_ok(dat_evd_modify_upcall(evd, DAT_UPCALL_MANY, &upcall, DAT_UPCALL_INVOC_ANY));
	dt_ok(
	    dat_evd_modify_upcall(evd, DAT_UPCALL_TEARDOWN, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_NEW));
	dt_assert_type(dat_ep_disconnect(side.ep, DAT_CLOSE_GRACEFUL_FLAG), DAT_INVALID_STATE);
	dt_assert_type(dt_try_send(&side, 0, 8, 1,
			   DAT_COMPLETION_SUPPRESS_FLAG | DAT_COMPLETION_SOLICITED_WAIT_FLAG),
	    DAT_INVALID_STATE);
	dt_assert_type(dat_evd_wait(side.recv, 1000, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
	dt_connect(&side, &side, NULL, 0);
	dt_ok(dat_cr_reject(dt_request(&side), 0, NULL));
	dt_expect_connection(side.connect, DAT_CONNECTION_EVENT_PEER_REJECTED, side.ep);
	dt_side_close(&side);
}

START_TEST(calls__class_enabled__are_printed_with_parameters_and_values)
{
	setenv("DAT_DBG_TYPE", "0x20", 1);
	capture(STDERR_FILENO);
	do_something();
	captured();
	assert_line("dat_ia_open\\(name=\"soft\", qlen=8, async_evd=NULL\\)");
	assert_line("dat_ia_open\\(\\) = DAT_SUCCESS, async_evd=0x[0-9a-f]+, ia=0x[0-9a-f]+");
	assert_line("dat_set_consumer_context\\(handle=0x[0-9a-f]+, context=0x2a\\)");
	assert_line("dat_evd_kcreate\\(ia=0x[0-9a-f]+, min_qlen=8, policy=DISABLE, upcall=SAME, "
		    "flags=SOFTWARE\\|CONNECTION\\)");
	assert_line("dat_evd_post_se\\(evd=0x[0-9a-f]+, "
		    "event=\\{DAT_SOFTWARE_EVENT, pointer=0x7\\}\\)");
	assert_line("dat_evd_modify_upcall\\(evd=0x[0-9a-f]+, policy=SINGLE_INSTANCE, "
		    "upcall=\\{0x[0-9a-f]+, instance=0x0\\}, flag=INVOC_NEW\\)");
	assert_line("dat_evd_modify_upcall\\(\\) = DAT_INVALID_STATE \\(0x80070000\\)");
	assert_line("dat_evd_dequeue\\(\\) = DAT_SUCCESS, "
		    "event=\\{DAT_SOFTWARE_EVENT, pointer=0x7\\}");
	assert_line("dat_evd_modify_upcall\\(.*policy=MANY, .*flag=INVOC_ANY\\)");
	assert_line("dat_evd_modify_upcall\\(.*policy=TEARDOWN, upcall=SAME, flag=INVOC_NEW\\)");
	assert_line("dat_ep_disconnect\\(ep=0x[0-9a-f]+, flags=GRACEFUL\\)");
	assert_line("dat_ep_disconnect\\(\\) = DAT_INVALID_STATE "
		    "DAT_INVALID_STATE_EP_UNCONNECTED \\(0x8007002f\\)");
	assert_line("dat_ep_post_send\\(ep=0x[0-9a-f]+, segments=1, iov=0x[0-9a-f]+, cookie=0x1, "
		    "flags=SUPPRESS\\|SOLICITED_WAIT\\)");
	assert_line("dat_evd_wait\\(evd=0x[0-9a-f]+, timeout=1000us, threshold=1\\)");
	assert_line("dat_ep_connect\\(ep=0x[0-9a-f]+, address=[0-9.]+, qual=[0-9]+, "
		    "timeout=INFINITE, size=0, data=NULL, qos=BEST_EFFORT, flags=DEFAULT\\)");
	assert_line("dat_evd_wait\\(\\) = DAT_SUCCESS, event=\\{"
		    "DAT_CONNECTION_EVENT_PEER_REJECTED, ep=0x[0-9a-f]+, size=[0-9]+\\}, more=0");
	assert_line("dat_ia_close\\(ia=0x[0-9a-f]+, flags=ABRUPT\\)");
	assert_no_line(".*RDMA_CM_EVENT.*");
}
END_TEST

static void
wake(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	(void)event;
	(void)more;
	sem_post(instance);
}

static void
wake_agent(DAT_PVOID instance, DAT_EVD_HANDLE evd)
{
	(void)evd;
	sem_post(instance);
}

/* An upcall for an event, one that only notifies, and an agent. */
static void
be_called(void)
{
	DAT_OS_WAIT_PROXY_AGENT agent;
	DAT_UPCALL_OBJECT upcall;
	DAT_IA_HANDLE ia;
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL, evd;
	DAT_CNO_HANDLE cno;
	sem_t called;

	sem_init(&called, 0, 0);
	upcall = (DAT_UPCALL_OBJECT){ &called, wake };
	agent = (DAT_OS_WAIT_PROXY_AGENT){ &called, wake_agent };
	dt_ok(dat_ia_open((DAT_NAME_PTR)(uintptr_t) "soft", 8, &async, &ia));
	dt_ok(dat_evd_kcreate(
	    ia, 8, DAT_UPCALL_SINGLE_INSTANCE, &upcall, DAT_EVD_SOFTWARE_FLAG, &evd));
	dt_post_se(evd, 7);
	sem_wait(&called);
	dt_ok(dat_evd_modify_upcall(evd, DAT_UPCALL_NOTIFY, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_NEW));
	dt_post_se(evd, 8);
	sem_wait(&called);
	dt_ok(
	    dat_evd_modify_upcall(evd, DAT_UPCALL_TEARDOWN, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_NEW));
	dt_ok(dat_cno_create(ia, agent, &cno));
	dt_ok(dat_evd_modify_cno(evd, cno));
	sem_wait(&called);
	dt_ok(dat_evd_free(evd));
	dt_ok(dat_cno_free(cno));
	dt_ok(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
	sem_destroy(&called);
}

static const struct {
	const char *variable, *value;
	bool before, after;
} callbacks[] = {
	{ "DAT_DBG_TYPE", "0x20", true, true },
	{ "DAPL_DBG_TYPE", "0x100", true, false },
	{ "DAPL_DBG_TYPE", "0x200", false, true },
	{ "DAPL_DBG_TYPE", "0x18", false, false },
	{ "DAT_DBG_TYPE", "calls", true, true },
	{ "DAPL_DBG_TYPE", "calls", true, false },
	{ "DAPL_DBG_TYPE", "results,connections", false, true },
};

START_TEST(callbacks__class_enabled__are_printed_with_the_event_and_at_return)
{
	const bool before = callbacks[_i].before, after = callbacks[_i].after;

	setenv(callbacks[_i].variable, callbacks[_i].value, 1);
	capture(STDERR_FILENO);
	be_called();
	captured();
	ck_assert_int_eq(has_line("upcall\\(evd=0x[0-9a-f]+, upcall=\\{0x[0-9a-f]+, "
				  "instance=0x[0-9a-f]+\\}, event=\\{DAT_SOFTWARE_EVENT, "
				  "pointer=0x7\\}, more_events=FALSE\\)"),
	    before);
	ck_assert_int_eq(has_line("upcall\\(evd=.*, event=NULL, more_events=TRUE\\)"), before);
	ck_assert_int_eq(has_line("agent\\(agent=\\{0x[0-9a-f]+, instance=0x[0-9a-f]+\\}, "
				  "evd=0x[0-9a-f]+\\)"),
	    before);
	ck_assert_int_eq(has_line("upcall\\(\\) returned"), after);
	ck_assert_int_eq(has_line("agent\\(\\) returned"), after);
}
END_TEST

START_TEST(extended_operations__class_enabled__are_printed_by_name_or_number)
{
	struct dat_rearm_evd_counters counters;
	struct dt_side side;

	setenv("DAT_DBG_TYPE", "0x20", 1);
	capture(STDERR_FILENO);
	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_ok(dat_evd_query_upcall_counters(side.recv, &counters));
	dt_assert_type(dat_ia_step(side.ia, 0, NULL), DAT_INVALID_STATE);
	dt_assert_type(dat_extension_op(side.ep, 0x77, 0), DAT_NOT_IMPLEMENTED);
	dt_side_close(&side);
	captured();
	assert_line("dat_evd_query_upcall_counters\\(evd=0x[0-9a-f]+, size=[0-9]+\\)");
	assert_line("dat_evd_query_upcall_counters\\(\\) = DAT_SUCCESS");
	assert_line("dat_extension_op\\(handle=0x[0-9a-f]+, op=0x103\\)");
	assert_line("dat_extension_op\\(\\) = DAT_INVALID_STATE .*");
	assert_line("dat_extension_op\\(handle=0x[0-9a-f]+, op=0x77\\)");
	assert_line("dat_extension_op\\(\\) = DAT_NOT_IMPLEMENTED .*");
}
END_TEST

START_TEST(calls__with_invalid_pointers__are_printed_and_refused)
{
	const DAT_PVOID nowhere = (DAT_PVOID)(uintptr_t)64;
	struct dt_side side;

	setenv("DAT_DBG_TYPE", "0x20", 1);
	capture(STDERR_FILENO);
	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_assert_type(dat_evd_post_se(side.ep, nowhere), DAT_INVALID_HANDLE);
	dt_assert_type(dat_ep_post_rdma_read(
			   side.pz, 1, nowhere, dt_cookie(1), nowhere, DAT_COMPLETION_DEFAULT_FLAG),
	    DAT_INVALID_HANDLE);
	dt_assert_type(dat_ep_connect(side.pz, nowhere, 1, 1000, 0, NULL, DAT_QOS_BEST_EFFORT,
			   DAT_CONNECT_DEFAULT_FLAG),
	    DAT_INVALID_HANDLE);
	dt_assert_type(
	    dat_evd_modify_upcall(side.pz, DAT_UPCALL_DISABLE, nowhere, DAT_UPCALL_INVOC_ANY),
	    DAT_INVALID_HANDLE);
	dt_side_close(&side);
	captured();
	assert_line("dat_evd_post_se\\(evd=0x[0-9a-f]+, event=0x40\\)");
	assert_line("dat_ep_post_rdma_read\\(.*, remote=0x40, flags=DEFAULT\\)");
	assert_line("dat_ep_connect\\(.*, address=0x40, .*\\)");
	assert_line("dat_evd_modify_upcall\\(.*, upcall=0x40, flag=INVOC_ANY\\)");
}
END_TEST

START_TEST(connections__class_enabled__every_change_of_state_is_printed)
{
	setenv("DAT_DBG_TYPE", "16", 1);
	capture(STDERR_FILENO);
	do_something();
	captured();
	assert_line("ep 0x[0-9a-f]+: RDMA_CM_EVENT_ROUTE_RESOLVED, status 0");
	assert_line("ep 0x[0-9a-f]+: RDMA_CM_EVENT_REJECTED, status 28");
	assert_line("ep 0x[0-9a-f]+: ACTIVE_CONNECTION_PENDING, the connection is rejected by the "
		    "consumer at the other end: DAT_CONNECTION_EVENT_PEER_REJECTED, DISCONNECTED");
	assert_no_line("dat_.*");
}
END_TEST

START_TEST(provider_variable__bits_of_openfabrics__ask_for_the_same)
{
	static const struct {
		const char *value;
		bool calls, results, connections;
	} cases[] = {
		{ "0x100", true, false, false },
		{ "0x200", false, true, false },
		{ "0x8", false, false, true },
		{ "0x318", true, true, true },
		{ "0x20", false, false, false },
	};

	setenv("DAPL_DBG_TYPE", cases[_i].value, 1);
	capture(STDERR_FILENO);
	do_something();
	captured();
	ck_assert_int_eq(has_line("dat_ep_create\\(.*\\)"), cases[_i].calls);
	ck_assert_int_eq(has_line("dat_ep_create\\(\\) = DAT_SUCCESS, .*"), cases[_i].results);
	ck_assert_int_eq(has_line("ep 0x.*"), cases[_i].connections);
}
END_TEST

static const struct {
	const char *type;
	bool reported;
} errors[] = { { NULL, true }, { "1", true }, { "0", false }, { "0x3e", false }, { "junk", true },
	{ "errors", true }, { "none", false }, { "calls,connections", false } };

START_TEST(errors__unless_disabled__are_printed)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia;

	if (errors[_i].type)
		setenv("DAT_DBG_TYPE", errors[_i].type, 1);
	else
		unsetenv("DAT_DBG_TYPE");
	capture(STDERR_FILENO);
	dt_assert_type(dat_ia_open((DAT_NAME_PTR)(uintptr_t) "bad-word", 8, &async, &ia),
	    DAT_INVALID_PARAMETER);
	captured();
	ck_assert_msg(has_line("dat_ia_open\\(\"bad-word\"\\): unknown option in the parameters of "
			       "the adapter: loop=3") == errors[_i].reported,
	    "%s", printed);
}
END_TEST

/* The line names what there is. */
START_TEST(personality_that_does_not_exist__line_says_which_do)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia;

	if (!dt_on_soft("has personalities"))
		return;
	unsetenv("DAT_DBG_TYPE");
	capture(STDERR_FILENO);
	dt_assert_type(dat_ia_open((DAT_NAME_PTR)(uintptr_t) "bad-personality", 8, &async, &ia),
	    DAT_INVALID_PARAMETER);
	captured();
	ck_assert_msg(
	    has_line("dat_ia_open\\(\"bad-personality\"\\): the device has no personality "
		     "\"lazy\", but strict, .*"),
	    "%s", printed);
	ck_assert_msg(!has_line(".*unknown option.*"), "%s", printed);
}
END_TEST

START_TEST(provider_variable__wrong_word__is_reported)
{
	setenv("DAPL_DBG_TYPE", "calls,everything", 1);
	capture(STDERR_FILENO);
	do_something();
	captured();
	assert_line("DAPL_DBG_TYPE is ignored: \"everything\" is neither a number nor one of none, "
		    "errors, connections, calls, results, all");
	assert_no_line("dat_ep_create\\(.*");
}
END_TEST

static char logged[4096];

static void
note(DAT_PVOID context, DAT_LOG_LEVEL level, const char *line)
{
	(void)context;
	snprintf(logged, sizeof logged, "%s %s", level == DAT_LOG_ERROR ? "error" : "debug", line);
}

START_TEST(log_function__of_the_program__gets_the_lines_of_the_provider)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia;

	dt_ok(dat_rearm_set_log(note, NULL));
	capture(STDERR_FILENO);
	dt_assert_type(dat_ia_open((DAT_NAME_PTR)(uintptr_t) "bad-word", 8, &async, &ia),
	    DAT_INVALID_PARAMETER);
	captured();
	ck_assert_str_eq(printed, "");
	ck_assert_int_eq(strncmp(logged, "error rearm[", 12), 0);
	ck_assert_ptr_nonnull(strstr(logged, "loop=3"));
}
END_TEST

START_TEST(nothing_asked_for__nothing_is_printed)
{
	setenv("DAT_DBG_TYPE", "0", 1);
	capture(STDERR_FILENO);
	do_something();
	captured();
	ck_assert_str_eq(printed, "");
}
END_TEST

START_TEST(destination__standard_output__is_where_lines_go)
{
	setenv("DAT_DBG_TYPE", "0x20", 1);
	setenv("DAT_DBG_DEST", _i ? "2" : "1", 1);
	if (_i)
		setenv("DAPL_DBG_DEST", "1", 1); /* counts more */
	capture(STDOUT_FILENO);
	do_something();
	captured();
	assert_line("dat_ia_close\\(\\) = DAT_SUCCESS");
}
END_TEST

static void *
ask_often(void *ep)
{
	for (int i = 0; i < 200; i++)
		(void)dat_ep_get_status(ep, NULL, NULL, NULL);
	return NULL;
}

START_TEST(lines__of_several_threads__do_not_mix)
{
	pthread_t threads[4];
	struct dt_side side;
	int asked = 0, answered = 0;

	setenv("DAT_DBG_TYPE", "0x20", 1);
	capture(STDERR_FILENO);
	dt_side_open(&side, "soft", DT_SEPARATE);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, ask_often, side.ep), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	dt_side_close(&side);
	captured();
	for (char *at = printed, *next; *at; at = next) {
		next = strchr(at, '\n');
		ck_assert_ptr_nonnull(next);
		*next++ = '\0';
		ck_assert_msg(strncmp(at, "rearm[", 6) == 0 && !strstr(at + 6, "rearm["), "%s", at);
		asked += strstr(at, ": dat_ep_get_status(ep=0x") != NULL;
		answered += strstr(at, ": dat_ep_get_status() = DAT_SUCCESS") != NULL;
	}
	ck_assert_int_eq(asked, 4 * 200);
	ck_assert_int_eq(answered, 4 * 200);
}
END_TEST

START_TEST(errno__of_the_caller__is_left_alone)
{
	struct dt_side side;
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC), saved = dup(STDERR_FILENO);

	setenv("DAT_DBG_TYPE", "0x20", 1);
	dup2(full, STDERR_FILENO); /* no line can be written */
	dt_side_open(&side, "soft", DT_SEPARATE);
	errno = ENOTTY;
	dt_ok(dat_ep_get_status(side.ep, NULL, NULL, NULL));
	ck_assert_int_eq(errno, ENOTTY);
	dt_side_close(&side);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(full);
}
END_TEST

static Suite *
debug_suite(void)
{
	Suite *s = suite_create("debug");
	TCase *tc = dt_tcase(s, "lines");

	tcase_add_test(tc, extended_operations__class_enabled__are_printed_by_name_or_number);
	tcase_add_test(tc, calls__with_invalid_pointers__are_printed_and_refused);
	tcase_add_test(tc, connections__class_enabled__every_change_of_state_is_printed);
	tcase_add_loop_test(tc, provider_variable__bits_of_openfabrics__ask_for_the_same, 0, 5);
	tcase_add_loop_test(tc, errors__unless_disabled__are_printed, 0, 8);
	tcase_add_test(tc, personality_that_does_not_exist__line_says_which_do);
	tcase_add_test(tc, provider_variable__wrong_word__is_reported);
	tcase_add_test(tc, log_function__of_the_program__gets_the_lines_of_the_provider);
	tcase_add_test(tc, nothing_asked_for__nothing_is_printed);
	tcase_add_loop_test(tc, destination__standard_output__is_where_lines_go, 0, 2);
	tcase_add_test(tc, lines__of_several_threads__do_not_mix);
	tcase_add_test(tc, errno__of_the_caller__is_left_alone);
	/* What a pointer of the caller points to is printed where it can be read without a risk. */
	if (!feature_read())
		runner_leave_out(tc, FEATURE_NO_READ);
	tcase_add_test(tc, calls__class_enabled__are_printed_with_parameters_and_values);
	tcase_add_loop_test(
	    tc, callbacks__class_enabled__are_printed_with_the_event_and_at_return, 0, 7);
	return s;
}

int
main(int argc, char **argv)
{
	static const runner_suite_fn suites[] = { debug_suite, shortage_suite, slow_suite, NULL };

	dt_load_late(); /* the provider reads the environment once */
	return runner_main(argc, argv, suites);
}

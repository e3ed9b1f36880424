/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the lines of the registry go: the log function of a program, and the debug variables
 */
#include "story.h"

#include <dat2/dat_log.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define INVALID_STATE DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE)

static struct {
	char text[8192];
	DAT_LOG_LEVEL level;
	int count;
} logged;

static void
note(DAT_PVOID context, DAT_LOG_LEVEL level, const char *line)
{
	ck_assert_ptr_eq(context, &logged);
	strncat(logged.text, line, sizeof logged.text - strlen(logged.text) - 2);
	strcat(logged.text, "\n");
	logged.level = level;
	logged.count++;
}

/* An adapter that has no provider: one line. */
static void
fail_once(void)
{
	DAT_IA_HANDLE ia;

	story_assert_ret(story_try_open("x", 2, 0, DAT_TRUE, &ia),
	    DAT_ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED));
}

STORY_CASE("log:function");

TEST(function__installed__gets_the_line_instead_of_standard_error)
{
	story_conf("# nothing\n");
	story_assert_ret(dat_rearm_set_log(note, &logged), DAT_SUCCESS);
	story_listen();
	fail_once();
	ck_assert_str_eq(story_heard(), "");
	ck_assert_int_eq(logged.count, 1);
	ck_assert_int_eq(logged.level, DAT_LOG_ERROR);
	ck_assert_int_eq(strncmp(logged.text, "dat: dat_ia_open(\"x\"): ", 23), 0);
}

/* The pipe has what came after three lines that were not written; standard error is as before. */
static void
expect_left_out(const int ends[2], int saved)
{
	char text[PIPE_BUF + 1] = { 0 };

	ck_assert_int_gt(read(ends[0], text, PIPE_BUF), 0);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(ends[0]);
	close(ends[1]);
	ck_assert_ptr_nonnull(strstr(text, "dat: 3 lines are left out here\ndat: dat_ia_open"));
}

/* origin: out33.Z5 */
TEST(stderr__is_full__lines_are_counted_and_no_call_waits)
{
	char text[PIPE_BUF + 1] = { 0 };
	int saved = dup(STDERR_FILENO), ends[2];

	story_conf("# nothing\n");
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(fcntl(ends[1], F_SETPIPE_SZ, PIPE_BUF), PIPE_BUF);
	memset(text, 'x', PIPE_BUF);
	ck_assert_int_eq(write(ends[1], text, PIPE_BUF), PIPE_BUF);
	ck_assert_int_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
	for (int i = 0; i < 3; i++)
		fail_once();
	ck_assert_int_eq(read(ends[0], text, PIPE_BUF), PIPE_BUF);
	fail_once();
	expect_left_out(ends, saved);
}

/* origin: out37.EE4 */
TEST(stderr__has_no_reader__lines_are_counted_and_no_signal_comes)
{
	int saved = dup(STDERR_FILENO), ends[2];

	story_conf("# nothing\n");
	signal(SIGPIPE, SIG_DFL);
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
	close(ends[0]);
	close(ends[1]);
	for (int i = 0; i < 3; i++)
		fail_once();
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
	fail_once();
	expect_left_out(ends, saved);
}

TEST(function__removed__lines_go_to_standard_error)
{
	story_conf("# nothing\n");
	story_assert_ret(dat_rearm_set_log(note, &logged), DAT_SUCCESS);
	story_assert_ret(dat_rearm_set_log(NULL, NULL), DAT_SUCCESS);
	story_listen();
	fail_once();
	ck_assert_ptr_nonnull(strstr(story_heard(), "dat: dat_ia_open(\"x\"): "));
	ck_assert_int_eq(logged.count, 0);
}

TEST(function__destination_set__both_get_the_line)
{
	story_conf("# nothing\n");
	setenv("DAT_DBG_DEST", "stdout", 1);
	story_assert_ret(dat_rearm_set_log(note, &logged), DAT_SUCCESS);
	fflush(stdout);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	story_listen();
	dup2(STDERR_FILENO, STDOUT_FILENO);
	fail_once();
	fflush(stdout);
	ck_assert_str_eq(story_heard(), logged.text);
	ck_assert_int_eq(logged.count, 1);
}

TEST(function__lines_that_were_asked_for__are_debug_lines)
{
	char want[1024];

	story_conf("x u2.0 threadsafe default %S id.2.0 \"\" \"\"\n");
	setenv("DAT_DBG_TYPE", "conf", 1);
	story_assert_ret(dat_rearm_set_log(note, &logged), DAT_SUCCESS);
	story_close(story_open("x", DAT_TRUE));
	snprintf(
	    want, sizeof want, "dat: %s was read\ndat: loaded " STUB_PATH "\n", story_conf_path());
	ck_assert_str_eq(logged.text, want);
	ck_assert_int_eq(logged.level, DAT_LOG_DEBUG);
}

static void
change_log(DAT_PVOID context, DAT_LOG_LEVEL level, const char *line)
{
	DAT_RETURN *rets = context;

	rets[0] = dat_rearm_set_log(NULL, NULL);
	rets[1] = dat_rearm_log(level, line);
}

TEST(function__that_calls_the_log__is_refused)
{
	DAT_RETURN rets[2] = { DAT_SUCCESS, DAT_SUCCESS };

	story_conf("# nothing\n");
	story_assert_ret(dat_rearm_set_log(change_log, rets), DAT_SUCCESS);
	fail_once();
	story_assert_ret(rets[0], INVALID_STATE);
	story_assert_ret(rets[1], INVALID_STATE);
}

static sem_t entered, leave;

static void
stay(DAT_PVOID left, DAT_LOG_LEVEL level, const char *line)
{
	(void)level;
	(void)line;
	sem_post(&entered);
	sem_wait(&leave);
	*(volatile bool *)left = true;
}

static void *
fail_on_a_thread(void *arg)
{
	fail_once();
	return arg;
}

static void *
let_leave(void *arg)
{
	usleep(20000); /* so that the call below is likely to have begun */
	sem_post(&leave);
	return arg;
}

TEST(function__in_use__is_removed_when_it_has_returned)
{
	pthread_t threads[2];
	bool left = false;

	story_conf("# nothing\n");
	sem_init(&entered, 0, 0);
	sem_init(&leave, 0, 0);
	story_assert_ret(dat_rearm_set_log(stay, &left), DAT_SUCCESS);
	ck_assert_int_eq(pthread_create(&threads[0], NULL, fail_on_a_thread, NULL), 0);
	sem_wait(&entered);
	ck_assert_int_eq(pthread_create(&threads[1], NULL, let_leave, NULL), 0);
	story_assert_ret(dat_rearm_set_log(NULL, NULL), DAT_SUCCESS);
	ck_assert(left);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

TEST(line__of_a_provider__reaches_the_function)
{
	story_assert_ret(dat_rearm_log(DAT_LOG_ERROR, "no function"), INVALID_STATE);
	story_assert_ret(dat_rearm_set_log(note, &logged), DAT_SUCCESS);
	story_assert_ret(dat_rearm_log(DAT_LOG_DEBUG, "a line"), DAT_SUCCESS);
	story_assert_ret(
	    dat_rearm_log(DAT_LOG_DEBUG, NULL), DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	ck_assert_str_eq(logged.text, "a line\n");
	ck_assert_int_eq(logged.level, DAT_LOG_DEBUG);
}

/* What a value selects of: an error (e), the library that is loaded (c), the registration (r). */
static const struct {
	const char *value, *selects;
} values[] = {
	{ "", "e" },
	{ "0", "" },
	{ "none", "" },
	{ "1", "e" },
	{ "errors", "e" },
	{ "4", "c" },
	{ "conf", "c" },
	{ "registry", "r" },
	{ "conf,registry", "cr" },
	{ "errors,0x8", "er" },
	{ "0x0d", "ecr" },
	{ "all", "ecr" },
	{ "calls,connections,general", "" },
};

STORY_CASE("log:variables");

TEST_LOOP(type__words_and_numbers__select, sizeof values / sizeof values[0])
{
	const char *heard;
	char selected[4] = "";
	DAT_IA_HANDLE ia;

	story_conf("x u2.0 threadsafe default %S id.2.0 \"\" \"\"\n");
	setenv("DAT_DBG_TYPE", values[_i].value, 1);
	story_listen();
	story_close(story_open("x", DAT_TRUE));
	story_assert_ret(story_try_open("y", 2, 0, DAT_TRUE, &ia),
	    DAT_ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED));
	heard = story_heard();
	strcat(selected, strstr(heard, "dat_ia_open(\"y\")") ? "e" : "");
	strcat(selected, strstr(heard, "dat: loaded ") ? "c" : "");
	strcat(selected, strstr(heard, " has registered\n") ? "r" : "");
	ck_assert_str_eq(selected, values[_i].selects);
}

static const struct {
	const char *variable, *value, *word;
} mistakes[] = {
	{ "DAT_DBG_TYPE", "al", "al" },
	{ "DAT_DBG_TYPE", "errors,", "" },
	{ "DAT_DBG_TYPE", "-1", "-1" },
	{ "DAT_DBG_TYPE", "0x1x", "0x1x" },
	{ "DAT_DBG_TYPE", "conf registry", "conf registry" },
	{ "DAT_DBG_TYPE", "99999999999999999999", "99999999999999999999" },
	{ "DAT_DBG_DEST", "stdin", "stdin" },
	{ "DAT_DBG_TYPE", "conf123456789012345678901234567890123456x",
	    "conf123456789012345678901234567890123456" },
};

TEST_LOOP(variable__wrong_word__is_reported_once_and_errors_are_printed,
    sizeof mistakes / sizeof mistakes[0])
{
	const bool type = strcmp(mistakes[_i].variable, "DAT_DBG_TYPE") == 0;
	const char *heard;
	char want[512];

	story_conf("# nothing\n");
	setenv(mistakes[_i].variable, mistakes[_i].value, 1);
	story_listen();
	fail_once();
	fail_once();
	heard = story_heard();
	snprintf(want, sizeof want,
	    "dat: %s is ignored: \"%s\" is neither a number nor one of %s\n", mistakes[_i].variable,
	    mistakes[_i].word,
	    type ? "none, errors, general, conf, registry, connections, calls, hints, all" :
		   "stderr, stdout, syslog");
	ck_assert_msg(strncmp(heard, want, strlen(want)) == 0, "%s", heard);
	heard = strstr(heard + strlen(want), "dat: dat_ia_open(\"x\"): ");
	ck_assert_ptr_nonnull(heard);
	ck_assert_ptr_null(strstr(heard, "is ignored"));
}

static const struct {
	const char *variable, *value, *complaint;
} bits[] = {
	{ "DAT_DBG_TYPE", "0x81",
	    "DAT_DBG_TYPE: the bits 0x80 have no meaning; there is 0x7f, none, " },
	{ "DAT_DBG_TYPE", "0x80",
	    "DAT_DBG_TYPE: the bits 0x80 have no meaning; there is 0x7f, none, " },
	{ "DAT_DBG_TYPE", "conf,256",
	    "DAT_DBG_TYPE: the bits 0x100 have no meaning; there is 0x7f, " },
	{ "DAT_DBG_DEST", "4",
	    "DAT_DBG_DEST: the bits 0x4 have no meaning; there is 0x3, stderr, stdout, syslog\n" },
	{ "DAT_DBG_TYPE", "0xff", NULL }, /* everything, elsewhere too */
	{ "DAT_DBG_TYPE", "0x7f", NULL },
	{ "DAT_DBG_TYPE", "0x40", NULL },
	{ "DAT_DBG_DEST", "0", NULL },
};

/* origin: out33.F9 */
TEST_LOOP(variable__bits_without_a_meaning__are_reported_once, sizeof bits / sizeof bits[0])
{
	const char *heard, *said;

	story_conf("# nothing\n");
	setenv(bits[_i].variable, bits[_i].value, 1);
	story_listen();
	fail_once();
	fail_once();
	heard = story_heard();
	if (!bits[_i].complaint) {
		ck_assert_msg(!strstr(heard, "no meaning"), "%s", heard);
		return;
	}
	said = strstr(heard, bits[_i].complaint);
	ck_assert_msg(said && said == heard + strlen("dat: "), "%s", heard);
	ck_assert_msg(!strstr(said + strlen(bits[_i].complaint), "no meaning"), "%s", heard);
}

/* ---- hints ---- */

/* What was heard is one hint, about this call, with these words; then nothing has been heard. */
static void
assert_hinted(DAT_RETURN ret, DAT_RETURN expected, const char *call, const char *words)
{
	const char *heard = story_heard(), *end = strchr(heard, '\n');
	char begin[128];

	snprintf(begin, sizeof begin, "dat: hint: %s() is refused, ", call);
	story_assert_ret(ret, expected);
	ck_assert_msg(
	    !strncmp(heard, begin, strlen(begin)) && strstr(heard, words), "%s: %s", call, heard);
	ck_assert_msg(end && !end[1], "%s: %s", call, heard);
	story_listen();
}

#define PARAMETER(n) DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG##n)
#define PARAMETER_SAID(n) "DAT_INVALID_PARAMETER DAT_INVALID_ARG" #n ": argument " #n ": "

STORY_CASE("log:function");

/* origin: out33.H2 */
TEST(hints__what_the_registry_itself_refuses__has_a_line)
{
	char name[DAT_NAME_MAX_LENGTH + 1] = "";
	DAT_PROVIDER provider = { 0 };
	DAT_PROVIDER_INFO info = { 0 };
	DAT_HA_RELATIONSHIP related;
	DAT_REARM_RECORD record;
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia, closed;
	DAT_CONN_QUAL qualifier;
	DAT_PSP_HANDLE psp;
	DAT_EVENT event;
	DAT_COUNT n, more;

	memset(name, 'n', DAT_NAME_MAX_LENGTH);
	setenv("DAT_DBG_TYPE", "hints", 1);
	story_conf("x u2.0 threadsafe default %S id.2.0 \"\" \"\"\n");
	story_listen();
	closed = story_open("x", DAT_TRUE);
	story_close(closed);
	ck_assert_str_eq(story_heard(), "");
	story_listen();
	assert_hinted(
	    dat_ia_open(NULL, 8, &async, &ia), PARAMETER(1), "dat_ia_open", PARAMETER_SAID(1));
	assert_hinted(
	    dat_ia_open(name, 8, &async, &ia), PARAMETER(1), "dat_ia_open", PARAMETER_SAID(1));
	assert_hinted(
	    dat_ia_open("x", 8, NULL, &ia), PARAMETER(3), "dat_ia_open", PARAMETER_SAID(3));
	assert_hinted(dat_ia_open("x", 8, &async, NULL),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA), "dat_ia_open",
	    "DAT_INVALID_HANDLE DAT_INVALID_HANDLE_IA: argument 4: ");
	assert_hinted(dat_ia_openv("x", 8, &async, &ia, 2, 0, (DAT_BOOLEAN)7), PARAMETER(7),
	    "dat_ia_openv", PARAMETER_SAID(7));
	assert_hinted(dat_ia_close(closed, DAT_CLOSE_ABRUPT_FLAG),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA), "dat_ia_close",
	    "no open adapter has the handle 0x");
	assert_hinted(dat_psp_create_any(closed, &qualifier, async, DAT_PSP_CONSUMER_FLAG, &psp),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA), "dat_psp_create_any",
	    "no open adapter");
	assert_hinted(dat_evd_wait(closed, 0, 1, &event, &more),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_REQUEST), "dat_evd_wait",
	    "no open adapter");
	assert_hinted(dat_ia_close(DAT_HANDLE_NULL, DAT_CLOSE_ABRUPT_FLAG),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA), "dat_ia_close",
	    "the handle is DAT_HANDLE_NULL");
	assert_hinted(dats_get_ia_handle(closed, NULL), PARAMETER(2), "dats_get_ia_handle",
	    PARAMETER_SAID(2));
	assert_hinted(dats_get_ia_handle(closed, &ia),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA), "dats_get_ia_handle",
	    "no open adapter");
	assert_hinted(dat_extension_op(closed, 1),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1), "dat_extension_op",
	    "no open adapter");
	assert_hinted(dat_extension_op(closed, DAT_CLOSE_EXTENSION_BASE),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1), "dat_extension_op",
	    "no open adapter");
	assert_hinted(dat_extension_op(NULL, DAT_OPEN_EXTENSION_BASE, NULL, &ia), PARAMETER(3),
	    "dat_extension_op", PARAMETER_SAID(3));
	assert_hinted(dat_extension_op(NULL, DAT_OPEN_EXTENSION_BASE, name, &ia), PARAMETER(3),
	    "dat_extension_op", PARAMETER_SAID(3));
	assert_hinted(dat_extension_op(NULL, DAT_OPEN_EXTENSION_BASE, "x", NULL), PARAMETER(4),
	    "dat_extension_op", PARAMETER_SAID(4));
	assert_hinted(dat_registry_list_providers(1, NULL, NULL), PARAMETER(2),
	    "dat_registry_list_providers", PARAMETER_SAID(2));
	assert_hinted(dat_registry_list_providers(1, &n, NULL), PARAMETER(3),
	    "dat_registry_list_providers", PARAMETER_SAID(3));
	assert_hinted(dat_registry_list_providers(1, &n, (DAT_PROVIDER_INFO *[]){ NULL }),
	    PARAMETER(3), "dat_registry_list_providers", PARAMETER_SAID(3));
	assert_hinted(dat_rearm_list_records(-1, &n, &record), PARAMETER(1),
	    "dat_rearm_list_records", PARAMETER_SAID(1));
	assert_hinted(dat_rearm_list_records(1, NULL, &record), PARAMETER(2),
	    "dat_rearm_list_records", PARAMETER_SAID(2));
	assert_hinted(dat_rearm_list_records(1, &n, NULL), PARAMETER(3), "dat_rearm_list_records",
	    PARAMETER_SAID(3));
	assert_hinted(dat_registry_providers_related(NULL, "x", &related), PARAMETER(1),
	    "dat_registry_providers_related", PARAMETER_SAID(1));
	assert_hinted(dat_registry_providers_related("x", NULL, &related), PARAMETER(2),
	    "dat_registry_providers_related", PARAMETER_SAID(2));
	assert_hinted(dat_registry_providers_related("x", "x", NULL), PARAMETER(3),
	    "dat_registry_providers_related", PARAMETER_SAID(3));
	assert_hinted(dat_registry_providers_related("x", "y", &related),
	    DAT_ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED),
	    "dat_registry_providers_related", "in no record");
	assert_hinted(dat_registry_add_provider(NULL, &info), PARAMETER(1),
	    "dat_registry_add_provider", PARAMETER_SAID(1));
	assert_hinted(dat_registry_add_provider(&provider, &info), PARAMETER(1),
	    "dat_registry_add_provider", PARAMETER_SAID(1));
	assert_hinted(dat_registry_remove_provider(NULL, &info), PARAMETER(1),
	    "dat_registry_remove_provider", PARAMETER_SAID(1));
	assert_hinted(dat_registry_remove_provider(&provider, NULL), PARAMETER(2),
	    "dat_registry_remove_provider", PARAMETER_SAID(2));
	assert_hinted(
	    dat_rearm_log(DAT_LOG_ERROR, NULL), PARAMETER(2), "dat_rearm_log", PARAMETER_SAID(2));
	/* Asks for the number of records, as programs do. */
	story_assert_ret(dat_registry_list_providers(0, &n, NULL), PARAMETER(1));
	ck_assert_str_eq(story_heard(), "");
	unsetenv("DAT_DBG_TYPE");
}

/* ---- texts of others ---- */

/*
 * Bytes that a terminal obeys, or that end a line; and what they are in a line.  DAT.CONF has no
 * line breaks in a field.
 */
#define HOSTILE \
	"a\033[2J\r\nb\007\177\x9b\xc2\x85" \
	"c"
#define SHOWN "a\\x1b[2J\\x0d\\x0ab\\x07\\x7f\\x9b\\xc2\\x85c"
#define FIELD \
	"a\033[2Jb\007\177\x9b\xc2\x85" \
	"c"
#define SHOWN_FIELD "a\\x1b[2Jb\\x07\\x7f\\x9b\\xc2\\x85c"

/*
 * What a program opens, what a file of records and the environment have, and what is printed of it.
 */
static const struct {
	const char *conf, *variable, *value, *name, *said;
} texts[] = {
	{ "# nothing\n", NULL, NULL, HOSTILE, "dat_ia_open(\"" SHOWN "\")" },
	{ FIELD " u2.0 threadsafe default %S id.2.0 \"\" \"\"\n", NULL, NULL, "x",
	    "it has " SHOWN_FIELD },
	{ FIELD "X u2.0 threadsafe default %S id.2.0 \"\" \"\"\n", NULL, NULL, FIELD "Y",
	    "did you mean " SHOWN_FIELD "X?" },
	{ "x " FIELD " threadsafe default %S id.2.0 \"\" \"\"\n", NULL, NULL, "x",
	    "field 2 is \"" SHOWN_FIELD "\"" },
	{ "x u2.0 " FIELD " default %S id.2.0 \"\" \"\"\n", NULL, NULL, "x",
	    "field 3 is \"" SHOWN_FIELD "\"" },
	{ "x u2.0 threadsafe " FIELD " %S id.2.0 \"\" \"\"\n", NULL, NULL, "x",
	    "field 4 is \"" SHOWN_FIELD "\"" },
	{ "x u2.0 threadsafe default /" FIELD " id.2.0 \"\" \"\"\n", NULL, NULL, "x",
	    "cannot load the library: /" SHOWN_FIELD ":" },
	{ "x u2.0 threadsafe default %S " FIELD " \"\" \"\"\n", NULL, NULL, "x",
	    "field 6 is \"" SHOWN_FIELD "\"" },
	{ "# nothing\n", "DAT_DBG_TYPE", HOSTILE, "x", "DAT_DBG_TYPE is ignored: \"" SHOWN "\"" },
	{ "# nothing\n", "DAT_DBG_DEST", HOSTILE, "x", "DAT_DBG_DEST is ignored: \"" SHOWN "\"" },
	{ "# nothing\n", "DAT_OVERRIDE", "/nowhere/" HOSTILE, "x",
	    "cannot read /nowhere/" SHOWN ":" },
};

/* `lines` lines, and nothing else for a terminal. */
static void
assert_printable(const char *text, int lines, const char *said)
{
	for (const char *c = text; *c != '\0'; c++) {
		ck_assert_msg((*c >= ' ' && *c <= '~') || *c == '\n', "byte 0x%02x in: %s",
		    (unsigned int)(unsigned char)*c, text);
		lines -= *c == '\n';
	}
	ck_assert_msg(lines == 0, "%d lines more: %s", -lines, text);
	ck_assert_msg(strstr(text, said) != NULL, "no %s in %s", said, text);
}

static int
count_lines(const char *text)
{
	int n = 0;

	for (; *text != '\0'; text++)
		n += *text == '\n';
	return n;
}

STORY_CASE("log:text");

/* origin: out33.F3 */
TEST_LOOP(text__with_control_bytes__is_printed_without, sizeof texts / sizeof texts[0])
{
	DAT_IA_HANDLE ia;
	const char *heard;

	story_conf(texts[_i].conf);
	if (texts[_i].variable)
		setenv(texts[_i].variable, texts[_i].value, 1);
	story_listen();
	(void)story_try_open(texts[_i].name, 2, 0, DAT_TRUE, &ia);
	heard = story_heard();
	ck_assert_int_le(count_lines(heard), 2);
	assert_printable(heard, count_lines(heard), texts[_i].said);
}

/* origin: out33.F3 */
TEST_LOOP(
    text__with_control_bytes__reaches_the_log_function_without, sizeof texts / sizeof texts[0])
{
	DAT_IA_HANDLE ia;

	story_conf(texts[_i].conf);
	if (texts[_i].variable)
		setenv(texts[_i].variable, texts[_i].value, 1);
	story_assert_ret(dat_rearm_set_log(note, &logged), DAT_SUCCESS);
	(void)story_try_open(texts[_i].name, 2, 0, DAT_TRUE, &ia);
	assert_printable(logged.text, logged.count, texts[_i].said);
}

/*
 * What a provider passes on, and a line that is longer than any of ours: it is cut, not in the
 * middle of a byte.
 */
/* origin: out33.F3 */
TEST(text__of_a_provider__reaches_the_log_function_without_control_bytes)
{
	static char huge[1 << 14];

	memset(huge, '\n', sizeof huge - 1);
	story_assert_ret(dat_rearm_set_log(note, &logged), DAT_SUCCESS);
	story_assert_ret(dat_rearm_log(DAT_LOG_ERROR, HOSTILE), DAT_SUCCESS);
	assert_printable(logged.text, 1, SHOWN);
	logged.text[0] = '\0';
	story_assert_ret(dat_rearm_log(DAT_LOG_ERROR, huge), DAT_SUCCESS);
	assert_printable(logged.text, 1, "\\x0a\\x0a\\x0a");
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a report looks like: each field has a number of its own.  And that it is made once, and counted; and times that are fair.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake.h"
#include "suites.h"
#include "soft/check/fair.h"
#include "soft/check/print.h"
#include "soft/check/settings.h"
#include "soft/check/tally.h"

void __real_soft_report(enum soft_kind kind, struct soft_check_queue *queue,
    const struct soft_check_state *state, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void __real_soft_report_object(enum soft_kind kind, const char *object,
    const struct soft_site *site, const char *format, ...) __attribute__((format(printf, 4, 5)));
unsigned int __real_soft_reports(void);
void __real_soft_report_end(uint64_t waited);

static struct soft_check_queue *queue;
static struct soft_check_state state;

static void
set_out(void) UNCHECKED
{
	fake_reset();
	(void)fake_queue(0);
	queue = fake_queue(0);
	fake_now = 100ull * SOFT_SECOND;
	queue->context = (void *)(uintptr_t)0x1234;
	queue->cq->ibv.cqe = 33;
	queue->events_read = 34;
	queue->events_acknowledged = 35;
	queue->found = 36;
	queue->wanted = 37;
	queue->polled.thread = 41;
	queue->polled.when = fake_now - 1 * SOFT_SECOND;
	queue->armed.thread = 42;
	queue->armed.when = fake_now - 2ull * SOFT_SECOND;
	queue->event.thread = 43;
	queue->event.when = fake_now - 3ull * SOFT_SECOND;
	queue->destroying.thread = 44;
	queue->destroying.when = fake_now - 4ull * SOFT_SECOND;
	state = (struct soft_check_state){ .visible = 51,
		.held = 52,
		.due = 53,
		.unread = 54,
		.armed = SOFT_ARMED_ANY,
		.moves = 1u << SOFT_CHOOSE_MERGE | 1u << SOFT_CHOOSE_PAUSE };
	soft_check_settings = (struct soft_check_settings){ .seed = 18446744073709551613u,
		.timeout = SOFT_SECOND,
		.replay = "REPLAY",
		.program = " PROGRAM" };
}

static char text[8192];

static const char *
printed(bool json, enum soft_kind kind)
{
	FILE *stream = fmemopen(text, sizeof text, "w");

	(json ? soft_print_json : soft_print_text)(stream, kind, queue, &state, "What happened.");
	fclose(stream);
	return text;
}

#define assert_has(part) ck_assert_msg(strstr(text, part) != NULL, "no %s in\n%s", part, text)

START_TEST(json__each_field__its_own_value)
{
	char process[64];

	set_out();
	printed(true, SOFT_EVENT_UNREAD);
	snprintf(process, sizeof process, "\"process\":%d,", (int)getpid());
	assert_has(
	    "{\"kind\":\"event-unread\",\"queue\":2,\"cqn\":2,\"seed\":18446744073709551613,");
	assert_has(process);
	assert_has(
	    "\"what\":\"What happened.\",\"to_poll\":51,\"armed\":true,\"events_to_read\":54,"
	    "\"moves\":[\"merge\",\"pause\"],\"events_read\":34,\"events_acknowledged\":35,"
	    "\"last_found\":36,\"threads\":{"
	    "\"poll\":{\"thread\":41,\"ago\":1.000000,\"backtrace\":[]},"
	    "\"arm\":{\"thread\":42,\"ago\":2.000000,\"backtrace\":[]},"
	    "\"event\":{\"thread\":43,\"ago\":3.000000,\"backtrace\":[]},"
	    "\"destroy\":{\"thread\":44,\"ago\":4.000000,\"backtrace\":[]}},\"rule\":\"The event "
	    "of");
	assert_has("\"mend\":\"Wait for the channels");
	state.armed = SOFT_UNARMED;
	queue->armed.thread = 0;
	printed(true, SOFT_EVENT_UNREAD);
	assert_has("\"armed\":false,");
	assert_has("\"arm\":null,\"event\":{");
}
END_TEST

START_TEST(text__each_field__its_own_value)
{
	static const char *const armed[] = { "not armed", "armed for solicited completions",
		"armed" };
	char part[256];

	set_out();
	printed(false, SOFT_STRANDED);
	snprintf(part, sizeof part,
	    "softverbs-run --check: stranded: completion queue 2 of process %d (", (int)getpid());
	assert_has(part);
	assert_has("  what:   What happened.\n");
	assert_has("  last poll:  by thread 41, 1.000 s ago: found 36 of 37\n"
		   "  last arm:   by thread 42, 2.000 s ago\n"
		   "  last event: by thread 43, 3.000 s ago\n"
		   "  destroyed:  by thread 44, 4.000 s ago\n");
	queue->arm_failed = true;
	queue->event.thread = 0;
	queue->destroying.thread = 0;
	printed(false, SOFT_STRANDED);
	assert_has("  last arm:   by thread 42, 2.000 s ago: failed\n  last event: none\n  rule:");
	ck_assert_ptr_null(strstr(text, "destroyed:"));
	for (int i = 0; i < 3; i++) {
		state.armed = (enum soft_armed)i;
		printed(false, SOFT_STRANDED);
		snprintf(part, sizeof part,
		    "cqn 2, %p, context 0x1234, 33 entries; 51 to poll, %s, 54 events to read, 34 "
		    "read, 35 acknowledged\n",
		    (void *)queue->cq, armed[i]);
		assert_has(part);
	}
}
END_TEST

/* Lines that are wrapped have as many columns as fit, and lose no word. */
START_TEST(text__long_lines__are_wrapped)
{
	size_t length, longest = 0;

	set_out();
	for (int kind = 0; kind < SOFT_KINDS; kind++) {
		printed(false, (enum soft_kind)kind);
		for (char *line = strstr(text, "  rule:");
		     line && strncmp(line, "  replay", 8) != 0; line = strchr(line, '\n') + 1) {
			length = strcspn(line, "\n");
			longest = length > longest ? length : longest;
			ck_assert_msg(length <= 101, "%.*s", (int)length, line);
			ck_assert(!strncmp(line, "  rule:   ", 10) ||
				  !strncmp(line, "  mend:   ", 10) ||
				  !strncmp(line, "          ", 10));
			ck_assert(line[10] != ' ');
		}
	}
	ck_assert_uint_ge(longest, 98);
}
END_TEST

START_TEST(replay__options_of_each_kind)
{
	static const struct {
		enum soft_kind kind;
		bool bounded;
		const char *line;
	} rows[] = {
		{ SOFT_STRANDED, false,
		    "REPLAY --schedule=hold,delay,split,late,merge,reorder,pause,after,"
		    "2:merge=always,2:pause=always PROGRAM" },
		{ SOFT_EVENT_UNREAD, false,
		    "REPLAY --schedule=hold,delay,split,late,merge,reorder,pause,after,"
		    "late=always,merge=always,pause=always PROGRAM" },
		{ SOFT_SLEEPS_UNARMED, false,
		    "REPLAY --schedule=2:hold=always,2:merge=always,2:pause=always,2:after=always "
		    "PROGRAM" },
		{ SOFT_NOT_LOOKED_AT_AGAIN, false,
		    "REPLAY --schedule=2:hold=always,2:pause=always PROGRAM" },
		{ SOFT_NOT_LOOKED_AT_AGAIN, true,
		    "REPLAY --schedule=2:late=always,2:merge=always,2:pause=always PROGRAM" },
		{ SOFT_OVERRUN, false, "REPLAY PROGRAM" },
	};
	char line[256];

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		set_out();
		if (rows[i].bounded)
			queue->found = queue->wanted;
		printed(false, rows[i].kind);
		snprintf(line, sizeof line, "  replay: %s\n", rows[i].line);
		assert_has(line);
		printed(true, rows[i].kind);
		snprintf(line, sizeof line, ",\"replay\":\"%s\"}\n", rows[i].line);
		assert_has(line);
	}
	soft_check_settings.replay = NULL;
	printed(false, SOFT_OVERRUN);
	ck_assert_ptr_null(strstr(text, "replay"));
	printed(true, SOFT_OVERRUN);
	ck_assert_ptr_null(strstr(text, "replay"));
}
END_TEST

START_TEST(object__each_field__its_own_value)
{
	struct soft_site site = { .thread = 45 };
	FILE *stream;

	set_out();
	site.when = fake_now - 5ull * SOFT_SECOND;
	for (int json = 0; json < 2; json++) {
		stream = fmemopen(text, sizeof text, "w");
		soft_print_object(
		    stream, json, SOFT_NEVER_ACKNOWLEDGED, "thing 9", &site, "It waits.");
		fclose(stream);
		if (json) {
			assert_has("{\"kind\":\"never-acknowledged\",\"object\":\"thing 9\","
				   "\"seed\":18446744073709551613,\"process\":");
			assert_has("\"what\":\"It waits.\",\"threads\":{\"destroy\":{\"thread\":45,"
				   "\"ago\":5.000000,\"backtrace\":[]}},\"rule\":\"A call that");
			assert_has("\"mend\":\"Acknowledge each");
			assert_has(",\"replay\":\"REPLAY PROGRAM\"}\n");
		} else {
			assert_has(
			    "softverbs-run --check: never-acknowledged: thing 9 of process ");
			assert_has(
			    "  what:   It waits.\n  destroyed:  by thread 45, 5.000 s ago\n");
			assert_has("  rule:   A call that");
			assert_has("  replay: REPLAY PROGRAM\n");
		}
	}
}
END_TEST

/* ---- reports */

START_TEST(report__of_a_queue_and_a_kind__once__and_counted)
{
	char path[] = "/tmp/test-checker-XXXXXX";
	const int fd = mkostemp(path, O_CLOEXEC);
	const unsigned int told = soft_tally->reports;
	int lines = 0;
	FILE *file;

	ck_assert_int_ge(fd, 0);
	set_out();
	soft_check_settings.report = path;
	soft_check_settings.json = true;
	for (int i = 0; i < 3; i++) {
		__real_soft_report(SOFT_STRANDED, queue, &state, "one");
		__real_soft_report(SOFT_CONNECTION_ENDED, queue, &state, "two");
		__real_soft_report(
		    SOFT_STRANDED, soft_check_queue_of(&fake_cq[0]), &state, "three");
	}
	ck_assert_uint_eq(__real_soft_reports(), 3);
	/* Of an object each is another one. */
	for (int i = 0; i < 2; i++)
		__real_soft_report_object(
		    SOFT_NEVER_ACKNOWLEDGED, "thing", &queue->polled, "%d", i);
	ck_assert_uint_eq(__real_soft_reports(), 5);
	ck_assert_uint_eq(soft_tally->reports, told + 5);
	ck_assert_uint_eq(soft_tally->ended, 0);
	__real_soft_report_end(SOFT_SECOND);
	ck_assert_uint_eq(soft_tally->ended, 1);
	ck_assert_uint_eq(soft_tally->reports, told + 5);
	file = fdopen(fd, "r");
	while (fgets(text, sizeof text, file))
		lines++;
	fclose(file);
	unlink(path);
	/* JSON has no line for the end. */
	ck_assert_int_eq(lines, 5);
	soft_reports_reset();
	ck_assert_uint_eq(__real_soft_reports(), 0);
}
END_TEST

START_TEST(report__the_end__says_how_long)
{
	char path[] = "/tmp/test-checker-XXXXXX";
	const int fd = mkostemp(path, O_CLOEXEC);
	FILE *file = fdopen(fd, "r");

	set_out();
	soft_check_settings.report = path;
	__real_soft_report_end(3999ull * SOFT_MILLISECOND);
	ck_assert_ptr_nonnull(fgets(text, sizeof text, file));
	assert_has("has made no progress with its queues for 3 s after its report, and is ended\n");
	fclose(file);
	unlink(path);
}
END_TEST

/* ---- times that are fair */

static atomic_bool over;
static atomic_int spinning;

static void *
spin(void *unused)
{
	(void)unused;
	spinning++;
	while (!over)
		;
	return NULL;
}

START_TEST(fair__is_over__after_its_length_where_nothing_runs)
{
	struct soft_fair fair;

	fake_now = 50ull * SOFT_SECOND;
	soft_fair_begin(&fair, SOFT_MILLISECOND);
	ck_assert_uint_eq(fair.begin, 50ull * SOFT_SECOND);
	ck_assert_uint_eq(fair.length, SOFT_MILLISECOND);
	fake_now += SOFT_MILLISECOND - 1;
	ck_assert(!soft_fair_is_over(&fair));
	fake_now++;
	ck_assert(SOFT_TSAN || soft_fair_is_over(&fair));
	fake_now = 0;
}
END_TEST

/* Threads that want to run have not had their time; but for 200 ms at most. */
START_TEST(fair__is_not_over__until_threads_have_had_the_processor)
{
	struct soft_fair fair;
	pthread_t thread;

	over = false;
	spinning = 0;
	pthread_create(&thread, NULL, spin, NULL);
	while (!spinning)
		;
	fake_now = 50ull * SOFT_SECOND;
	soft_fair_begin(&fair, 3000ull * SOFT_SECOND);
	fake_now += 3000ull * SOFT_SECOND;
	ck_assert(!soft_fair_is_over(&fair));
	fake_now += 200 * SOFT_MILLISECOND - 1;
	ck_assert(!soft_fair_is_over(&fair));
	fake_now++;
	ck_assert(soft_fair_is_over(&fair));
	/* It is over when the process has had as much. */
	soft_fair_begin(&fair, SOFT_MILLISECOND);
	fake_now += 2 * SOFT_MILLISECOND;
	while (!soft_fair_is_over(&fair))
		;
	over = true;
	pthread_join(thread, NULL);
	fake_now = 0;
}
END_TEST

Suite *
checker_print_suite(void)
{
	Suite *suite = suite_create("checker_print");
	TCase *tcase = runner_tcase(suite, "print");

	tcase_add_test(tcase, json__each_field__its_own_value);
	tcase_add_test(tcase, text__each_field__its_own_value);
	tcase_add_test(tcase, text__long_lines__are_wrapped);
	tcase_add_test(tcase, replay__options_of_each_kind);
	tcase_add_test(tcase, object__each_field__its_own_value);
	tcase_add_test(tcase, report__of_a_queue_and_a_kind__once__and_counted);
	tcase_add_test(tcase, report__the_end__says_how_long);
	tcase_add_test(tcase, fair__is_over__after_its_length_where_nothing_runs);
	tcase_add_test(tcase, fair__is_not_over__until_threads_have_had_the_processor);
	return suite;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* That a report is made once, is counted, and is not lost; and times that are fair. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fake.h"
#include "lib/runner.h"
#include "softverbs/check/fair.h"
#include "softverbs/check/settings.h"
#include "softverbs/check/tally.h"

void __real_soft_report(enum soft_kind kind, struct soft_check_queue *queue,
    const struct soft_check_state *state, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void __real_soft_report_object(enum soft_kind kind, const char *object,
    const struct soft_site *site, const char *format, ...) __attribute__((format(printf, 4, 5)));
unsigned int __real_soft_reports(void);
void __real_soft_report_end(uint64_t waited);

static struct soft_check_queue *queue;
static const struct soft_check_state state;
static char text[8192];

static void
set_out(void)
{
	fake_reset();
	(void)fake_queue(0);
	queue = fake_queue(0);
	soft_check_settings = (struct soft_check_settings){ .timeout = SOFT_SECOND };
}

#define assert_has(part) ck_assert_msg(strstr(text, part) != NULL, "no %s in\n%s", part, text)

CASE("checker_report:report");

/* origin: out33.AA2 */
TEST(report__of_what_an_incident_has_made__none)
{
	/* What an incident can make, and the kinds for which it leaves no evidence. */
	static const struct {
		enum soft_made made;
		const char *kinds;
	} lines[] = {
		{ SOFT_MADE_CQ_ERR,
		    "stranded not-looked-at-again sleeps-unarmed event-unread unsolicited "
		    "arm-error-ignored overrun send-queue-full connection-ended" },
		{ SOFT_MADE_QP_ERR, "send-queue-full" },
		{ SOFT_MADE_REMOVAL,
		    "stranded not-looked-at-again sleeps-unarmed event-unread unsolicited "
		    "arm-error-ignored send-queue-full connection-ended" },
		{ SOFT_MADE_UNREAD, "event-unread" },
		{ SOFT_MADE_NOT_READY, "receiver-not-ready" },
	};

	set_out();
	soft_check_settings.report = "/dev/null";
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		for (enum soft_kind kind = 0; kind < SOFT_KINDS; kind++) {
			const struct soft_check_state other = { .made = lines[i].made };
			const char *name = soft_kinds[kind].name;
			const bool excused = strstr(lines[i].kinds, name) != NULL;
			const unsigned int before = __real_soft_reports();

			queue->reported = 0;
			__real_soft_report(kind, queue, &other, "one");
			ck_assert_msg(__real_soft_reports() == before + !excused, "%s, %d", name,
			    lines[i].made);
			/* It is reported when the program makes it. */
			__real_soft_report(kind, queue, &state, "one");
			ck_assert_uint_eq(__real_soft_reports(), before + 1);
		}
	soft_reports_reset();
}

TEST(report__of_a_queue_and_a_kind__once__and_counted)
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

TEST(report__the_end__says_how_long)
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

/* What comes to the standard error while a report is made, and how long that takes. */
static uint64_t
report_to_error(int error)
{
	const int kept = dup(STDERR_FILENO);
	struct timespec begin, end;

	dup2(error, STDERR_FILENO);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	__real_soft_report_object(SOFT_NEVER_ACKNOWLEDGED, "thing", &queue->polled, "%d", 7);
	clock_gettime(CLOCK_MONOTONIC, &end);
	dup2(kept, STDERR_FILENO);
	close(kept);
	return (uint64_t)(end.tv_sec - begin.tv_sec) * SOFT_SECOND + (uint64_t)end.tv_nsec -
	       (uint64_t)begin.tv_nsec;
}

static void
read_back(int fd)
{
	ssize_t n = pread(fd, text, sizeof text - 1, 0);

	ck_assert_int_ge(n, 0);
	text[n] = '\0';
	ck_assert_int_eq(ftruncate(fd, 0), 0);
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
}

/*
 * A report is in one place: in the file, or, where that cannot be written, in the standard error.
 */
TEST(report__to_a_file__is_not_lost)
{
	char path[] = "/tmp/test-checker-XXXXXX", error_path[] = "/tmp/test-checker-XXXXXX";
	const int fd = mkostemp(path, O_CLOEXEC), error = mkostemp(error_path, O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_ge(error, 0);
	unlink(error_path);
	set_out();
	soft_check_settings.report = path;
	(void)report_to_error(error);
	read_back(error);
	ck_assert_str_eq(text, "");
	read_back(fd);
	assert_has("softverbs-run --check: never-acknowledged: thing of process ");
	unlink(path);
	soft_check_settings.report = "/nothing/is\nhere";
	(void)report_to_error(error);
	read_back(error);
	ck_assert_ptr_eq(
	    strstr(text, "softverbs-run --check: /nothing/is\\x0ahere: No such file or directory; "
			 "the report:\nsoftverbs-run --check: never-acknowledged: thing of "),
	    text);
	soft_check_settings.report = NULL;
	(void)report_to_error(error);
	read_back(error);
	ck_assert_ptr_eq(
	    strstr(text, "softverbs-run --check: never-acknowledged: thing of "), text);
	close(fd);
	close(error);
}

/* The time for which the first report waits is that of all. */
#define WAIT (2ull * SOFT_SECOND)

TEST_LOOP(report__nothing_reads__the_first_waits_alone, 2)
{
	char path[] = "/tmp/test-checker-XXXXXX", name[64];
	int error = open("/tmp", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600), ends[2];
	static const char full[65536];

	set_out();
	soft_check_settings.timeout = WAIT;
	if (_i == 0) {
		ck_assert_ptr_nonnull(mkdtemp(path));
		snprintf(name, sizeof name, "%s/fifo", path);
		ck_assert_int_eq(mkfifo(name, 0600), 0);
		soft_check_settings.report = name;
		ck_assert_uint_ge(report_to_error(error), WAIT);
		read_back(error);
		assert_has(": nothing reads it; the report:\n");
		ck_assert_uint_lt(report_to_error(error), WAIT);
		read_back(error);
		assert_has(": nothing reads it; the report:\n");
		unlink(name);
		rmdir(path);
	} else {
		ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
		fcntl(ends[1], F_SETFL, O_NONBLOCK);
		while (write(ends[1], full, sizeof full) > 0)
			;
		fcntl(ends[1], F_SETFL, 0);
		ck_assert_uint_ge(report_to_error(ends[1]), WAIT);
		ck_assert_uint_lt(report_to_error(ends[1]), WAIT);
		close(ends[0]);
		close(ends[1]);
	}
	close(error);
}

/*
 * Neither the program ends by SIGPIPE, nor does it find one that was not there before, or miss one
 * that was.
 */
TEST_LOOP(report__its_reader_has_gone__leaves_signals_as_they_were, 3)
{
	const bool blocked = _i > 0, before = _i > 1;
	sigset_t set, saved;
	int ends[2], number;

	set_out();
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	close(ends[0]);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	pthread_sigmask(blocked ? SIG_BLOCK : SIG_UNBLOCK, &set, &saved);
	if (before)
		raise(SIGPIPE);
	for (int i = 0; i < 2; i++)
		(void)report_to_error(ends[1]);
	close(ends[1]);
	number = sigtimedwait(&set, NULL, &(struct timespec){ 0 });
	ck_assert_int_eq(number, before ? SIGPIPE : -1);
	pthread_sigmask(SIG_SETMASK, &saved, NULL);
}

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

TEST(fair__is_over__after_its_length_where_nothing_runs)
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

/* Threads that want to run have not had their time; but for 200 ms at most. */
TEST(fair__is_not_over__until_threads_have_had_the_processor)
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

/* How many threads are ready is counted again after 200 us. */
TEST(fair__threads_that_are_ready__are_counted_again)
{
	struct soft_fair first, second;
	pthread_t thread;

	over = false;
	spinning = 0;
	fake_now = 90000ull * SOFT_SECOND;
	soft_fair_begin(&first, SOFT_MILLISECOND);
	soft_fair_begin(&second, 3000ull * SOFT_SECOND);
	fake_now += SOFT_MILLISECOND;
	ck_assert(SOFT_TSAN || soft_fair_is_over(&first));
	pthread_create(&thread, NULL, spin, NULL);
	while (!spinning)
		;
	fake_now += 200 * SOFT_MICROSECOND - 1;
	second.begin = fake_now - second.length;
	ck_assert(SOFT_TSAN || soft_fair_is_over(&second));
	fake_now++;
	ck_assert(!soft_fair_is_over(&second));
	over = true;
	pthread_join(thread, NULL);
	fake_now = 0;
}

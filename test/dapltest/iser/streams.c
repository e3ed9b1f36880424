/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/runner.h"

#include "iser/say.h"
#include "iser/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whether the descriptor is /dev/null, can be read or written, and is closed by exec(). */
static bool
is_null(int fd)
{
	struct stat own, null;

	return fstat(fd, &own) == 0 && stat("/dev/null", &null) == 0 && S_ISCHR(own.st_mode) &&
	       own.st_rdev == null.st_rdev && fcntl(fd, F_GETFD) == FD_CLOEXEC &&
	       (fcntl(fd, F_GETFL) & O_ACCMODE) == (fd == 0 ? O_RDONLY : O_WRONLY);
}

/* In a child: the exit status. */
static int
after(int (*what)(int set), int set)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(what(set));
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* With those of the set closed, the others as they were: bits of the descriptors that are wrong. */
static int
some_closed(int set)
{
	int wrong = 0;

	for (int fd = 0; fd < 3; fd++) {
		close(fd);
		if (open("/", O_RDONLY | O_DIRECTORY) != fd)
			return 99;
	}
	for (int fd = 0; fd < 3; fd++)
		if (set & 1 << fd)
			close(fd);
	streams_open();
	for (int fd = 0; fd < 3; fd++)
		if (is_null(fd) != !!(set & 1 << fd) || fcntl(fd, F_GETFD) < 0)
			wrong |= 1 << fd;
	return wrong;
}

static int
none_left(int set)
{
	const struct rlimit limit = { 0, 0 };

	(void)set;
	close(1);
	setrlimit(RLIMIT_NOFILE, &limit);
	streams_open();
	return 0;
}

/* In a child, what a file at its limit and a pipe without a reader do: bits of what is wrong. */
static int
none_takes_it(int set)
{
	const struct rlimit limit = { 1, 1 };
	char path[] = "/tmp/test-iser-XXXXXX";
	int ends[2], fd = mkstemp(path), wrong = 0;

	(void)set;
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	if (fd < 0 || unlink(path) || pipe(ends) || close(ends[0]) ||
	    setrlimit(RLIMIT_FSIZE, &limit))
		return 99;
	streams_open();
	if (write(ends[1], "x", 1) != -1 || errno != EPIPE)
		wrong |= 1;
	if (pwrite(fd, "x", 1, 1) != -1 || errno != EFBIG)
		wrong |= 2;
	return wrong;
}

CASE("iser_streams:streams");

/* origin: out37.EE3, out37.EE4 */
TEST(streams__what_cannot_be_written__is_an_error_and_no_signal)
{
	ck_assert_int_eq(after(none_takes_it, 0), 0);
}

/* origin: out33.I2 */
TEST_LOOP(streams__some_are_closed__these_are_dev_null, 8)
{
	ck_assert_int_eq(after(some_closed, _i), 0);
}

/* origin: out33.I2 */
TEST(streams__no_descriptor_is_left__the_program_ends)
{
	ck_assert_int_eq(after(none_left, 0), EXIT_FAILURE);
}

/* ---- messages ---- */

#define LINES 1000

/* In a child. */
static int
pipe_as_stderr(void)
{
	int ends[2];

	if (pipe(ends) || dup2(ends[1], STDERR_FILENO) < 0)
		_exit(99);
	close(ends[1]);
	(void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
	return ends[0];
}

static int
none_reads(int set)
{
	static char text[1 << 17];
	const char *notice;
	unsigned int left_out = 0;
	int fd = pipe_as_stderr();
	ssize_t n;

	(void)set;
	for (int i = 0; i < LINES; i++)
		say("%0200d", i);
	n = read(fd, text, sizeof text - 1);
	if (n < 1000)
		return 1;
	say("there is room");
	n = read(fd, text, sizeof text - 1);
	text[n > 0 ? n : 0] = '\0';
	notice = strchr(text, ' ');
	if (!notice || sscanf(notice, "%u messages are left out here", &left_out) != 1)
		return 2;
	return left_out > 0 && left_out < LINES && strstr(text, "there is room\n") ? 0 : 3;
}

/* The reader has gone, and later there is another one. */
static int
reader_has_gone(int set)
{
	char text[256];
	int fd = pipe_as_stderr();
	ssize_t n;

	(void)set;
	streams_open();
	close(fd);
	for (int i = 0; i < 3; i++)
		say("no one reads this");
	fd = pipe_as_stderr();
	say("there is a reader");
	n = read(fd, text, sizeof text - 1);
	text[n > 0 ? n : 0] = '\0';
	return strstr(text, ": 3 messages are left out here\n") &&
		       strstr(text, "there is a reader\n") ?
		   0 :
		   1;
}

static int
peers_ask_for_many(int set)
{
	static char text[1 << 17];
	unsigned int lines = 0;
	int fd = pipe_as_stderr();
	ssize_t n;

	(void)set;
	for (int i = 0; i < LINES / 10; i++)
		say_of_peer("is refused");
	say("of itself");
	n = read(fd, text, sizeof text - 1);
	text[n > 0 ? n : 0] = '\0';
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	/* Perhaps a second has ended meanwhile. */
	return strstr(text, "of itself\n") && strstr(text, "left out here") && lines < 40 ? 0 : 1;
}

/* origin: out33.Z3 */
TEST(message__no_one_reads__is_counted_and_no_thread_waits)
{
	ck_assert_int_eq(after(none_reads, 0), 0);
}

/* origin: out37.EE4 */
TEST(message__the_reader_has_gone__is_counted)
{
	ck_assert_int_eq(after(reader_has_gone, 0), 0);
}

/* origin: out33.Z3 */
TEST(message__of_a_peer__is_left_out_when_there_are_many)
{
	ck_assert_int_eq(after(peers_ask_for_many, 0), 0);
}

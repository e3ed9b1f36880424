/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/runner.h"

#include "iser/streams.h"

#include <fcntl.h>
#include <stdlib.h>
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

CASE("iser_streams:streams");

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

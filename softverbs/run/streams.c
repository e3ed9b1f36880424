/* SPDX-License-Identifier: BSD-3-Clause */
#include "streams.h"
#include "parent.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void
soft_streams_open(void)
{
	/* The help and the lists fit: argp(3) does not keep the reason of a write that fails. */
	static char held[1 << 16];

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		if (open("/dev/null", (fd == STDIN_FILENO ? O_RDONLY : O_WRONLY) | O_CLOEXEC) !=
		    fd) {
			dprintf(STDERR_FILENO, "softverbs-run: /dev/null: %s\n", strerror(errno));
			_exit(EXIT_USAGE);
		}
	}
	if (!isatty(STDOUT_FILENO))
		(void)setvbuf(stdout, held, _IOFBF, sizeof held);
}

bool
soft_streams_flush(void)
{
	static int reason;
	static bool failed;
	bool now;

	errno = 0;
	now = fflush(stdout) || ferror(stdout);
	if (now && !failed)
		reason = errno;
	failed |= now;
	errno = reason;
	return !failed;
}

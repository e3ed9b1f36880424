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
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		if (open("/dev/null", (fd == STDIN_FILENO ? O_RDONLY : O_WRONLY) | O_CLOEXEC) !=
		    fd) {
			dprintf(STDERR_FILENO, "softverbs-run: /dev/null: %s\n", strerror(errno));
			_exit(EXIT_USAGE);
		}
	}
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

/* SPDX-License-Identifier: BSD-3-Clause */
#include "printed.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

char printed[1 << 20];
static int saved_fd, captured_fd;

void
capture(int fd)
{
	FILE *f = tmpfile();

	fflush(NULL);
	saved_fd = dup(fd);
	ck_assert_int_ge(dup2(fileno(f), fd), 0);
	captured_fd = fd;
	fclose(f);
}

void
captured(void)
{
	ssize_t n;

	fflush(NULL);
	n = pread(captured_fd, printed, sizeof printed - 1, 0);
	ck_assert_int_ge(n, 0);
	printed[n] = '\0';
	dup2(saved_fd, captured_fd);
	close(saved_fd);
}

bool
has_line(const char *pattern)
{
	char anchored[512];
	regex_t regex;
	bool found;

	snprintf(anchored, sizeof anchored, "^rearm\\[[0-9]+\\]: %s$", pattern);
	ck_assert_int_eq(regcomp(&regex, anchored, REG_EXTENDED | REG_NEWLINE | REG_NOSUB), 0);
	found = regexec(&regex, printed, 0, NULL, 0) == 0;
	regfree(&regex);
	return found;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "option_file.h"
#include "parent.h"
#include "say.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MOST 65536

static void __attribute__((noreturn)) option_fail(const char *option, const char *name)
{
	soft_say("softverbs-run: %s=%s: %s", option, name, strerror(errno));
	exit(EXIT_USAGE);
}

char *
soft_option_read_file(const char *option, const char *name, struct argp_state *state)
{
	const int fd = open(name, O_RDONLY | O_CLOEXEC);
	char *text = malloc(TEXT_MOST + 1);
	size_t size = 0;
	ssize_t n = -1;

	if (fd < 0 || !text)
		option_fail(option, name);
	while (size < TEXT_MOST && (n = read(fd, text + size, TEXT_MOST - size)) > 0)
		size += (size_t)n;
	if (n < 0)
		option_fail(option, name);
	close(fd);
	if (size == TEXT_MOST || memchr(text, '\0', size))
		soft_wrong(state, "%s=%s: no text of less than 64 KiB", option, name);
	text[size] = '\0';
	return text;
}

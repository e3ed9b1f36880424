/* SPDX-License-Identifier: BSD-3-Clause */
#include "output.h"
#include "text.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { KEPT = 65536 }; /* bytes; the rest is dropped */

/* -1: the streams are what they were. */
static int file = -1, saved_output = -1;
static volatile sig_atomic_t saved_error = -1;

static int
output_save(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

static void
output_release(int fd)
{
	if (fd >= 0)
		close(fd);
}

void
output_begin(void)
{
	fflush(stdout);
	file = memfd_create("output", MFD_CLOEXEC);
	saved_output = file >= 0 ? output_save(STDOUT_FILENO) : -1;
	saved_error = saved_output >= 0 ? output_save(STDERR_FILENO) : -1;
	if (saved_error < 0) {
		output_release(saved_output);
		output_release(file);
		file = -1;
		return;
	}
	dup2(file, STDOUT_FILENO);
	dup2(file, STDERR_FILENO);
}

/* The lines of the file. */
static json_t *
output_read(void)
{
	static char bytes[KEPT + 1];
	json_t *lines = json_array();
	char *line, *rest;
	ssize_t n;

	n = pread(file, bytes, KEPT, 0);
	bytes[n > 0 ? n : 0] = '\0';
	for (line = strtok_r(bytes, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
		json_array_append_new(lines, text_json(line));
	return lines;
}

json_t *
output_end(void)
{
	json_t *lines;

	if (file < 0)
		return json_array();
	fflush(stdout);
	dup2(saved_output, STDOUT_FILENO);
	dup2(saved_error, STDERR_FILENO);
	output_release(saved_output);
	output_release(saved_error);
	saved_error = -1;
	lines = output_read();
	output_release(file);
	file = -1;
	return lines;
}

int
output_error(void)
{
	return saved_error >= 0 ? saved_error : STDERR_FILENO;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "story.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char directory[PATH_MAX - 300];
static int saved_stderr = -1;

const char *
story_path(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof path, "%s/%s", directory, name);
	return path;
}

const char *
story_conf_path(void)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof path, "%s/dat.conf", directory);
	return path;
}

static void
setup(void)
{
	const char *base = getenv("TMPDIR");

	unsetenv("DAT_OVERRIDE");
	unsetenv("DAT_DBG_TYPE");
	unsetenv("DAT_DBG_DEST");
	snprintf(directory, sizeof directory, "%s/dat-test-XXXXXX", base != NULL ? base : "/tmp");
	ck_assert_msg(mkdtemp(directory) != NULL, "mkdtemp: %s", strerror(errno));
	setenv("STUB_TRACE", story_path("trace"), 1);
}

static void
teardown(void)
{
	static const char *const files[] = { "dat.conf", "trace", "stderr", "copy.so" };
	size_t i;

	for (i = 0; i < sizeof files / sizeof files[0]; i++)
		unlink(story_path(files[i]));
	ck_assert_msg(rmdir(directory) == 0, "%s: %s", directory, strerror(errno));
}

const struct runner_case story_case = { .setup = setup, .teardown = teardown };

void
story_conf_raw(const void *bytes, size_t size)
{
	FILE *out = fopen(story_conf_path(), "we");

	ck_assert_ptr_nonnull(out);
	ck_assert_uint_eq(fwrite(bytes, 1, size, out), size);
	ck_assert_int_eq(fclose(out), 0);
	setenv("DAT_OVERRIDE", story_conf_path(), 1);
}

void
story_conf(const char *text)
{
	char *all = NULL;
	size_t size;
	FILE *out = open_memstream(&all, &size);

	for (; *text != '\0'; text++) {
		if (text[0] == '%' && text[1] == 'S')
			fputs(STUB_PATH, out), text++;
		else if (text[0] == '%' && text[1] == 'D')
			fputs(directory, out), text++;
		else
			fputc(*text, out);
	}
	fclose(out);
	story_conf_raw(all, size);
	free(all);
}

static const char *
read_whole(const char *path)
{
	static char text[65536];
	FILE *in = fopen(path, "re");
	size_t n = 0;

	if (in != NULL) {
		n = fread(text, 1, sizeof text - 1, in);
		fclose(in);
	}
	text[n] = '\0';
	return text;
}

void
story_listen(void)
{
	int fd = open(story_path("stderr"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	fflush(stderr);
	saved_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	ck_assert_int_ge(saved_stderr, 0);
	ck_assert_int_ge(dup2(fd, STDERR_FILENO), 0);
	close(fd);
}

const char *
story_heard(void)
{
	if (saved_stderr >= 0) {
		fflush(stderr);
		ck_assert_int_ge(dup2(saved_stderr, STDERR_FILENO), 0);
		close(saved_stderr);
		saved_stderr = -1;
	}
	return read_whole(story_path("stderr"));
}

const char *
story_trace(void)
{
	return read_whole(story_path("trace"));
}

int
story_traced(const char *line)
{
	const char *at = story_trace();
	size_t n = strlen(line);
	int count = 0;

	for (; *at != '\0'; at += strcspn(at, "\n") + 1)
		count += strncmp(at, line, n) == 0 && strchr(" \n", at[n]) != NULL;
	return count;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options -- what the programs of iser/ say of a wrong command line
 */
#include "lib/runner.h"

#include "iser/provider.h"
#include "iser/target_options.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char said[4096];

/* In a child: its exit status; what it writes to standard error is in said[] then. */
static int
in_child(int (*what)(const char *arg), const char *arg)
{
	int fds[2], status;
	size_t used = 0;
	ssize_t n;
	pid_t child;

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	child = fork();
	if (child == 0) {
		dup2(fds[1], STDERR_FILENO);
		_exit(what(arg));
	}
	close(fds[1]);
	while ((n = read(fds[0], said + used, sizeof said - 1 - used)) > 0)
		used += (size_t)n;
	said[used] = '\0';
	close(fds[0]);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int
parse(const char *arg)
{
	char *argv[] = { strdup("rearm-iser-target"), strdup("--lun=/f"), strdup(arg), NULL };
	static struct program_options options;

	target_options_parse(&options, 3, argv);
	for (int i = 0; i < 3; i++)
		free(argv[i]);
	return 0;
}

static int
provide(const char *library)
{
	return provider_use("rearm-soft", library, "lo 0") ? EXIT_FAILURE : EXIT_SUCCESS;
}

static const struct {
	const char *arg, *says; /* NULL: it is right */
} rows[] = {
	{ "--portal=192.0.2.1:3261", NULL },
	{ "--portal=192.0.2.1", NULL },
	{ "--portal=:3261", NULL },
	{ "--portal=[::1]:65535", NULL },
	{ "--portal=[::1]", NULL },
	{ "--portal=host.example", NULL },
	{ "--portal=99999", "--portal takes ADDRESS:PORT, ADDRESS or :PORT" },
	{ "--portal=3260", "--portal takes ADDRESS:PORT" },
	{ "--portal=:99999", "--portal takes ADDRESS:PORT" },
	{ "--portal=:0", "--portal takes ADDRESS:PORT" },
	{ "--portal=:3K", "--portal takes ADDRESS:PORT" },
	{ "--portal=192.0.2.1:", "--portal takes ADDRESS:PORT" },
	{ "--portal=[::1]3260", "--portal takes ADDRESS:PORT" },
	{ "--portal=::1", "--portal takes ADDRESS:PORT" },
	{ "--portal=a]:3260", "--portal takes ADDRESS:PORT" },
	{ "--lun=f,ro,thick,block=4096,max-transfer=1M,vendor=me,lun=7", NULL },
	{ "--lun=f,ro,colour=red",
	    "there is no option \"colour=red\"; there are lun=, size=, ro," },
	{ "--lun=f,block=513,ro", "\"block=513\" is wrong: block takes 512 or 4096" },
	{ "--lun=f,block", "\"block\" is wrong: block takes 512 or 4096" },
	{ "--lun=f,ro=yes", "\"ro=yes\" is wrong: ro takes no value" },
	{ "--lun=f,lun=300", "\"lun=300\" is wrong: lun takes a number from 0 to" },
	{ "--lun=f,size=1X", "\"size=1X\" is wrong: size takes bytes" },
	{ "--lun=f,max-transfer=5000", "\"max-transfer=5000\" is wrong: max-transfer takes a" },
	{ "--lun=f,vendor=123456789", "\"vendor=123456789\" is wrong: vendor takes text of 8" },
	{ "--lun=,ro", "--lun names no file" },
};

CASE("iser_options:options");

/* origin: out33.I3, out33.I4 */
TEST_LOOP(option__wrong__is_named_with_what_it_takes, sizeof rows / sizeof rows[0])
{
	const int status = in_child(parse, rows[_i].arg);

	if (rows[_i].says)
		ck_assert_msg(strstr(said, rows[_i].says), "%s: %s", rows[_i].arg, said);
	ck_assert_msg(status == (rows[_i].says ? 64 : 0), "%s: %d", rows[_i].arg, status);
}

/* origin: out33.I7 */
TEST(provider__that_is_none__is_named_with_the_option)
{
	ck_assert_int_eq(in_child(provide, "nosuch"), EXIT_FAILURE);
	ck_assert_msg(
	    strstr(said, "--provider nosuch: cannot load the library: nosuch: "), "%s", said);
	ck_assert_int_eq(in_child(provide, "libc.so.6"), EXIT_FAILURE);
	ck_assert_msg(strstr(said, "--provider libc.so.6: is not a DAT provider"), "%s", said);
}

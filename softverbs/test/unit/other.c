/* SPDX-License-Identifier: BSD-3-Clause */
#include "other.h"

#include "lib/runner.h"

#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int line; /* to the other process */
static pid_t other;
static int second_line;
static pid_t second;

void
other_start(void (*there)(void))
{
	int ends[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	fflush(NULL);
	other = fork();
	ck_assert_int_ge(other, 0);
	line = ends[other == 0];
	close(ends[other != 0]);
	if (other == 0) {
		there();
		_exit(0);
	}
}

void
other_finish(void)
{
	int status;

	close(line);
	ck_assert_int_eq(waitpid(other, &status, 0), other);
	ck_assert_msg(
	    WIFEXITED(status) && WEXITSTATUS(status) == 0, "the other process: %x", status);
}

void
other_kill(void)
{
	int status;

	kill(other, SIGKILL);
	ck_assert_int_eq(waitpid(other, &status, 0), other);
	close(line);
}

void
other_stop(void)
{
	int status;

	kill(other, SIGSTOP);
	ck_assert_int_eq(waitpid(other, &status, WUNTRACED), other);
	ck_assert(WIFSTOPPED(status));
}

void
other_go_on(void)
{
	kill(other, SIGCONT);
}

void
other_swap(void)
{
	const int its_line = line;
	const pid_t its_pid = other;

	line = second_line;
	other = second;
	second_line = its_line;
	second = its_pid;
}

pid_t
other_pid(void)
{
	return other;
}

void
other_tell(const void *data, size_t length)
{
	ck_assert_int_eq(write(line, data, length), (ssize_t)length);
}

void
other_hear(void *data, size_t length)
{
	ck_assert_int_eq(recv(line, data, length, MSG_WAITALL), (ssize_t)length);
}

int
other_descriptor(void)
{
	return line;
}

void
other_meet(void)
{
	char c = 'm';

	other_tell(&c, 1);
	other_hear(&c, 1);
	ck_assert_int_eq(c, 'm');
}

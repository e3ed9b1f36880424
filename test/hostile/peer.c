/* SPDX-License-Identifier: BSD-3-Clause */
#include "peer.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "actor.h"
#include "board.h"
#include "clock.h"
#include "options.h"
#include "report.h"

#define BOARD_FD 10 /* in the other process */

static struct {
	pthread_t thread;
	atomic_bool over;
	int board_fd;
	_Atomic(pid_t) pid;  /* 0: none */
	unsigned int number; /* of processes so far */
} peer;

static void
spawn(void)
{
	static const char *argv[OPTIONS_WORDS];
	posix_spawn_file_actions_t actions;
	char seed[32], fd[16];
	pid_t pid;

	snprintf(seed, sizeof seed, "%llu",
	    (unsigned long long)(options.seed * 1000003 + ++peer.number));
	snprintf(fd, sizeof fd, "%d", BOARD_FD);
	board_set_ready(false);
	options_for_peer(argv, seed, fd);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, peer.board_fd, BOARD_FD);
	if (posix_spawn(&pid, "/proc/self/exe", &actions, NULL, (char *const *)argv, environ))
		report_broken("cannot start the other process");
	posix_spawn_file_actions_destroy(&actions);
	report_take_along(pid);
	atomic_store(&peer.pid, pid);
}

/* Sets the state of this thread while it waits, so that run_watch() detects a hang. */
static int
wait_for_end(void)
{
	struct actor *me = actor_self();
	int status;

	atomic_store(&me->since, clock_tick());
	atomic_store(&me->doing, "(waiting for the other process to end)");
	while (waitpid(peer.pid, &status, 0) < 0 && errno == EINTR)
		;
	atomic_store(&me->doing, NULL);
	report_take_along(0);
	atomic_store(&peer.pid, 0);
	board_clear_other();
	return status;
}

static _Noreturn void
report_end(int status)
{
	report_wrong(NULL, NULL, "the other process ended with %s %d",
	    WIFEXITED(status) ? "status" : "signal",
	    WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

static void
end_politely(void)
{
	int status;

	board_set_end(true);
	status = wait_for_end();
	board_set_end(false);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		report_end(status);
}

static void
kill_it(void)
{
	trace("(kill the other process)", 0, 0, (uint64_t)peer.pid);
	kill(peer.pid, SIGKILL);
	(void)wait_for_end();
}

static void
stop_it_for_a_while(void)
{
	trace("(stop the other process)", 0, 0, (uint64_t)peer.pid);
	kill(peer.pid, SIGSTOP);
	clock_nap_us(1000 + pick(chance(20) ? 600000 : 60000));
	kill(peer.pid, SIGCONT);
	trace("(continue the other process)", 0, 0, (uint64_t)peer.pid);
}

/* Fails the run if the process has ended by itself. */
static void
look_after_it(void)
{
	siginfo_t info = { .si_pid = 0 };

	if (waitid(P_PID, (id_t)peer.pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid)
		report_end(wait_for_end());
}

/* With a sanitizer on a busy machine it starts late; sometimes this does not wait for it. */
static void
let_it_begin(void)
{
	while (!peer.over && !board_is_ready() && !chance(1)) {
		clock_nap_us(20000);
		look_after_it();
	}
}

/* Sleeps for a number of ticks, so that both processes make progress on a busy machine. */
static void
let_it_run(void)
{
	const uint64_t until = clock_tick() + 15 + pick(100);

	while (!peer.over && clock_tick() < until)
		clock_nap_us(2000);
}

static void *
body(void *unused)
{
	(void)unused;
	actor_enter("peer", 0);
	spawn();
	while (!peer.over) {
		let_it_begin();
		let_it_run();
		look_after_it();
		if (options.group[GROUP_STOP] && chance(40))
			stop_it_for_a_while();
		if (options.group[GROUP_KILL] && chance(8)) {
			kill_it();
			spawn();
		} else if (chance(4)) {
			end_politely();
			spawn();
		}
	}
	end_politely();
	actor_leave();
	return NULL;
}

bool
peer_has_ended(uint32_t process)
{
	/* The second process does not outlive the first. */
	return options.board < 0 && process != (uint32_t)atomic_load(&peer.pid);
}

void
peer_start(int board_fd)
{
	peer.board_fd = board_fd;
	peer.over = false;
	if (pthread_create(&peer.thread, NULL, body, NULL))
		report_broken("cannot start a thread");
}

void
peer_stop(void)
{
	peer.over = true;
	pthread_join(peer.thread, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* These functions, except those that open and close, run on the progress thread. */
#include "control.h"
#include "state.h"
#include "softverbs/device/descriptors.h"
#include "softverbs/device/guard.h"
#include "softverbs/device/names.h"
#include "softverbs/device/progress.h"
#include "softverbs/device/runtime.h"
#include "softverbs/device/slot.h"
#include "softverbs/device/timer.h"
#include "softverbs/fault/command.h"
#include "softverbs/wire/peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

/* For one more the oldest is closed. */
#define CLIENTS_MAX 16
#define PATIENCE (5ull * SOFT_SECOND)

/* How long no client is accepted where the process has no descriptor for it. */
#define PAUSE (100 * SOFT_MILLISECOND)

/* A request has less than that; a packet of an answer has no more. */
#define REQUEST_MAX 4096
#define PACKET 32768

struct client {
	struct soft_watch watch;
	TAILQ_ENTRY(client) link;
	uint64_t deadline;
	char *answer; /* NULL: the request has not come */
	size_t length, sent;
};

static TAILQ_HEAD(, client) clients = TAILQ_HEAD_INITIALIZER(clients); /* by deadline */
static unsigned int count;
static bool paused;

static void control_accept(struct soft_watch *watch, uint32_t events);
static void control_timer(struct soft_timer *timer);
static struct soft_watch listener = { -1, control_accept };
static struct soft_timer patience = { .fn = control_timer };

static void
client_close(struct client *client)
{
	TAILQ_REMOVE(&clients, client, link);
	count--;
	soft_watch_remove(&client->watch);
	soft_guard_close(client->watch.fd);
	free(client->answer);
	free(client);
}

static void
control_start_timer(void)
{
	const struct client *first = TAILQ_FIRST(&clients);

	if (paused)
		soft_timer_start(&patience, soft_now() + PAUSE);
	else if (first)
		soft_timer_start(&patience, first->deadline);
}

static void
control_timer(struct soft_timer *unused)
{
	struct client *first;

	(void)unused;
	if (paused)
		(void)soft_watch_change(&listener, EPOLLIN);
	paused = false;
	while ((first = TAILQ_FIRST(&clients)) && first->deadline <= soft_now())
		client_close(first);
	control_start_timer();
}

/* ---- requests ---- */

static bool
request_do(FILE *answer, const char *rules)
{
	char error[512] = "";
	const bool done = soft_command(rules, error, sizeof error);

	if (!done)
		fprintf(answer, "%s\n", error);
	return done;
}

/* The letter of the answer; what follows it is written. */
static char
request_answer(char *request, FILE *answer)
{
	char *what = strchr(request, '\n');

	if (!what) {
		fputs("no request\n", answer);
		return '-';
	}
	*what++ = '\0';
	if (*request && !soft_state_is_of(request))
		return '=';
	if (!strncmp(what, "do ", 3))
		return request_do(answer, what + 3) ? '+' : '-';
	if (!strcmp(what, "dump")) {
		soft_state_print(answer);
		return '+';
	}
	fputs("the request is neither \"dump\" nor \"do\"\n", answer);
	return '-';
}

/* False if memory is short. */
static bool
client_answer(struct client *client, char *request)
{
	char *body = NULL, letter;
	size_t length = 0;
	FILE *stream = open_memstream(&body, &length);
	int n = -1;

	if (!stream)
		return false;
	letter = request_answer(request, stream);
	if (!fclose(stream))
		n = asprintf(&client->answer, "%c%zu\n%s", letter, length, body);
	free(body);
	client->length = n > 0 ? (size_t)n : 0;
	return n > 0;
}

/* ---- clients ---- */

static void
client_write(struct client *client)
{
	size_t length;
	long n;

	while (client->sent < client->length) {
		length = client->length - client->sent;
		n = syscall(SYS_sendto, client->watch.fd, client->answer + client->sent,
		    length < PACKET ? length : PACKET, MSG_DONTWAIT | MSG_NOSIGNAL, NULL,
		    (socklen_t)0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			(void)soft_watch_change(&client->watch, EPOLLOUT);
			return;
		}
		if (n < 0)
			break;
		client->sent += (size_t)n;
	}
	client_close(client);
}

static void
client_event(struct soft_watch *watch, uint32_t events)
{
	struct client *client = soft_container_of(watch, struct client, watch);
	char request[REQUEST_MAX];
	ssize_t n;

	(void)events;
	if (!client->answer) {
		n = soft_guard_receive(watch->fd, request, sizeof request);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		/* One that fills the place was cut. */
		if (n <= 0 || (size_t)n == sizeof request) {
			client_close(client);
			return;
		}
		request[n] = '\0';
		if (!client_answer(client, request)) {
			client_close(client);
			return;
		}
	}
	client_write(client);
}

static struct client *
client_open(int fd)
{
	struct client *client = soft_peer_trusted(fd) ? calloc(1, sizeof *client) : NULL;

	if (!client)
		return NULL;
	client->watch = (struct soft_watch){ fd, client_event };
	client->deadline = soft_now() + PATIENCE;
	if (!soft_watch_add(&client->watch, EPOLLIN))
		return client;
	free(client);
	return NULL;
}

static void
control_accept(struct soft_watch *watch, uint32_t events)
{
	struct client *client;
	int fd;

	(void)events;
	fd = soft_descriptors_keep(accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));
	if (fd < 0) {
		/* Else the socket would be readable again at once. */
		paused = errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS;
		if (paused)
			(void)soft_watch_change(&listener, 0);
		control_start_timer();
		return;
	}
	soft_guard_accepted(fd);
	client = client_open(fd);
	if (!client) {
		soft_guard_close(fd);
		return;
	}
	if (count == CLIENTS_MAX)
		client_close(TAILQ_FIRST(&clients));
	TAILQ_INSERT_TAIL(&clients, client, link);
	count++;
	control_start_timer();
}

/* What another owner of the slot has left was removed with its other sockets. */
static int
control_listen(int fd)
{
	struct sockaddr_un address;
	const socklen_t length = soft_name_control_address(&address, soft_slot_number());
	int r;

	soft_guard_begin(fd);
	if (bind(fd, (struct sockaddr *)&address, length))
		return -errno;
	r = soft_name_control_allow(soft_slot_number());
	if (r)
		return r;
	return listen(fd, CLIENTS_MAX) ? -errno : 0;
}

int
soft_control_open(void)
{
	int r;

	if (!soft_commands)
		return 0;
	listener.fd = soft_descriptors_keep(
	    (int)syscall(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (listener.fd < 0)
		return -errno;
	r = control_listen(listener.fd);
	if (!r)
		r = soft_watch_add(&listener, EPOLLIN);
	if (!r)
		return 0;
	soft_close(listener.fd);
	listener.fd = -1;
	return r;
}

void
soft_control_close(void)
{
	(void)soft_timer_stop(&patience);
	while (!TAILQ_EMPTY(&clients))
		client_close(TAILQ_FIRST(&clients));
	if (listener.fd >= 0)
		soft_guard_close_listener(listener.fd);
	listener.fd = -1;
	paused = false;
}

void
soft_control_reset(void)
{
	struct client *client;

	TAILQ_FOREACH (client, &clients, link)
		soft_close(client->watch.fd);
	soft_runtime_leak(TAILQ_FIRST(&clients));
	TAILQ_INIT(&clients);
	if (listener.fd >= 0)
		soft_close(listener.fd);
	listener.fd = -1;
	count = 0;
	paused = false;
	soft_timer_init(&patience, control_timer);
}

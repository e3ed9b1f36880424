/* SPDX-License-Identifier: BSD-3-Clause */
#include "client.h"
#include "state.h"
#include "softverbs/device/guard.h"
#include "softverbs/device/progress.h"
#include "softverbs/device/runtime.h"
#include "softverbs/fault/command.h"
#include "softverbs/wire/peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* For one more the oldest is closed. */
#define CLIENTS_MAX 16
#define PATIENCE (5ull * SOFT_SECOND)

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

static bool
client_do(FILE *answer, const char *rules)
{
	char error[512] = "";
	const bool done = soft_command(rules, error, sizeof error);

	if (!done)
		fprintf(answer, "%s\n", error);
	return done;
}

/* The letter of the answer; what follows it is written. */
static char
client_obey(char *request, FILE *answer)
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
		return client_do(answer, what + 3) ? '+' : '-';
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
	letter = client_obey(request, stream);
	if (!fclose(stream))
		n = asprintf(&client->answer, "%c%zu\n%s", letter, length, body);
	free(body);
	if (n < 0)
		return false;
	client->length = (size_t)n;
	return true;
}

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

bool
soft_client_open(int fd)
{
	struct client *client = soft_peer_trusted(fd) ? calloc(1, sizeof *client) : NULL;

	if (!client)
		return false;
	client->watch = (struct soft_watch){ fd, client_event };
	client->deadline = soft_now() + PATIENCE;
	if (soft_watch_add(&client->watch, EPOLLIN)) {
		free(client);
		return false;
	}
	if (count == CLIENTS_MAX)
		client_close(TAILQ_FIRST(&clients));
	TAILQ_INSERT_TAIL(&clients, client, link);
	count++;
	return true;
}

uint64_t
soft_clients_close(uint64_t before)
{
	struct client *first;

	while ((first = TAILQ_FIRST(&clients)) && first->deadline <= before)
		client_close(first);
	return first ? first->deadline : UINT64_MAX;
}

void
soft_clients_reset(void)
{
	struct client *client;

	TAILQ_FOREACH (client, &clients, link)
		soft_close(client->watch.fd);
	soft_runtime_leak(TAILQ_FIRST(&clients));
	TAILQ_INIT(&clients);
	count = 0;
}

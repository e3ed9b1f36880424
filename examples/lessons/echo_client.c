/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * echo_client -- sends each of its words to echo_server, and prints what comes back
 *
 * The lesson: a conversation is a chain of upcalls.  Each event starts the next step: ESTABLISHED
 * the first message, an echo the next one, the last echo the end of the connection.  DISCONNECTED
 * is the last event of a connection: after it, and not before, everything can be freed.
 *
 *	echo_client ADAPTER HOST PORT WORD...
 */
#include "common.h"

#include <err.h>
#include <limits.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { MESSAGE = 256, ECHO_AT = 0, WORD_AT = MESSAGE, TIMEOUT = 10 * 1000000 };
enum { ECHO, WORD }; /* cookies */

struct client {
	struct adapter adapter;
	DAT_EVD_HANDLE evd;
	DAT_EP_HANDLE ep;
	struct buffer buffer;
	char **words; /* the next one; NULL is behind the last one */
	int owed;     /* of the last word: its echo, and the completion of the send */
	sem_t end;
};

static void
send_next(struct client *client)
{
	const char *word = *client->words++;

	if (!word) {
		must("dat_ep_disconnect", dat_ep_disconnect(client->ep, DAT_CLOSE_GRACEFUL_FLAG));
		return;
	}
	client->owed = 2;
	/* First the receive, then the send: an echo without a receive would find no buffer. */
	post_recv(client->ep, &client->buffer, ECHO_AT, MESSAGE, ECHO);
	strcpy(client->buffer.bytes + WORD_AT, word);
	post_send(client->ep, &client->buffer, WORD_AT, strlen(word), WORD);
}

static void
on_event(DAT_PVOID instance_data, const DAT_EVENT *event, DAT_BOOLEAN more_events)
{
	struct client *client = instance_data;
	const DAT_DTO_COMPLETION_EVENT_DATA *data;

	(void)more_events;
	switch ((int)event->event_number) {
	case DAT_CONNECTION_EVENT_ESTABLISHED:
		send_next(client);
		break;
	case DAT_DTO_COMPLETION_EVENT:
		data = completion(event);
		if (data->user_cookie.as_64 == ECHO)
			printf(
			    "%.*s\n", (int)data->transfered_length, client->buffer.bytes + ECHO_AT);
		if (--client->owed == 0)
			send_next(client);
		break;
	case DAT_CONNECTION_EVENT_DISCONNECTED:
		if (client->owed || client->words[-1])
			errx(1, "the server left too early");
		sem_post(&client->end);
		break;
	default:
		errx(1, "no connection: %s", dat_event_str(event->event_number));
	}
}

/* The port is not part of the address: DAT has it apart, as the connection qualifier. */
static struct addrinfo *
find_host(const char *host, int family)
{
	const struct addrinfo hints = { .ai_family = family, .ai_socktype = SOCK_STREAM };
	struct addrinfo *found;
	const int r = getaddrinfo(host, NULL, &hints, &found);

	if (r)
		errx(1, "%s: %s", host, gai_strerror(r));
	return found;
}

int
main(int argc, char **argv)
{
	struct client client = { .owed = 0 };
	const DAT_UPCALL_OBJECT upcall = { &client, on_event };
	struct addrinfo *host;
	DAT_CONN_QUAL port;

	take_arguments(argc, argv, 4, INT_MAX, "echo_client ADAPTER HOST PORT WORD...");
	port = strtoull(argv[3], NULL, 10);
	if (port == 0)
		errx(2, "%s is no port", argv[3]);
	client.words = argv + 4;
	for (char **word = client.words; *word; word++)
		if (strlen(*word) >= MESSAGE)
			errx(2, "a word has more than %d bytes", MESSAGE - 1);
	sem_init(&client.end, 0, 0);
	adapter_open(&client.adapter, argv[1]);
	host = find_host(argv[2], client.adapter.address->sa_family);
	must("dat_evd_kcreate",
	    dat_evd_kcreate(client.adapter.ia, 8, DAT_UPCALL_SINGLE_INSTANCE, &upcall,
		DAT_EVD_CONNECTION_FLAG | DAT_EVD_DTO_FLAG, &client.evd));
	client.ep = ep_create(&client.adapter, client.evd);
	buffer_create(&client.buffer, &client.adapter, 2 * MESSAGE);
	must(
	    "dat_ep_connect", dat_ep_connect(client.ep, (DAT_IA_ADDRESS_PTR)host->ai_addr, port,
				  TIMEOUT, 0, NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
	freeaddrinfo(host);
	wait_for(&client.end);
	must("dat_ep_free", dat_ep_free(client.ep));
	must("dat_evd_free", dat_evd_free(client.evd)); /* returns after the last upcall has */
	buffer_free(&client.buffer);
	adapter_close(&client.adapter);
	return 0;
}

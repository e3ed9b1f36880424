/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * echo_server -- sends every message back to the client that sent it
 *
 * The lesson: upcalls can be the whole program.  One EVD has the requests, the connections and the
 * completions of all clients.  Under SINGLE_INSTANCE its upcalls run one at a time and in the order
 * of the events, so the data of the server needs no lock, and main() only sleeps.
 *
 *	echo_server ADAPTER PORT CLIENTS
 *
 * PORT 0 is any free port.  The server ends when CLIENTS clients have gone, and rejects others.
 */
#include "common.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * The client has one message on its way.  It may send the next one as soon as it has the echo,
 * which can be before the echo has completed here: so there is a second buffer.
 */
enum { MESSAGE = 256, BUFFERS = 2, MOST_CLIENTS = 64 };

struct server {
	struct adapter adapter;
	DAT_EVD_HANDLE evd;
	int clients, accepted, served;
	sem_t end;
};

struct client {
	DAT_EP_HANDLE ep;
	struct buffer buffer;
	int messages;
};

static void
client_accept(struct server *server, DAT_CR_HANDLE request)
{
	struct client *client;

	if (server->accepted == server->clients) {
		must("dat_cr_reject", dat_cr_reject(request, 0, NULL));
		return;
	}
	server->accepted++;
	client = calloc(1, sizeof *client);
	if (!client)
		err(1, "no memory for a client");
	client->ep = ep_create(&server->adapter, server->evd);
	must("dat_set_consumer_context",
	    dat_set_consumer_context(client->ep, (DAT_CONTEXT){ .as_ptr = client }));
	buffer_create(&client->buffer, &server->adapter, BUFFERS * MESSAGE);
	/* Before the client can send: it may do so as soon as it is connected. */
	for (DAT_UINT64 i = 0; i < BUFFERS; i++)
		post_recv(client->ep, &client->buffer, i * MESSAGE, MESSAGE, i);
	must("dat_cr_accept", dat_cr_accept(request, client->ep, 0, NULL));
}

static struct client *
client_of(DAT_EP_HANDLE ep)
{
	DAT_CONTEXT context;

	must("dat_get_consumer_context", dat_get_consumer_context(ep, &context));
	return context.as_ptr;
}

/* No event of the endpoint follows DISCONNECTED or BROKEN, so nothing uses the client any more. */
static void
client_free(struct server *server, struct client *client)
{
	printf("a client left after %d messages\n", client->messages);
	must("dat_ep_free", dat_ep_free(client->ep));
	buffer_free(&client->buffer);
	free(client);
	if (++server->served == server->clients)
		sem_post(&server->end);
}

static void
on_completion(const DAT_DTO_COMPLETION_EVENT_DATA *data)
{
	struct client *client = client_of(data->ep_handle);
	const DAT_UINT64 i = data->user_cookie.as_64;

	if (data->status != DAT_DTO_SUCCESS)
		return; /* flushed: the client has left, and DISCONNECTED follows */
	if (data->operation == DAT_DTO_RECEIVE) {
		client->messages++;
		post_send(client->ep, &client->buffer, i * MESSAGE, data->transfered_length, i);
	} else {
		post_recv(client->ep, &client->buffer, i * MESSAGE, MESSAGE, i);
	}
}

static void
on_event(DAT_PVOID instance_data, const DAT_EVENT *event, DAT_BOOLEAN more_events)
{
	struct server *server = instance_data;

	(void)more_events;
	switch ((int)event->event_number) {
	case DAT_CONNECTION_REQUEST_EVENT:
		client_accept(server, event->event_data.cr_arrival_event_data.cr_handle);
		break;
	case DAT_DTO_COMPLETION_EVENT:
		on_completion(&event->event_data.dto_completion_event_data);
		break;
	case DAT_CONNECTION_EVENT_ESTABLISHED:
		break;
	default: /* DISCONNECTED or BROKEN; or the client gave up while it was accepted */
		client_free(server, client_of(event->event_data.connect_event_data.ep_handle));
	}
}

int
main(int argc, char **argv)
{
	struct server server = { .served = 0 };
	const DAT_UPCALL_OBJECT upcall = { &server, on_event };
	DAT_CONN_QUAL port;
	DAT_PSP_HANDLE psp;

	take_arguments(argc, argv, 3, 3, "echo_server ADAPTER PORT CLIENTS");
	server.clients = atoi(argv[3]);
	if (server.clients < 1 || server.clients > MOST_CLIENTS)
		errx(2, "CLIENTS is 1 to %d", MOST_CLIENTS);
	port = strtoull(argv[2], NULL, 10);
	setvbuf(stdout, NULL, _IOLBF, 0);
	sem_init(&server.end, 0, 0);
	adapter_open(&server.adapter, argv[1]);
	/* For each client its receives and sends, its request, ESTABLISHED and DISCONNECTED. */
	must("dat_evd_kcreate",
	    dat_evd_kcreate(server.adapter.ia, server.clients * (BUFFERS + 3),
		DAT_UPCALL_SINGLE_INSTANCE, &upcall,
		DAT_EVD_CR_FLAG | DAT_EVD_CONNECTION_FLAG | DAT_EVD_DTO_FLAG, &server.evd));
	must("dat_psp_create", port ? dat_psp_create(server.adapter.ia, port, server.evd,
					  DAT_PSP_CONSUMER_FLAG, &psp) :
				      dat_psp_create_any(server.adapter.ia, &port, server.evd,
					  DAT_PSP_CONSUMER_FLAG, &psp));
	printf("listening on port %llu\n", (unsigned long long)port);
	wait_for(&server.end);
	must("dat_psp_free", dat_psp_free(psp));
	must("dat_evd_free", dat_evd_free(server.evd)); /* returns after the last upcall has */
	adapter_close(&server.adapter);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cno -- one thread serves several EVDs
 *
 * The lesson: a CNO is one place to wait for the events of many EVDs.  dat_cno_wait() returns the
 * EVD that has events; dequeue from it until it is empty, or the rest of its events stays there
 * until the next one comes.  (Providers other than those of Rearm may return one EVD for several:
 * with these, dequeue from every EVD of the CNO.)
 *
 * Here the thread is a server and its client.  Neither ever waits for one event in particular.
 *
 *	cno ADAPTER
 */
#include "common.h"

#include <err.h>
#include <stdio.h>

enum { MESSAGES = 10, LENGTH = 64, TIMEOUT = 10 * 1000000 };

static struct adapter adapter;
static DAT_EP_HANDLE server, client;
static struct buffer buffer; /* [0] is the client's; a place for each message follows */
static int sent, received, connections;

static void
on_request(const DAT_EVENT *event)
{
	for (DAT_UINT64 i = 1; i <= MESSAGES; i++)
		post_recv(server, &buffer, i * LENGTH, LENGTH, i);
	must("dat_cr_accept",
	    dat_cr_accept(event->event_data.cr_arrival_event_data.cr_handle, server, 0, NULL));
}

static void
send_next(void)
{
	const int length = snprintf(buffer.bytes, LENGTH, "message %d", ++sent);

	post_send(client, &buffer, 0, (size_t)length, 0);
}

/* What both ends have in common: returns 0 if the event is not about the connection. */
static int
on_connection(const DAT_EVENT *event)
{
	if (event->event_number == DAT_CONNECTION_EVENT_ESTABLISHED)
		connections++;
	else if (event->event_number == DAT_CONNECTION_EVENT_DISCONNECTED)
		connections--;
	else
		return 0;
	return 1;
}

static void
on_client(const DAT_EVENT *event)
{
	if (!on_connection(event))
		completion(event);
	if (event->event_number == DAT_CONNECTION_EVENT_DISCONNECTED)
		return;
	/* The first message when the connection stands, the next one when the last was sent. */
	if (sent < MESSAGES)
		send_next();
	else
		must("dat_ep_disconnect", dat_ep_disconnect(client, DAT_CLOSE_GRACEFUL_FLAG));
}

static void
on_server(const DAT_EVENT *event)
{
	const DAT_DTO_COMPLETION_EVENT_DATA *data = &event->event_data.dto_completion_event_data;

	if (on_connection(event))
		return;
	completion(event);
	printf("%.*s\n", (int)data->transfered_length,
	    buffer.bytes + data->user_cookie.as_64 * LENGTH);
	received++;
}

/* The EVDs, each with what its events are for. */
static struct {
	DAT_EVD_HANDLE evd;
	void (*handle)(const DAT_EVENT *event);
} queues[] = { { .handle = on_request }, { .handle = on_server }, { .handle = on_client } };

static void
drain(DAT_EVD_HANDLE evd)
{
	DAT_EVENT event;
	size_t i = 0;

	while (queues[i].evd != evd)
		i++;
	while (dat_evd_dequeue(evd, &event) == DAT_SUCCESS)
		queues[i].handle(&event);
}

int
main(int argc, char **argv)
{
	DAT_CNO_HANDLE cno;
	DAT_EVD_HANDLE evd;
	DAT_PSP_HANDLE psp;
	DAT_CONN_QUAL port;

	take_arguments(argc, argv, 1, 1, "cno ADAPTER");
	adapter_open(&adapter, argv[1]);
	buffer_create(&buffer, &adapter, (1 + MESSAGES) * LENGTH);
	must("dat_cno_create", dat_cno_create(adapter.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
	must("dat_evd_create", dat_evd_create(adapter.ia, 1, cno, DAT_EVD_CR_FLAG, &queues[0].evd));
	server = ep_create(&adapter, queues[1].evd = evd_create(&adapter, cno));
	client = ep_create(&adapter, queues[2].evd = evd_create(&adapter, cno));
	must("dat_psp_create_any",
	    dat_psp_create_any(adapter.ia, &port, queues[0].evd, DAT_PSP_CONSUMER_FLAG, &psp));
	must("dat_ep_connect", dat_ep_connect(client, adapter.address, port, TIMEOUT, 0, NULL,
				   DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
	do {
		must("dat_cno_wait", dat_cno_wait(cno, TIMEOUT, &evd));
		drain(evd);
	} while (received < MESSAGES || connections > 0);
	must("dat_psp_free", dat_psp_free(psp));
	must("dat_ep_free", dat_ep_free(client));
	must("dat_ep_free", dat_ep_free(server));
	for (size_t i = 0; i < sizeof queues / sizeof *queues; i++)
		must("dat_evd_free", dat_evd_free(queues[i].evd));
	must("dat_cno_free", dat_cno_free(cno));
	buffer_free(&buffer);
	adapter_close(&adapter);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * port_after -- the program of port_before.c, with an upcall in place of its thread
 *
 * The lesson: handle() stays, and serve() goes.  There is no channel, no arm, no acknowledgement,
 * no poll after the arm, and no thread to create, to wake for its end, and to join.
 *
 *	ibv_create_cq, ibv_create_comp_channel	an EVD: dat_evd_create() and
 *						dat_evd_modify_upcall(), or dat_evd_kcreate()
 *	ibv_get_cq_event, ibv_ack_cq_events,	the upcall
 *	ibv_req_notify_cq, ibv_poll_cq
 *	struct ibv_wc				DAT_DTO_COMPLETION_EVENT_DATA
 *	wr_id					user_cookie
 *	pthread_join before ibv_destroy_cq	DAT_UPCALL_TEARDOWN, before dat_ep_free()
 *
 *	port_after ADAPTER
 */
#include "common.h"

#include <err.h>
#include <stdio.h>

enum { MESSAGES = 1000, LENGTH = 64 };

static DAT_EP_HANDLE sender, receiver;
static struct buffer buffer; /* [0] is received into, [LENGTH] is sent */
static int received, owed;   /* owed: of the message, its completion and its arrival */
static sem_t end;

static void
send_message(void)
{
	owed = 2; /* before handle() can run for it */
	post_recv(receiver, &buffer, 0, LENGTH, 0);
	post_send(sender, &buffer, LENGTH, LENGTH, 0);
}

/* Runs on a thread of the adapter; never twice at the same time. */
static void
handle(DAT_PVOID instance_data, const DAT_EVENT *event, DAT_BOOLEAN more_events)
{
	const DAT_DTO_COMPLETION_EVENT_DATA *data = completion(event);

	(void)instance_data;
	(void)more_events;
	received += data->operation == DAT_DTO_RECEIVE;
	if (--owed > 0)
		return;
	if (received < MESSAGES)
		send_message();
	else
		sem_post(&end);
}

int
main(int argc, char **argv)
{
	const DAT_UPCALL_OBJECT upcall = { NULL, handle };
	struct adapter adapter;
	DAT_EVD_HANDLE evd;

	take_arguments(argc, argv, 1, 1, "port_after ADAPTER");
	sem_init(&end, 0, 0);
	adapter_open(&adapter, argv[1]);
	buffer_create(&buffer, &adapter, 2 * LENGTH);
	evd = evd_create(&adapter, DAT_HANDLE_NULL);
	sender = ep_create(&adapter, evd);
	receiver = ep_create(&adapter, evd);
	ep_connect(&adapter, sender, receiver);
	must("dat_evd_modify_upcall",
	    dat_evd_modify_upcall(evd, DAT_UPCALL_SINGLE_INSTANCE, &upcall, DAT_UPCALL_INVOC_ANY));
	send_message();
	wait_for(&end);
	/* Before the connection ends: handle() is for completions alone. */
	must("dat_evd_modify_upcall",
	    dat_evd_modify_upcall(evd, DAT_UPCALL_TEARDOWN, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_NEW));
	must("dat_ep_free", dat_ep_free(sender));
	must("dat_ep_free", dat_ep_free(receiver));
	must("dat_evd_free", dat_evd_free(evd));
	buffer_free(&buffer);
	adapter_close(&adapter);
	printf("%d messages\n", received);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shut_down -- ends a program in the middle of its traffic, in the right order
 *
 * The lesson: first the upcalls, then the connection, then the objects.  (1) TEARDOWN: from its
 * return on no upcall runs, so that nothing posts to the endpoints any more.  (2) Disconnect.  (3)
 * Take the events that are left, up to DISCONNECTED: it comes after all completions, those of
 * flushed receives included, so no transfer uses a buffer any more.  (4) Free what uses an object
 * before the object: endpoints, EVDs, memory, protection zone, adapter.
 *
 *	shut_down ADAPTER MILLISECONDS
 *
 * Two endpoints send a message to and fro, until the time is up or SIGINT or SIGTERM comes.
 */
#include "common.h"

#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { LENGTH = 64, TIMEOUT = 10 * 1000000 };
enum { RECEIVED, SENT }; /* cookies */

struct end {
	DAT_EVD_HANDLE evd;
	DAT_EP_HANDLE ep;
	struct buffer buffer;
	unsigned long messages;
	int owed; /* of the message: its completion, and the answer */
};

static void
send_message(struct end *end)
{
	end->owed = 2;
	post_recv(end->ep, &end->buffer, 0, LENGTH, RECEIVED);
	post_send(end->ep, &end->buffer, LENGTH, LENGTH, SENT);
}

static void
on_event(DAT_PVOID instance_data, const DAT_EVENT *event, DAT_BOOLEAN more_events)
{
	struct end *end = instance_data;

	(void)more_events;
	if (completion(event)->user_cookie.as_64 == RECEIVED)
		end->messages++;
	if (--end->owed == 0)
		send_message(end);
}

static void
end_open(struct end *end, const struct adapter *adapter)
{
	end->evd = evd_create(adapter, DAT_HANDLE_NULL);
	end->ep = ep_create(adapter, end->evd);
	buffer_create(&end->buffer, adapter, 2 * LENGTH);
}

static void
set_upcalls(struct end *end, DAT_UPCALL_POLICY policy)
{
	const DAT_UPCALL_OBJECT upcall = { end, on_event };

	must("dat_evd_modify_upcall",
	    dat_evd_modify_upcall(end->evd, policy, &upcall, DAT_UPCALL_INVOC_ANY));
}

/* No upcalls come any more, so this thread may wait for the rest of the events. */
static unsigned long
await_disconnected(struct end *end)
{
	unsigned long flushed = 0;
	DAT_EVENT event;
	DAT_COUNT more;

	do {
		must("dat_evd_wait", dat_evd_wait(end->evd, TIMEOUT, 1, &event, &more));
		if (event.event_number == DAT_DTO_COMPLETION_EVENT)
			flushed += event.event_data.dto_completion_event_data.status ==
				   DAT_DTO_ERR_FLUSHED;
	} while (event.event_number != DAT_CONNECTION_EVENT_DISCONNECTED);
	if (DAT_GET_TYPE(dat_evd_dequeue(end->evd, &event)) != DAT_QUEUE_EMPTY)
		errx(1, "%s after DISCONNECTED", dat_event_str(event.event_number));
	return flushed;
}

static void
end_close(struct end *end)
{
	must("dat_ep_free", dat_ep_free(end->ep));
	must("dat_evd_free", dat_evd_free(end->evd));
	buffer_free(&end->buffer);
}

int
main(int argc, char **argv)
{
	struct end a = { .owed = 0 }, b = { .owed = 0 };
	struct adapter adapter;
	unsigned long flushed;
	struct timespec time;
	sigset_t signals;
	long ms;

	take_arguments(argc, argv, 2, 2, "shut_down ADAPTER MILLISECONDS");
	ms = atol(argv[2]);
	if (ms < 1)
		errx(2, "%s is no number of milliseconds", argv[2]);
	/* Before there is another thread: a blocked signal waits for sigtimedwait(). */
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);

	adapter_open(&adapter, argv[1]);
	end_open(&a, &adapter);
	end_open(&b, &adapter);
	ep_connect(&adapter, a.ep, b.ep);
	post_recv(b.ep, &b.buffer, 0, LENGTH, RECEIVED);
	b.owed = 1;
	send_message(&a);
	set_upcalls(&a, DAT_UPCALL_SINGLE_INSTANCE);
	set_upcalls(&b, DAT_UPCALL_SINGLE_INSTANCE);
	time = (struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };
	sigtimedwait(&signals, NULL, &time);

	set_upcalls(&a, DAT_UPCALL_TEARDOWN); /* (1) */
	set_upcalls(&b, DAT_UPCALL_TEARDOWN);
	must("dat_ep_disconnect", dat_ep_disconnect(a.ep, DAT_CLOSE_ABRUPT_FLAG)); /* (2) */
	flushed = await_disconnected(&a) + await_disconnected(&b);		   /* (3) */
	end_close(&a);								   /* (4) */
	end_close(&b);
	adapter_close(&adapter);
	printf("%lu messages, and %lu flushed transfers\n", a.messages + b.messages, flushed);
	return 0;
}

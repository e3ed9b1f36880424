/* SPDX-License-Identifier: BSD-3-Clause */
#include "kind.h"

#define BIT(move) (1u << SOFT_CHOOSE_##move)

/* Nothing that the program could do would give it the completions. */
#define MADE_DEAF (SOFT_MADE_CQ_ERR | SOFT_MADE_REMOVAL)

const struct soft_kind_text soft_kinds[SOFT_KINDS] = {
	[SOFT_STRANDED] = { "stranded",
	    "An event disarms its queue, and one event can stand for many completions. No further "
	    "event is raised "
	    "until the queue is armed again.",
	    "After each event arm the queue, then poll it until it is empty, whatever the event "
	    "was for; do so for "
	    "every queue that was armed.",
	    MADE_DEAF },
	[SOFT_NOT_LOOKED_AT_AGAIN] = { "not-looked-at-again",
	    "A request for notification concerns completions that are added after it. One that is "
	    "there already "
	    "raises no event.",
	    "Poll the queue after ibv_req_notify_cq(), until ibv_poll_cq() returns less than was "
	    "asked for, and only "
	    "then sleep.",
	    MADE_DEAF },
	[SOFT_SLEEPS_UNARMED] = { "sleeps-unarmed",
	    "Only a queue that is armed raises an event, and each event disarms it. An event can "
	    "also come late, for "
	    "a completion that was polled already.",
	    "Call ibv_req_notify_cq() before each wait, also after an event for which nothing was "
	    "found; then poll "
	    "once more, then sleep.",
	    MADE_DEAF },
	[SOFT_EVENT_UNREAD] = { "event-unread",
	    "The event of a queue is read from the channel that the queue was created with, by "
	    "ibv_get_cq_event(). A "
	    "descriptor that is watched for edges reports several events once.",
	    "Wait for the channels of all queues that are armed, and read events until "
	    "ibv_get_cq_event() fails with "
	    "EAGAIN.",
	    MADE_DEAF | SOFT_MADE_UNREAD },
	[SOFT_UNSOLICITED] = { "unsolicited",
	    "A queue that is armed for solicited completions raises an event for messages that "
	    "were sent with "
	    "IBV_SEND_SOLICITED, and for errors. Others raise none.",
	    "Call ibv_req_notify_cq() with 0, or let the peer set IBV_SEND_SOLICITED in each "
	    "message that is to wake this "
	    "thread.",
	    MADE_DEAF },
	[SOFT_ARM_ERROR_IGNORED] = { "arm-error-ignored",
	    "A queue is not armed if ibv_req_notify_cq() returns an error.",
	    "Check what ibv_req_notify_cq() returns; when it fails, poll, try again, or give up, "
	    "but do not sleep.",
	    MADE_DEAF },
	[SOFT_NEVER_ACKNOWLEDGED] = { "never-acknowledged",
	    "A call that destroys a completion queue, a queue pair, a shared receive queue or an "
	    "id waits until every "
	    "event of it that was read is acknowledged.",
	    "Acknowledge each event before its object is destroyed, on the paths of errors too: "
	    "by ibv_ack_cq_events(), to "
	    "the queue that ibv_get_cq_event() returned; by ibv_ack_async_event(); by "
	    "rdma_ack_cm_event(), in a handler "
	    "before rdma_destroy_id().",
	    0 },
	[SOFT_ACKNOWLEDGED_TOO_MUCH] = { "acknowledged-too-much",
	    "A queue may be acknowledged as many events as were read of it. ibv_destroy_cq() "
	    "compares the numbers and "
	    "waits for ever if they differ.",
	    "Count the events of each queue by what ibv_get_cq_event() returns, and acknowledge "
	    "them to this queue.",
	    0 },
	[SOFT_USED_WHEN_DESTROYED] = { "used-when-destroyed",
	    "No call with a queue may be in progress, or follow, when ibv_destroy_cq() frees it.",
	    "Stop or join every thread that polls or arms the queue before it is destroyed.", 0 },
	[SOFT_OVERRUN] = { "overrun",
	    "A queue that is full when a completion comes loses it, and accepts no more; the queue "
	    "pairs of it fail.",
	    "Create the queue with an entry for every request that can be outstanding on its queue "
	    "pairs, signaled or "
	    "in error, or post no more than were polled.",
	    SOFT_MADE_CQ_ERR },
	[SOFT_SEND_QUEUE_FULL] = { "send-queue-full",
	    "A request without a completion occupies the send queue until a later request has "
	    "completed and its "
	    "completion was polled. An adapter refuses the next request with ENOMEM, for ever.",
	    "Set IBV_SEND_SIGNALED at least once in every max_send_wr requests, and poll for it.",
	    MADE_DEAF | SOFT_MADE_QP_ERR },
	[SOFT_RECEIVER_NOT_READY] = { "receiver-not-ready",
	    "A message needs a receive that is posted. A requester that finds none tries again "
	    "rnr_retry times; then the "
	    "connection has failed.",
	    "Post receives before the peer can send, and again before they run out; or let the "
	    "requester wait, with an "
	    "rnr_retry of 7.",
	    SOFT_MADE_NOT_READY },
	[SOFT_CONNECTION_ENDED] = { "connection-ended",
	    "When the peer disconnects, the queue pair of this end stays as it is: its requests "
	    "complete, flushed, only when "
	    "this end disconnects, too.",
	    "Wait for events of the connection as well, by rdma_get_cm_event() in another thread "
	    "or by both descriptors in "
	    "poll(), and call rdma_disconnect() on DISCONNECTED: then the requests complete with "
	    "IBV_WC_WR_FLUSH_ERR.",
	    MADE_DEAF },
};

unsigned int
soft_kind_moves(enum soft_kind kind, unsigned int made, bool bounded)
{
	switch (kind) {
	case SOFT_STRANDED:
		return made;
	case SOFT_NOT_LOOKED_AT_AGAIN:
		if (bounded) /* completions must come together */
			return (made | BIT(LATE)) & ~BIT(SPLIT);
		return (made | BIT(HOLD) | BIT(PAUSE)) & ~(BIT(AFTER) | BIT(LATE) | BIT(MERGE));
	case SOFT_SLEEPS_UNARMED:
		return (made | BIT(HOLD) | BIT(AFTER)) & ~BIT(LATE);
	case SOFT_EVENT_UNREAD:
		return made | BIT(LATE);
	default: /* no matter of moments */
		return 0;
	}
}

bool
soft_kind_needs_all_queues(enum soft_kind kind)
{
	return kind == SOFT_EVENT_UNREAD;
}

bool
soft_kind_needs_all_moves(enum soft_kind kind)
{
	return kind == SOFT_STRANDED || kind == SOFT_EVENT_UNREAD;
}

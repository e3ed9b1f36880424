/* SPDX-License-Identifier: BSD-3-Clause */
#include "remote.h"
#include "qp_error.h"
#include "qp_table.h"
#include "remote_requester.h"
#include "remote_responder.h"
#include "requester.h"

struct lost {
	unsigned int slot;
	bool gone;
};

static bool
remote_concerns(struct soft_qp *qp, const struct lost *lost)
{
	return soft_qpn_slot(soft_qp_peer(qp)) == lost->slot;
}

static void
remote_requester_lost(struct soft_qp *qp, void *arg)
{
	const struct lost *lost = arg;

	if (soft_qp_is_datagram(qp))
		soft_sq_resume(qp); /* it may have waited for room on that link */
	else if (remote_concerns(qp, lost))
		soft_remote_requester_link_lost(qp, lost->gone);
}

static void
remote_responder_lost(struct soft_qp *qp, void *arg)
{
	if (remote_concerns(qp, arg))
		soft_remote_responder_link_lost(qp);
}

static void
remote_fail(struct soft_qp *qp, void *arg)
{
	if (remote_concerns(qp, arg))
		soft_qp_error(qp, IBV_EVENT_QP_FATAL);
}

static struct soft_qp *
remote_qp_of_requester(struct soft_turn *turn)
{
	return soft_container_of(turn, struct soft_qp, sq.turn);
}

static struct soft_qp *
remote_qp_of_responder(struct soft_turn *turn)
{
	return soft_container_of(turn, struct soft_qp, answers.turn);
}

void
soft_remote_requester_get(struct soft_turn *turn)
{
	soft_qp_get(remote_qp_of_requester(turn));
}

void
soft_remote_requester_put(struct soft_turn *turn)
{
	soft_qp_put(remote_qp_of_requester(turn));
}

void
soft_remote_requester_send(struct soft_turn *turn, struct soft_link *link)
{
	struct soft_qp *qp = remote_qp_of_requester(turn);

	(void)link; /* it finds the link by the number of its peer */
	if (soft_qp_is_datagram(qp))
		soft_sq_resume(qp);
	else
		soft_remote_requester_continue(qp);
}

void
soft_remote_responder_get(struct soft_turn *turn)
{
	soft_qp_get(remote_qp_of_responder(turn));
}

void
soft_remote_responder_put(struct soft_turn *turn)
{
	soft_qp_put(remote_qp_of_responder(turn));
}

void
soft_remote_responder_send(struct soft_turn *turn, struct soft_link *link)
{
	soft_remote_responder_answer(remote_qp_of_responder(turn), link);
}

void
soft_remote_misbehaved(unsigned int slot)
{
	struct lost lost = { .slot = slot };

	soft_qp_table_each(remote_fail, &lost);
}

void
soft_remote_link_lost(unsigned int slot, bool outgoing, bool gone)
{
	struct lost lost = { slot, gone };

	soft_qp_table_each(outgoing ? remote_requester_lost : remote_responder_lost, &lost);
}

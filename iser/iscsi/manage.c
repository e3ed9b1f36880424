/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/iscsi/manage.h"

#include "iser/iscsi/itask.h"
#include "iser/iscsi/target.h"

#include <errno.h>
#include <stddef.h>

enum function {
	ABORT_TASK = 1,
	ABORT_TASK_SET = 2,
	CLEAR_ACA = 3,
	CLEAR_TASK_SET = 4,
	LUN_RESET = 5,
	TARGET_WARM_RESET = 6,
	TARGET_COLD_RESET = 7,
	TASK_REASSIGN = 8,
};

enum answer {
	COMPLETE = 0,
	NO_TASK = 1,
	NO_LUN = 2,
	NO_REASSIGN = 4,
	NOT_SUPPORTED = 5,
	REJECTED = 255,
};

/* Offsets of a request. */
enum {
	REFERENCED_TAG = 20,
	REFERENCED_CMDSN = 32,
};

static void
answer(struct session *session, uint32_t itt, enum answer what)
{
	unsigned int slot;
	unsigned char *bhs = session_answer(session, PDU_MANAGED, itt, 0, &slot);

	if (!bhs)
		return;
	bhs[2] = (unsigned char)what;
	session_send(session, bhs, slot, 0, true, NULL);
}

static void
ended(struct manage *manage)
{
	manage->busy = false;
	answer(manage->session, manage->itt, COMPLETE);
}

void
manage_task_ended(struct manage *manage)
{
	ended(manage);
}

void
manage_ordered(struct session *session, struct mover_order *order)
{
	mover_release(&session->mover); /* of run() */
	ended((struct manage *)(void *)((char *)order - offsetof(struct manage, order)));
}

/* Of the device server; any thread. */
static void
drained(struct scsi_drain *drain)
{
	struct manage *manage = drain->context;

	manage->order.what = ORDER_MANAGED;
	mover_post(&manage->session->mover, &manage->order);
}

static struct manage *
new_manage(struct session *session, uint32_t itt)
{
	for (unsigned int i = 0; i < SESSION_MANAGES; i++) {
		struct manage *manage = &session->manages[i];

		if (manage->busy)
			continue;
		*manage = (struct manage){ .session = session, .busy = true, .itt = itt };
		manage->drain.done = drained;
		manage->drain.context = manage;
		return manage;
	}
	return NULL;
}

static void
abort_task(struct session *session, struct manage *manage, const unsigned char *pdu)
{
	struct itask *task = itask_find(session, wire_get32(pdu + REFERENCED_TAG));

	if (task && !task->manage) {
		/* Ends it, perhaps before it returns. */
		task->manage = manage;
		itask_abort(task);
		return;
	}
	manage->busy = false;
	/* RFC 7143 11.5.5: one that has not come is taken as if it had, and been aborted. */
	answer(session, manage->itt,
	    !task && session_skip(session, wire_get32(pdu + REFERENCED_CMDSN)) ? COMPLETE :
										 NO_TASK);
}

static void
run(struct session *session, struct manage *manage, enum scsi_abort what, const unsigned char *pdu)
{
	const unsigned char *lun = pdu + PDU_LUN;
	int r;

	/* What waits for the initiator, or for memory, does not end by itself. */
	itask_abort_idle(session, what == SCSI_TARGET_RESET ? NULL : lun);
	mover_hold(&session->mover);
	r = scsi_abort(session->nexus, what, lun, &manage->drain);
	if (r == 0)
		return; /* drained() */
	mover_release(&session->mover);
	manage->busy = false;
	answer(session, manage->itt, r > 0 ? COMPLETE : r == -ENXIO ? NO_LUN : REJECTED);
}

bool
manage_is_busy(const struct session *session)
{
	for (unsigned int i = 0; i < SESSION_MANAGES; i++)
		if (session->manages[i].busy)
			return true;
	return false;
}

void
manage_request(struct session *session, const unsigned char *pdu)
{
	const uint32_t itt = wire_get32(pdu + PDU_ITT);
	struct manage *manage = new_manage(session, itt);

	if (!manage) {
		session_reject(session, REJECT_IMMEDIATE, pdu);
		return;
	}
	atomic_fetch_add_explicit(&session->target->counts.managed, 1, memory_order_relaxed);
	switch (pdu[PDU_FLAGS] & 0x7f) {
	case ABORT_TASK:
		abort_task(session, manage, pdu);
		return;
	case ABORT_TASK_SET:
		run(session, manage, SCSI_ABORT_TASK_SET, pdu);
		return;
	case CLEAR_TASK_SET:
		run(session, manage, SCSI_CLEAR_TASK_SET, pdu);
		return;
	case LUN_RESET:
		run(session, manage, SCSI_LUN_RESET, pdu);
		return;
	case TARGET_WARM_RESET:
		run(session, manage, SCSI_TARGET_RESET, pdu);
		return;
	default:
		break;
	}
	manage->busy = false;
	switch (pdu[PDU_FLAGS] & 0x7f) {
	case TASK_REASSIGN:
		answer(session, itt, NO_REASSIGN);
		break;
	case CLEAR_ACA:
	case TARGET_COLD_RESET:
		answer(session, itt, NOT_SUPPORTED);
		break;
	default:
		answer(session, itt, REJECTED);
	}
}

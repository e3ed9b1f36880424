/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * manage -- a task management function: it is answered when the tasks that it ends have ended
 */
#ifndef ISER_ISCSI_MANAGE_H
#define ISER_ISCSI_MANAGE_H

#include "iser/iscsi/session.h"

struct manage {
	struct scsi_drain drain;
	struct mover_order order;
	struct session *session;
	bool busy;
	uint32_t itt;
};

void manage_request(struct session *session, const unsigned char *pdu);

/* Whether one has not been answered. */
bool manage_is_busy(const struct session *session);

/* The task of an ABORT TASK has ended. */
void manage_task_ended(struct manage *manage);

/* The order of a drain. */
void manage_ordered(struct session *session, struct mover_order *order);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reserve -- reservations of a LUN and who holds them; all with the lock of the target
 */
#ifndef ISER_SCSI_RESERVE_H
#define ISER_SCSI_RESERVE_H

#include "device.h"

bool pr_is_exclusive_access(enum pr_type type);
bool pr_is_of_all(enum pr_type type);

/* Whether any registrant has access, besides the holder. */
bool pr_lets_registrants(enum pr_type type);

/* NULL if the port is not registered. */
struct registration *registration_find(struct reservation *r, const char *port);

/* `registration` may be NULL. */
bool registration_holds(const struct reservation *r, const struct registration *registration);

/* Ends the task with RESERVATION CONFLICT; false. */
bool task_conflict(struct scsi_task *task);

#endif

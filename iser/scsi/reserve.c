/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reserve -- which nexus may use a LUN; RESERVE(6) and RELEASE(6)
 */
#include "reserve.h"

#include <string.h>

bool
pr_is_exclusive_access(enum pr_type type)
{
	return type == PR_EXCLUSIVE_ACCESS || type == PR_EXCLUSIVE_ACCESS_RO ||
	       type == PR_EXCLUSIVE_ACCESS_AR;
}

bool
pr_is_of_all(enum pr_type type)
{
	return type == PR_WRITE_EXCLUSIVE_AR || type == PR_EXCLUSIVE_ACCESS_AR;
}

bool
pr_lets_registrants(enum pr_type type)
{
	return type == PR_WRITE_EXCLUSIVE_RO || type == PR_EXCLUSIVE_ACCESS_RO ||
	       pr_is_of_all(type);
}

struct registration *
registration_find(struct reservation *r, const char *port)
{
	for (unsigned int i = 0; i < SCSI_REGISTRATIONS; i++)
		if (r->registrations[i].port[0] && strcmp(r->registrations[i].port, port) == 0)
			return &r->registrations[i];
	return NULL;
}

bool
registration_holds(const struct reservation *r, const struct registration *registration)
{
	return registration && r->type != PR_NONE &&
	       (pr_is_of_all(r->type) || r->holder == registration);
}

/* Of commands for which it depends on the CDB. */
static enum command_access
task_access(const struct scsi_task *task)
{
	const uint8_t *cdb = task->cdb;

	if (task->command->access != ACCESS_CHECKED)
		return task->command->access;
	if (task->command->start == start_prevent)
		return cdb[4] & 3 ? ACCESS_WRITE : ACCESS_FREE;
	return (cdb[4] & 0xf1) == 1 ? ACCESS_STATE :
				      ACCESS_WRITE; /* START STOP UNIT: start, no power condition */
}

bool
reserve_allows(struct scsi_task *task)
{
	struct reservation *r = &task->logical_unit->reservation;
	const enum command_access access = task_access(task);
	const struct registration *own;

	if (access == ACCESS_FREE)
		return true;
	if (r->reserver && r->reserver != task->nexus)
		return false;
	if (r->type == PR_NONE || access == ACCESS_STATE)
		return true;
	own = registration_find(r, task->nexus->port);
	if (registration_holds(r, own) || (own && pr_lets_registrants(r->type)))
		return true;
	return access == ACCESS_READ && !pr_is_exclusive_access(r->type);
}

void
reserve_reset(struct scsi_lun *lun)
{
	lun->reservation.reserver = NULL;
}

void
reserve_forget(struct scsi_lun *lun, const struct scsi_nexus *nexus)
{
	if (lun->reservation.reserver == nexus)
		lun->reservation.reserver = NULL;
}

bool
task_conflict(struct scsi_task *task)
{
	task->status = SCSI_RESERVATION_CONFLICT;
	return false;
}

/* The two kinds of reservation do not mix. */
bool
plan_reserve6(struct scsi_task *task)
{
	struct reservation *r = &task->logical_unit->reservation;

	if (r->reserver && r->reserver != task->nexus)
		return task_conflict(task);
	for (unsigned int i = 0; i < SCSI_REGISTRATIONS; i++)
		if (r->registrations[i].port[0])
			return task_conflict(task);
	r->reserver = task->nexus;
	return true;
}

enum scsi_progress
start_reserve6(struct scsi_task *task)
{
	(void)task;
	return SCSI_ENDED;
}

bool
plan_release6(struct scsi_task *task)
{
	(void)task;
	return true;
}

enum scsi_progress
start_release6(struct scsi_task *task)
{
	struct scsi_lun *lun = task->logical_unit;

	pthread_mutex_lock(&lun->target->lock);
	reserve_forget(lun, task->nexus);
	pthread_mutex_unlock(&lun->target->lock);
	return SCSI_ENDED;
}

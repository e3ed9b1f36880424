/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nexus -- an initiator port that is logged in, and what ends the tasks of many
 *
 * A nexus has for each LUN the unit attentions that it has not got yet, and whether it prevents
 * removal.  Persistent reservations are bound to the name of the port and outlive the nexus;
 * reservations by RESERVE(6) do not.  A new nexus gets POWER ON OCCURRED once from each LUN.
 */
#ifndef ISER_SCSI_NEXUS_H
#define ISER_SCSI_NEXUS_H

#include "lun.h"

struct scsi_nexus;

#define SCSI_PORT_NAME 240 /* bytes of a port's name with its 0: 223 and ",i,0x", 12 digits */

/*
 * `port` is the SCSI name of the initiator port, such as "iqn.2026-11.example:a,i,0x00023d000001".
 * Two nexuses may have the same name only while the first is on its way out: the transport aborts
 * and frees it.  0 or -errno: -EINVAL, -ENOMEM.  The name is copied.
 */
int scsi_nexus_create(struct scsi_nexus **nexus, struct scsi_target *target, const char *port);

/* No task of it may be left: see scsi_abort.  NULL is fine. */
void scsi_nexus_free(struct scsi_nexus *nexus);

enum scsi_abort {
	SCSI_ABORT_TASK_SET, /* tasks of one nexus and one LUN */
	SCSI_CLEAR_TASK_SET, /* tasks of all nexuses for one LUN; the others get COMMANDS CLEARED */
	SCSI_LUN_RESET,	     /* the same; RESERVE(6) ends, all nexuses get an attention */
	SCSI_TARGET_RESET,   /* the same for all LUNs */
	SCSI_ABORT_NEXUS,    /* tasks of one nexus for all LUNs: before scsi_nexus_free */
};

/* An abort that waits for the end of its tasks.  The caller owns it, from scsi_abort to `done`. */
struct scsi_drain {
	/*
	 * All tasks that were there have ended, and their callbacks have returned.  From the thread
	 * that ended the last, also within its scsi_task_start() or scsi_task_drop(), without a
	 * lock.
	 */
	void (*done)(struct scsi_drain *drain);
	void *context; /* the caller's */

	/* Below is private. */
	struct scsi_drain *next;
	const struct scsi_nexus *nexus; /* NULL: of all */
	const struct scsi_lun *lun;	/* NULL: for all */
	uint64_t at;			/* the abort; tasks that were marked later do not count */
	unsigned int left;
};

/*
 * Marks the tasks: each ends as soon as it can, `aborted`, by its callback; those which wait for
 * another or for scsi_task_start at once or in that call.  `lun` is the field of the request; a LUN
 * that does not exist gives -ENXIO, and nothing happens.  1: all have ended already, and `done` is
 * not called; 0: it will be, or has been when this returns.
 */
int scsi_abort(
    struct scsi_nexus *nexus, enum scsi_abort what, const uint8_t lun[8], struct scsi_drain *drain);

#endif

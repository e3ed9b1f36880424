/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ijob -- the blocks of a job of the initiator: between the file and the memory of the slots
 */
#ifndef ISER_ISCSI_IJOB_H
#define ISER_ISCSI_IJOB_H

struct iconn;

/*
 * As many commands of the job as there are slots, and as the target's window allows.  While one
 * waits to be sent again, the target is not given more.
 */
void ijob_go_on(struct iconn *conn);
/* If nothing is outstanding after ijob_go_on(), the connections have begun all of the job. */
void ijob_rest(struct iconn *conn);
/* The command of the slot: what it writes is in its buffer. */
void ijob_transfer(struct iconn *conn, unsigned int number);
/* The command of the slot is done. */
void ijob_copied(struct iconn *conn, unsigned int number);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * itask -- a SCSI command of a session, from its PDU to the completion of its response
 *
 *	FREE -> WAITING -> GATHERING -> FETCHING -> EXECUTING -> RESPONDING -> FREE
 *
 * Each of the states between is left out if there is nothing to do in it.  Memory that the device
 * may touch goes back to the pool when the completion of the response has come.
 */
#ifndef ISER_ISCSI_ITASK_H
#define ISER_ISCSI_ITASK_H

#include "iser/iscsi/session.h"
#include "iser/scsi/task.h"

enum itask_state {
	ITASK_FREE,
	ITASK_WAITING,	  /* for memory of the pool */
	ITASK_GATHERING,  /* data PDUs that were not asked for are still to come */
	ITASK_FETCHING,	  /* an RDMA read brings the data */
	ITASK_EXECUTING,  /* in the hands of the device server */
	ITASK_RESPONDING, /* the response is posted, behind the RDMA write of its data */
	ITASK_STATES,
};

enum itask_event {
	ITASK_WAIT,
	ITASK_GATHER,
	ITASK_FETCH,
	ITASK_EXECUTE,
	ITASK_RESPOND,
	ITASK_END, /* the response was sent, or the task was aborted */
	ITASK_EVENTS,
};

extern const struct machine itask_states_machine;

struct itask {
	struct scsi_task scsi;
	struct session *session;
	struct mover_order order;
	struct mover_work work;
	struct pool_waiter waiter;
	enum itask_state state;
	unsigned char flags; /* of the command */
	bool counted;	     /* by the window */
	bool aborted;	     /* no response is due */
	bool has_slot;	     /* WAITING: the PDU is still in its receive */
	unsigned int slot;
	uint32_t itt, expected, received, datasn;
	struct iser_header header;
	struct pool_piece piece;
	struct iovec iov;
	uint64_t gathers_since; /* GATHERING */
	struct itask *hash_next;
	struct manage *manage; /* an ABORT TASK that waits for its end */
};

/* A command whose turn it is; gives the receive back. */
void itask_command(struct session *session, unsigned int slot, unsigned char *pdu, bool immediate);

/* A data PDU; the receive stays the caller's. */
void itask_data(struct session *session, const unsigned char *pdu);

/* What the mover and the orders tell. */
void itask_fetched(struct itask *task);
void itask_sent(struct itask *task);
void itask_ordered(struct session *session, struct mover_order *order);

/* The task with this tag, or NULL. */
struct itask *itask_find(struct session *session, uint32_t itt);

/* Ends it without a response, as soon as it can. */
void itask_abort(struct itask *task);

/* The connection is closed: those that the device server does not have yet are dropped. */
void itask_drop_all(struct session *session);

/* Whether the data PDUs of one have been awaited for `patience`. */
bool itask_is_late(const struct session *session, uint64_t now, uint64_t patience);

/* Whether none is left but those whose response was sent. */
bool itask_all_answered(const struct session *session);

/* Ends those that wait for data PDUs. */
void itask_abort_gathering(struct session *session);

/* Ends those that wait for data PDUs or for memory, of a LUN, or of all if it is NULL. */
void itask_abort_idle(struct session *session, const uint8_t *lun);

#endif

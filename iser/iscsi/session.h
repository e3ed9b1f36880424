/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session -- a connection of the target: login, window, and what its PDUs lead to
 *
 * A session has one connection (MaxConnections is 1), and its tasks are those of the connection.
 * All of it belongs to the connection's upcall, but for what is marked [any].
 *
 *	LOGIN -> FULL -> LOGOUT		the mover's states say when the connection ends
 */
#ifndef ISER_ISCSI_SESSION_H
#define ISER_ISCSI_SESSION_H

#include "iser/datamover/mover.h"
#include "iser/iscsi/login.h"
#include "iser/scsi/nexus.h"

struct itask;
struct manage;
struct target;

enum session_state {
	SESSION_LOGIN, /* login requests are awaited */
	SESSION_FULL,  /* the full feature phase */
	/*
	 * a logout was asked for, and is answered when the tasks have ended; or a login is refused.
	 * Then the connection is ended.  What comes meanwhile is not taken.
	 */
	SESSION_LOGOUT,
};

/* What an order of the mover asks for. */
enum session_order {
	ORDER_TASK,    /* a SCSI task has ended */
	ORDER_MEMORY,  /* the pool may have room for a task */
	ORDER_MANAGED, /* a task management function has ended its tasks */
	ORDER_TICK,    /* the deadline has come */
	ORDER_STOP,    /* the target stops */
	ORDER_REPLACE, /* the initiator has logged in again */
	ORDER_NEXUS,   /* at the end: all SCSI tasks have ended */
};

/* An order that is posted at most once at a time. */
struct session_call {
	struct mover_order order;
	atomic_bool posted;
};

/* A PDU that came before the one whose turn it is. */
struct held {
	enum { HELD_NOT, HELD_PDU, HELD_SKIP } what; /* SKIP: its task was aborted before it came */
	unsigned int slot;
	size_t length;
};

#define SESSION_HASH 256

struct session {
	struct mover mover;   /* first: the upcall gets its address */
	struct session *next; /* guarded by target->lock */
	struct target *target;
	enum session_state state;
	struct login *login; /* until it is done */
	bool discovery;
	char initiator[KEYS_NAME_BYTES + 1];
	unsigned char isid[6];
	uint16_t tsih, cid;
	uint32_t first_burst, initiator_recv, target_recv;
	bool immediate_data, initial_r2t;
	struct scsi_nexus *nexus; /* NULL: of a discovery session, or before the login */

	uint32_t statsn, expcmdsn;
	unsigned int window, active; /* commands that the window counts */
	struct held *held;	     /* [CmdSN % window] */
	unsigned int held_count;

	struct itask *tasks;
	unsigned int task_count, free_count, *free_tasks;
	struct itask *hash[SESSION_HASH]; /* by initiator task tag */
	struct manage *manages;		  /* SESSION_MANAGES of them */

	char *text; /* of a text request that goes on */
	size_t text_bytes;

	struct pool_share share; /* [any] what the tasks have of the pool */

	struct session_call tick, stop, replace;
	struct mover_order nexus_order;
	struct scsi_drain nexus_drain;
	atomic_ullong deadline; /* [any] bell_now() time of the next tick; 0: none */
	uint64_t heard_at;	/* when the last PDU came */
	bool pinged;		/* since then */
	bool owes_logout;	/* its answer, with this tag */
	uint32_t logout_itt;
	uint64_t sent, sent_at; /* mover.sent, and when it last was seen to grow, or to have to */
	atomic_bool is_full;	/* [any] has been in FULL; what is above is set then */
};

#define SESSION_MANAGES 32

/* Ready to accept.  NULL after a message; then nothing is allocated. */
struct session *session_new(struct target *target, unsigned int index);

/*
 * Returns the number of calls that failed and should not; each was reported.  The mover is
 * finished.
 */
int session_free(struct session *session);

/* [any] Posts the call, unless it is posted already. */
void session_call(struct session *session, struct session_call *call);

/* ---- for the parts of a session ---- */

/*
 * A PDU to be sent with `bytes` of data: zeroed, with opcode, final flag, length, and the tag.
 * NULL: the connection was ended, because the peer does not take what is sent.
 */
unsigned char *session_answer(struct session *session, enum pdu_opcode opcode, uint32_t itt,
    size_t bytes, unsigned int *slot);

/* Fills in the serial numbers, and sends. */
bool session_send(struct session *session, unsigned char *bhs, unsigned int slot, size_t bytes,
    bool counts, void *owner);

void session_reject(struct session *session, enum pdu_reject reason, const unsigned char *pdu);

/* The last CmdSN that the initiator may send. */
uint32_t session_maxcmdsn(const struct session *session);

/*
 * A command with this CmdSN does not come any more.  False if it has come, or is outside of the
 * window.
 */
bool session_skip(struct session *session, uint32_t cmdsn);

#endif

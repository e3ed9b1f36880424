/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conn -- one connection: endpoint, EVD, registered buffers, and its life
 *
 * All streams of a connection -- connection events, completions, and the software events by
 * which the main thread gives orders -- are merged into one EVD with the policy
 * SINGLE_INSTANCE.  So everything about a connection happens in one upcall at a time, in
 * order: ESTABLISHED before the first receive, the last completion before DISCONNECTED.  No
 * lock is needed.  Only what is marked [any] may be used from another thread.
 */
#ifndef ISER_CONN_H
#define ISER_CONN_H

#include "machine.h"
#include "pdu.h"
#include "region.h"
#include "watch.h"

#include <stdatomic.h>
#include <stdbool.h>

struct adapter;

enum conn_state {
	CONN_IDLE,	 /* the resources exist; the network was not asked for anything */
	CONN_CONNECTING, /* connect or accept issued; its outcome is awaited */
	CONN_LOGIN,	 /* established; the login is to be sent, answered or awaited */
	CONN_READY,	 /* logged in: commands flow */
	CONN_LOGOUT,	 /* logout sent (initiator) or answered (target) */
	CONN_CLOSING,	 /* disconnect issued; its event is awaited */
	CONN_CLOSED,	 /* the one final connection event came; only flushes may follow */
	CONN_STATES,
};

enum conn_event {
	CONN_START,	  /* connect or accept is issued */
	CONN_ESTABLISHED, /* an event of the provider */
	CONN_LOGGED_IN,	  /* login answered with PDU_OK */
	CONN_LOGGING_OUT, /* logout sent or answered */
	CONN_CLOSE,	  /* this side disconnects, for whatever reason */
	CONN_GONE,	  /* disconnected, broken, rejected, unreachable, timed out */
	CONN_EVENTS,
};

extern const struct machine conn_machine;

struct conn;

/* What a side does on a connection's events.  All run in the connection's upcall. */
struct conn_ops {
	void (*established)(struct conn *conn);
	/* A PDU arrived in receive slot `slot`, which must be given back by conn_post_recv(). */
	void (*received)(
	    struct conn *conn, unsigned int slot, enum pdu_status status, const struct pdu *pdu);
	void (*sent)(struct conn *conn, unsigned int slot);
	void (*moved)(struct conn *conn, unsigned int slot); /* RDMA read or write completed */
	void (*ordered)(struct conn *conn, void *order);     /* see conn_order() */
	void (*closed)(struct conn *conn);		     /* state is CLOSED now; called once */
};

struct conn_shape {
	unsigned int recvs;    /* receive slots */
	unsigned int sends;    /* slots of PDUs to send, and of data buffers */
	unsigned int requests; /* sends and RDMAs outstanding at most */
	uint32_t block_bytes;  /* of a data buffer */
	DAT_MEM_PRIV_FLAGS data_privileges;
};

struct conn {
	struct adapter *adapter;
	const struct conn_ops *ops;
	void *owner;
	unsigned int index; /* for messages */
	struct conn_shape shape;
	struct watch watch;
	DAT_EP_HANDLE ep;
	struct region pdus; /* receive slots, then send slots */
	struct region data; /* a block for each send slot */
	bool was_established;
	bool clean;		 /* ended the way it should: after a logout */
	char reason[192];	 /* why not, once CLOSED */
	atomic_int state;	 /* [any] enum conn_state */
	atomic_long outstanding; /* [any] posted work that has not completed */
};

/*
 * Creates everything and posts all receives.  DAT_SUCCESS, or nothing is left behind and
 * *ret_call is the name of the call that failed.
 */
DAT_RETURN conn_create(struct conn *conn, struct adapter *adapter, const struct conn_ops *ops,
    void *owner, unsigned int index, const struct conn_shape *shape, const char **ret_call);

/*
 * Frees everything.  Waits for upcalls in progress, so never call it from one.  Returns the number
 * of calls that failed and should not; each was reported.
 */
int conn_free(struct conn *conn);

/* Once after conn_create().  On an error no event will come and the state is CLOSED. */
DAT_RETURN conn_connect(struct conn *conn, DAT_IA_ADDRESS_PTR address, DAT_CONN_QUAL qual,
    DAT_TIMEOUT timeout, const struct hello *hello);
DAT_RETURN conn_accept(struct conn *conn, DAT_CR_HANDLE cr);

/*
 * In the upcall.  A call that fails ends the connection (conn_fail()) and returns false.
 */
bool conn_post_recv(struct conn *conn, unsigned int slot);
bool conn_send(struct conn *conn, unsigned int slot, const struct pdu *pdu);
bool conn_rdma(struct conn *conn, DAT_DTOS operation, unsigned int slot, const struct pdu *command);
bool conn_step(struct conn *conn, enum conn_event event);

/* The data buffer of a send slot. */
void *conn_buffer(struct conn *conn, unsigned int slot);

/* In the upcall: disconnects, after what was posted is done. */
void conn_close(struct conn *conn);

/* In the upcall: disconnects at once.  The first reason is kept. */
void conn_fail(struct conn *conn, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* [any] Has ops->ordered() called in the upcall.  0, or -1: it was said why. */
int conn_order(struct conn *conn, void *order);

/* [any] */
static inline enum conn_state
conn_state(struct conn *conn)
{
	return (enum conn_state)atomic_load(&conn->state);
}

/* [any] The last event has come: closed, and every posted receive and request completed. */
bool conn_is_finished(struct conn *conn);

#endif

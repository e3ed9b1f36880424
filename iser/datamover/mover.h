/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mover -- a connection that moves iSCSI PDUs and data: the primitives of RFC 5047 on DAT
 *
 *	Send_Control		mover_send_buffer(), mover_send()
 *	Put_Data, Get_Data	mover_put(), mover_get(): RDMA write and read
 *	Control_Notify		ops->control(); the receive is given back by mover_post_recv()
 *	Data_Completion_Notify	ops->moved()
 *	Connection_Terminate	mover_close(), mover_fail(); its notice is ops->closed()
 *
 * A connection has one EVD with the policy SINGLE_INSTANCE.  All of its streams are merged in
 * it: connection events, completions, and a software event for orders, by which other threads have
 * something done in the upcall.  So everything happens in one upcall at a time, and needs no
 * lock.  Only what is marked [any] may be used from another thread.
 */
#ifndef ISER_DATAMOVER_MOVER_H
#define ISER_DATAMOVER_MOVER_H

#include "iser/datamover/machine.h"
#include "iser/datamover/watch.h"
#include "iser/datamover/header.h"
#include "iser/datamover/pool.h"

#include <stdatomic.h>

struct adapter;

enum mover_state {
	MOVER_IDLE,	  /* the resources exist; the network was not asked for anything */
	MOVER_CONNECTING, /* connect or accept issued; its outcome is awaited */
	MOVER_UP,	  /* established */
	MOVER_CLOSING,	  /* disconnect issued; its event is awaited */
	MOVER_CLOSED, /* the one final connection event came; only flushes and orders may follow */
	MOVER_STATES,
};

enum mover_event {
	MOVER_START,	   /* connect or accept is issued */
	MOVER_ESTABLISHED, /* an event of the provider */
	MOVER_CLOSE,	   /* this side disconnects */
	MOVER_GONE,	   /* disconnected, broken, rejected, unreachable, timed out */
	MOVER_EVENTS,
};

extern const struct machine mover_machine;

struct mover;

/* Something to do in the upcall.  From mover_post() to ops->ordered() it belongs to the mover. */
struct mover_order {
	struct mover_order *next;
	int what; /* the caller's */
};

/* All run in the connection's upcall. */
struct mover_ops {
	void (*established)(struct mover *mover);
	/* `pdu` is the basic header segment and what follows, at least ISCSI_BHS_BYTES. */
	void (*control)(struct mover *mover, unsigned int slot, const struct iser_header *header,
	    unsigned char *pdu, size_t length);
	void (*sent)(struct mover *mover, void *owner);
	void (*moved)(struct mover *mover, void *owner);
	void (*ordered)(struct mover *mover, struct mover_order *order); /* after the end, too */
	void (*closed)(struct mover *mover);				 /* called once */
};

struct mover_shape {
	unsigned int recvs;  /* receives, always posted but for those that were not given back */
	uint32_t recv_bytes; /* of data in a PDU that arrives */
	unsigned int sends;  /* sends with up to send_bytes of data */
	uint32_t send_bytes;
	unsigned int long_sends; /* sends with up to long_bytes */
	uint32_t long_bytes;
	unsigned int moves;  /* RDMA operations outstanding at most */
	uint32_t move_bytes; /* of one */
};

enum mover_kind {
	MOVER_RECV,
	MOVER_SEND,
	MOVER_MOVE,
	MOVER_QUIET, /* an RDMA write without a completion; a send follows it, which has one */
};

/* A posted request or receive: its completion has the address of this. */
struct mover_work {
	unsigned char kind;
	unsigned int slot;
	void *owner;
};

struct mover {
	struct adapter *adapter;
	struct pool *pool;
	const struct mover_ops *ops;
	unsigned int index; /* for messages */
	struct mover_shape shape;
	struct watch watch;
	DAT_EP_HANDLE ep;
	struct region memory; /* receives, sends, long sends */
	struct mover_work *works;
	unsigned int *free_sends, free_count, *free_long, free_long_count;
	bool was_established;
	uint64_t sent;	      /* sends that have completed */
	bool abrupt;	      /* a disconnect that waits for nothing was issued */
	bool clean;	      /* ended the way it should */
	char reason[192];     /* why not, once CLOSED */
	pthread_mutex_t lock; /* of the orders */
	struct mover_order *orders, **orders_end;
	atomic_int state;	 /* [any] enum mover_state */
	atomic_long outstanding; /* [any] posted work that has not completed, and holds */
};

/*
 * Creates everything and posts all receives.  DAT_SUCCESS, or nothing is left behind and *ret_call
 * is the name of the call that failed.
 */
DAT_RETURN mover_create(struct mover *mover, struct adapter *adapter, struct pool *pool,
    const struct mover_ops *ops, unsigned int index, const struct mover_shape *shape,
    const char **ret_call);

/*
 * Frees everything.  Waits for upcalls in progress, so never call it from one.  Returns the number
 * of calls that failed and should not; each was reported.
 */
int mover_free(struct mover *mover);

/* Once after mover_create().  On an error no event will come and the state is CLOSED. */
DAT_RETURN mover_connect(
    struct mover *mover, DAT_IA_ADDRESS_PTR address, DAT_CONN_QUAL qual, DAT_TIMEOUT timeout);
DAT_RETURN mover_accept(struct mover *mover, DAT_CR_HANDLE cr);

/*
 * In the upcall.  A call that fails ends the connection (mover_fail()) and returns false.
 *
 * mover_send_buffer() returns room for a basic header segment, zeroed, and `data_bytes` behind it,
 * or NULL if no send is left.  mover_send() sends it, with a header of iSER or, if `header` is
 * NULL, one without STags; `owner` goes to ops->sent(), which is not called if it is NULL.
 */
bool mover_post_recv(struct mover *mover, unsigned int slot);
unsigned char *mover_recv_pdu(struct mover *mover, unsigned int slot); /* what arrived in it */
unsigned char *mover_send_buffer(struct mover *mover, size_t data_bytes, unsigned int *ret_slot);
bool mover_send(struct mover *mover, unsigned int slot, size_t data_bytes,
    const struct iser_header *header, void *owner);

/*
 * In the upcall: between a piece of the pool, from `at` on, and the peer's memory.  `work` is in
 * use until it has completed: ops->moved(work->owner).  A write without an owner has no completion
 * if it succeeds; a send must follow it.
 */
bool mover_put(struct mover *mover, struct mover_work *work, const struct pool_piece *piece,
    uint32_t at, uint32_t bytes, uint32_t stag, uint64_t address);
bool mover_get(struct mover *mover, struct mover_work *work, const struct pool_piece *piece,
    uint32_t at, uint32_t bytes, uint32_t stag, uint64_t address);

/*
 * In the upcall: disconnects, after what was posted is done.  A peer that posts no receive delays
 * that without limit: the caller sets one, and uses mover_fail() then.
 */
void mover_close(struct mover *mover);

/* In the upcall: sends are posted that have not completed. */
bool mover_is_sending(const struct mover *mover);

/* In the upcall: disconnects at once, also after mover_close().  The first reason is kept. */
void mover_fail(struct mover *mover, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* [any] Has ops->ordered() called in the upcall.  The mover must not be freed before that. */
void mover_post(struct mover *mover, struct mover_order *order);

/* [any] While it is held the mover is not finished. */
void mover_hold(struct mover *mover);
void mover_release(struct mover *mover);

/* [any] */
static inline enum mover_state
mover_state(struct mover *mover)
{
	return (enum mover_state)atomic_load(&mover->state);
}

/*
 * Of the main thread, which holds no lock: takes the events of a connection whose device was
 * removed (drain.h).  True if there may be more later.
 */
bool mover_drain(struct mover *mover);

/* [any] The last event has come: closed, and all that was posted completed. */
bool mover_is_finished(struct mover *mover);

#endif

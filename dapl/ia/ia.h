/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ia -- an opened adapter: the device, the address, and the loops that read its channels
 *
 * The device is reached through a CM id bound to the IA's address, which lives as long as the IA:
 * the verbs context is librdmacm's and shared by every IA on that device.
 *
 * Bases count what needs the IA's device and loops: the IA while it is open, each object until it
 * was destroyed, and each call between two functions below.  The last one to go closes the device.
 * dat_ia_close() waits for them, but for those that wait for the thread that closes: see ia_close.c.
 */
#ifndef REARM_DAPL_IA_H
#define REARM_DAPL_IA_H

#include <stdatomic.h>
#include <stdbool.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "evd/loop.h"
#include "evd/park.h"

#include "dapl/ia/address.h"
#include "dapl/object/object.h"
#include "dapl/object/provider.h"

#define IA_LOOPS_MAX 32
#define IA_CREW 4
#define IA_MAX_IOV 32 /* segments a request may have, whatever the device allows */
#define IA_MAX_PRIVATE_DATA 56
#define IA_MAX_MESSAGE 0x80000000u /* bytes that a message may have, whatever the port allows */

struct dapl_evd;

/* What the parameters of a dat.conf record say. */
struct ia_options {
	char where[256];
	unsigned int loops;
	bool stepped;
};

/* A loop and the completion channel that EVDs without one of their own share. */
struct ia_loop {
	struct loop *loop;
	struct ibv_comp_channel *channel;
	struct loop_ticket ticket;
};

struct ia {
	struct object obj; /* its lock guards what is marked (L); the rest is constant while open */
	DAT_IA_HANDLE self; /* outlives the handle: what events and queries name */
	struct provider *provider;
	struct object *children[KINDS]; /* (L) */
	bool closing;			/* (L) */
	unsigned int inside;		/* (L) calls between ia_enter() and ia_leave() */
	unsigned int borrowers;		/* (L) calls between ia_borrow() and ia_return() */
	struct park_list closers;	/* (L) the thread that waits for calls and objects */
	struct dapl_evd *async;		/* (L) where asynchronous events go; holds a reference */
	bool async_ours;		/* the IA made it */
	bool async_elsewhere;		/* opened with DAT_EVD_ASYNC_EXISTS */
	struct loop *pool;		/* (L) */
	unsigned int next_vector;	/* (L) */
	atomic_uint bases;    /* goes down under (L) */
	atomic_uint deciding; /* ia_decide_begin() without ia_decide_end(); goes down under (L) */
	struct ia *next; /* among all open IAs; guarded by that list's lock */

	struct sockaddr_storage address;
	struct rdma_event_channel *events;
	struct os_mutex cm_lock; /* innermost; held to read an event, which may look at a QP */
	struct rdma_cm_id *id;
	struct ibv_context *verbs;
	struct ibv_device_attr device;
	struct ibv_port_attr port;
	struct ibv_cq *idle_cq; /* of directions without an EVD; never holds anything */
	bool fixed_cqs;		/* the device cannot give a completion queue another depth */
	unsigned int loop_count;
	bool stepped;
	struct ia_loop loops[IA_LOOPS_MAX];
	struct loop_ticket cm_ticket, async_ticket;
	struct ia_names *names; /* of ia_attr.c */
};

/* The bytes a message may have; a port without a limit says 0. */
static inline DAT_SEG_LENGTH
ia_max_message(const struct ia *ia)
{
	const uint32_t limit = ia->port.max_msg_sz;

	return limit && limit < IA_MAX_MESSAGE ? limit : IA_MAX_MESSAGE;
}

/* Segments of a request, and of an RDMA read, which some devices let have fewer. */
static inline int
ia_max_iov(const struct ia *ia)
{
	return ia->device.max_sge < IA_MAX_IOV ? ia->device.max_sge : IA_MAX_IOV;
}

static inline int
ia_max_read_iov(const struct ia *ia)
{
	const int all = ia_max_iov(ia), read = ia->device.max_sge_rd;

	return read > 0 && read < all ? read : all;
}

/* ia_options.c.  -EINVAL. */
int ia_options_parse(const char *params, struct ia_options *options);

/* ia_device.c: address, CM id, device, channels, loops.  0 or -errno with nothing left behind. */
int ia_device_open(struct ia *ia, const struct ia_options *options);
/* Stops reading the channels. */
void ia_device_quiet(struct ia *ia);
void ia_device_close(struct ia *ia);

/* A descriptor that a loop reads: non-blocking, closed on exec. */
int ia_prepare_fd(int fd);

/* The loop for a new EVD and its completion vector. */
struct ia_loop *ia_pick_loop(struct ia *ia, int *vector);

/* The loop of several threads, made at its first use.  NULL without memory. */
struct loop *ia_pool(struct ia *ia);

/* For who knows that the IA has a base; under any lock. */
void ia_base_get(struct ia *ia);
/* No lock is held. */
void ia_base_put(struct ia *ia);
/* Locked (the IA's); drops the lock.  The IA must not be touched afterwards. */
void ia_base_put_locked(struct ia *ia);

/*
 * From begin to end the caller decides about connection requests: a CR, and the endpoint that came with
 * it, may live now and be gone at the end, without the consumer having seen them.  A graceful close that finds
 * such an object waits for the end and looks again.  In between the caller neither sleeps for an event
 * nor calls out.
 *
 * Begin is for who knows that the IA has a base, under any lock; for end no lock is held, and the IA
 * must not be touched afterwards.
 */
void ia_decide_begin(struct ia *ia);
void ia_decide_end(struct ia *ia);

/* Lets a thread that closes the IA look again.  No lock of rank IA or later is held. */
void ia_stir(struct ia *ia);

/*
 * The IA of a handle for a call that runs its loops, or NULL: it may be closed meanwhile, which
 * does not wait for the call, and its device stays.
 */
struct ia *ia_borrow(DAT_IA_HANDLE handle);
void ia_return(struct ia *ia);

/*
 * The same for a call that uses what belongs to the IA, and neither sleeps for an event nor calls
 * out: closing destroys nothing before it left.
 */
struct ia *ia_enter(DAT_IA_HANDLE handle);
void ia_leave(struct ia *ia);

/* Among the open IAs; ia_unlist() is true for the last. */
void ia_list(struct ia *ia);
bool ia_unlist(struct ia *ia);
/* Lets go of the EVD of asynchronous events. */
void ia_detach_async(struct ia *ia);
/* The same of every IA that uses one of this IA's. */
void ia_withdraw_async(struct ia *ia);

/*
 * Queues an asynchronous event about `handle` (an object of the IA), if the IA has an EVD for them,
 * or another one on the device where it was opened with DAT_EVD_ASYNC_EXISTS.
 * No lock of rank EP or later may be held.
 */
void ia_post_async(struct ia *ia, DAT_EVENT_NUMBER number, DAT_HANDLE handle, DAT_COUNT reason);
/* The same about the IA itself. */
void ia_post_async_self(struct ia *ia, DAT_EVENT_NUMBER number, DAT_COUNT reason);

/* Drops what matches from where ia_post_async() put it. */
void ia_purge_async(struct ia *ia, bool (*match)(const DAT_EVENT *event, const void *who),
    const void *who);

/* Calls fn for every open IA on the device. */
void ia_for_each_on(struct ibv_context *verbs, void (*fn)(struct ia *ia, void *arg), void *arg);

/* The named attributes of ia_query(). */
int ia_names_create(struct ia *ia);
void ia_names_free(struct ia *ia);

/*
 * Frees an object whatever uses it, where dat_ia_close() may: 0, -ENODEV for a handle that is not
 * one, or that another thread is answering, -EBUSY.  None waits for upcalls or agents.
 */
int cr_destroy(DAT_HANDLE handle);
int psp_destroy(DAT_HANDLE handle);
int rsp_destroy(DAT_HANDLE handle);
int csp_destroy(DAT_HANDLE handle);
int ep_destroy(DAT_HANDLE handle);
int lmr_destroy(DAT_HANDLE handle);
int evd_destroy(DAT_HANDLE handle);
int cno_destroy(DAT_HANDLE handle);
int pz_destroy(DAT_HANDLE handle);

/*
 * The end of a reader, with errno as the last call left it: a channel that is not just empty but
 * broken, as when the device was taken away, would keep its loop busy for ever and is not watched
 * any more.
 */
void ia_channel_read(struct loop *loop, struct loop_ticket *ticket);

/*
 * Readers of the loop's sources.  The IA has no life of its own here: its sources are removed, which
 * waits for their readers, before the last base goes and with it the slot.
 */
void cm_read(void *ia, uint64_t serial);
void async_read(void *ia, uint64_t serial);

#endif

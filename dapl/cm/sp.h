/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sp -- what public, reserved and common service points have in common: a listening CM id
 */
#ifndef REARM_DAPL_SP_H
#define REARM_DAPL_SP_H

#include "dapl/ep/conn.h"
#include "dapl/ep/ep.h"
#include "dapl/evd/evd_object.h"

struct dapl_sp;

/*
 * What a kind of service point does with requests that have an endpoint.  The functions run on the
 * thread of the loop and are DAPL_NO_LOCK.
 *
 * get_ep  Called when a request from the address `from` has arrived at `listener`, whose generation
 *         was `generation`.  Stores the endpoint for the request and returns 0, or returns -errno;
 *         the request is then refused.
 * put_ep  Called with that endpoint if the event of the request could not be posted.  If `put_ep`
 *         is NULL, the caller frees the endpoint.
 */
struct dapl_sp_ops {
	int (*get_ep)(struct dapl_ia *ia, struct dapl_sp *sp, const struct dapl_conn *listener,
	    uint32_t generation, const struct sockaddr *from, DAT_EP_HANDLE *ep);
	void (*put_ep)(struct dapl_sp *sp, const struct dapl_conn *listener, uint32_t generation,
	    DAT_EP_HANDLE ep);
};

/* Constant while open. */
struct dapl_sp {
	struct dapl_object obj;
	/* constant for the slot; NULL: no request brings an endpoint */
	const struct dapl_sp_ops *ops;
	DAT_HANDLE self;
	struct dapl_conn *conn;
	/* Of requests of datagram endpoints, or NULL; set under the lock, once. */
	struct dapl_conn *datagrams;
	struct dapl_evd *evd; /* holds a reference */
	DAT_CONN_QUAL qual;
	bool brings_ep;		    /* requests go through ops->get_ep() */
	struct sockaddr_storage at; /* where it listens */
};

/* For prepare() of a slab. */
void dapl_sp_prepare(struct dapl_sp *sp, enum dapl_kind kind, const struct dapl_sp_ops *ops);

/* The service point that a listener belongs to, or NULL. */
struct dapl_sp *dapl_sp_of(struct dapl_object *owner);

/*
 * Called when a request has arrived.  Returns 0, with the endpoint of the request if the service
 * point has one for it.  -ESRCH: there is no service point any more, or none that takes this
 * request; another -errno: an endpoint could not be made.  The request is then refused.  No service
 * point has an endpoint for datagrams.  If the event of the request cannot be posted, the caller
 * calls dapl_sp_put_ep().
 */
int dapl_sp_get_ep(struct dapl_ia *ia, struct dapl_sp *sp, const struct dapl_conn *listener,
    uint32_t generation, const struct sockaddr *from, bool datagram,
    DAT_EP_HANDLE *ep) DAPL_NO_LOCK;
void dapl_sp_put_ep(struct dapl_sp *sp, const struct dapl_conn *listener, uint32_t generation,
    DAT_EP_HANDLE ep) DAPL_NO_LOCK;

/* A reference to an EVD of the IA for connection requests, or NULL. */
struct dapl_evd *dapl_sp_get_evd(struct dapl_ia *ia, DAT_EVD_HANDLE handle) DAPL_NO_OBJECT_LOCK;

/*
 * Starts to listen on `qual`; with 0 a free port is chosen and stored in sp->qual.  On success the
 * service point owns the reference to the EVD.  0 or -errno.
 */
int dapl_sp_open(
    struct dapl_sp *sp, struct dapl_ia *ia, struct dapl_evd *evd, DAT_CONN_QUAL qual) DAPL_NO_LOCK;

/*
 * A public service point also takes requests of datagram endpoints from now on, on the same port of
 * their port space.  0, also if the handle is not valid any more, or -errno.
 */
int dapl_sp_hear_datagrams(struct dapl_ia *ia, DAT_HANDLE psp) DAPL_NO_LOCK;
/* The same for all public service points of an adapter; see struct dapl_ia_ops. */
void dapl_sp_hear_all_datagrams(struct dapl_ia *ia) DAPL_NO_LOCK;

/* After dapl_object_free(). */
void dapl_sp_close(struct dapl_sp *sp) DAPL_NO_LOCK;

/*
 * Destroys a service point that needs no more than dapl_sp_close(): a public or a common one.
 * `slab` is the slab of its kind.  0 or -ENODEV.
 */
int dapl_sp_free(DAT_HANDLE handle, enum dapl_kind kind, struct dapl_slab *slab) DAPL_NO_LOCK;

/*
 * The service point of the IA that listens on that qualifier, with its listener and the generation
 * of that; NULL if there is none.  It may be freed meanwhile.
 */
struct dapl_sp *dapl_sp_find(struct dapl_ia *ia, DAT_CONN_QUAL qual, struct dapl_conn **listener,
    uint32_t *generation) DAPL_NO_ADAPTER_LOCK;

/* Whether a request that arrived at `listener`, in that generation, is for this service point. */
bool dapl_sp_is_open(const struct dapl_sp *sp, const struct dapl_conn *listener,
    uint32_t generation) REQUIRES(dapl_locks.object);

#endif

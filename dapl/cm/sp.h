/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sp -- what public, reserved and common service points have in common: a listening CM id
 */
#ifndef REARM_DAPL_SP_H
#define REARM_DAPL_SP_H

#include "dapl/ep/conn.h"
#include "dapl/ep/ep.h"
#include "dapl/evd/evd.h"

struct sp;

/*
 * What a kind of service point does with requests that bring an endpoint.  Not locked, on the loop's
 * thread.
 *
 * take       a request arrived at `listener`, in its life `generation`, from that address: 0 and the
 *            endpoint, or -errno and the request is refused
 * give_back  the request's event could not be posted.  NULL: the endpoint is released.
 */
struct sp_ops {
	int (*take)(struct ia *ia, struct sp *sp, const struct conn *listener, uint32_t generation,
	    const struct sockaddr *from, DAT_EP_HANDLE *ep);
	void (*give_back)(struct sp *sp, const struct conn *listener, uint32_t generation,
	    DAT_EP_HANDLE ep);
};

/* Constant while open. */
struct sp {
	struct object obj;
	const struct sp_ops *ops; /* constant for the slot; NULL: no request brings an endpoint */
	DAT_HANDLE self;
	struct conn *conn;
	struct dapl_evd *evd; /* holds a reference */
	DAT_CONN_QUAL qual;
	bool brings_ep;		    /* requests go through ops->take() */
	struct sockaddr_storage at; /* where it listens */
};

/* For prepare() of a slab. */
void sp_prepare(struct sp *sp, enum kind kind, const struct sp_ops *ops);

/* The service point that a listener belongs to, or NULL. */
struct sp *sp_of(struct object *owner);

/*
 * A request arrived: 0, and the endpoint that comes with it if there is one, or -errno and it is refused.
 * sp_give_back() when its event could not be posted.
 */
int sp_take(struct ia *ia, struct sp *sp, const struct conn *listener, uint32_t generation,
    const struct sockaddr *from, DAT_EP_HANDLE *ep);
void sp_give_back(
    struct sp *sp, const struct conn *listener, uint32_t generation, DAT_EP_HANDLE ep);

/* An EVD of the IA for connection requests, held; or NULL. */
struct dapl_evd *sp_hold_evd(struct ia *ia, DAT_EVD_HANDLE handle);

/* Listens; `qual` 0: any, told back in sp->qual.  Takes the reference of the EVD over if it
 * succeeds.  0 or -errno. */
int sp_open(struct sp *sp, struct ia *ia, struct dapl_evd *evd, DAT_CONN_QUAL qual);

/* After object_close(). */
void sp_finish(struct sp *sp);

/* Of a service point that ends with its listening; `slab` is that of its kind.  0 or -ENODEV. */
int sp_destroy(DAT_HANDLE handle, enum kind kind, struct slab *slab);

/* Of each kind: 0, or -ENODEV for a bad handle. */
int psp_destroy(DAT_HANDLE handle);
int rsp_destroy(DAT_HANDLE handle);
int csp_destroy(DAT_HANDLE handle);

/* Whether a request that came to `listener`, in its life `generation`, is for it.  Locked. */
bool sp_is_open(const struct sp *sp, const struct conn *listener, uint32_t generation);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sp -- what public, reserved and common service points have in common: a listening CM id
 */
#ifndef REARM_DAPL_SP_H
#define REARM_DAPL_SP_H

#include "dapl/ep/conn.h"
#include "dapl/ep/ep.h"
#include "dapl/evd/evd.h"

/* Constant while open. */
struct sp {
	struct object obj;
	DAT_HANDLE self;
	struct conn *conn;
	struct dapl_evd *evd; /* holds a reference */
	DAT_CONN_QUAL qual;
	struct sockaddr_storage at; /* where it listens */
};

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

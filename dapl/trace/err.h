/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * err -- converts -errno to DAT_RETURN, with a function per family of calls
 */
#ifndef REARM_DAPL_ERR_H
#define REARM_DAPL_ERR_H

#include <stdbool.h>

#include <dat2/udat.h>

/*
 * For a verbs or CM call that creates or registers; `resource` is the subtype of
 * DAT_INSUFFICIENT_RESOURCES.  `call` is that of the program; NULL: it opens an adapter.
 */
DAT_RETURN dapl_err_resource(const char *call, int error, DAT_RETURN_SUBTYPE resource);

/* Opening the adapter. */
DAT_RETURN dapl_err_ia_open(int error);

/* Listening on a connection qualifier. */
DAT_RETURN dapl_err_listen(const char *call, int error);
/* The same on any free one, for dat_psp_create_any(), and on an address, for dat_csp_create(). */
DAT_RETURN dapl_err_listen_any(int error);
DAT_RETURN dapl_err_listen_at(int error);

/* Registering memory, for dat_lmr_create(). */
DAT_RETURN dapl_err_register(int error);

/* Making or changing a shared receive queue, or what not every device has. */
DAT_RETURN dapl_err_perhaps(const char *call, int error, DAT_RETURN_SUBTYPE resource);

/* A query: whether its mask is `known` and there is a place for the answer. */
DAT_RETURN dapl_err_query(bool known, const void *param);

/*
 * Freeing an object.  -EBUSY: it is in use, with the subtype `in_use`.  Any other error: the handle
 * is bad, with the subtype `handle`.
 */
DAT_RETURN dapl_err_free(int error, DAT_RETURN_SUBTYPE in_use, DAT_RETURN_SUBTYPE handle);

/* Posting a work request: what the device returned, 0, an errno, or -1 with errno set. */
DAT_RETURN dapl_err_post(const char *device_call, int result);

/* Taking events; `on_cq`: the EVD has a completion queue, whose raw codes stock programs compare.
 */
DAT_RETURN dapl_err_evd_wait(int error, bool on_cq);
DAT_RETURN dapl_err_evd_dequeue(int error, bool on_cq);
DAT_RETURN dapl_err_evd_resize(int error);
DAT_RETURN dapl_err_evd_modify_upcall(const char *call, int error);
DAT_RETURN dapl_err_cno_wait(int error);
DAT_RETURN dapl_err_cno_trigger(int error);

#endif

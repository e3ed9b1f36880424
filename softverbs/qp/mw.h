/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mw -- memory windows: remote keys that requests of a send queue bind and end
 *
 * A window is in the table of keys from its allocation to its end.  While it is not bound it gives
 * access to nothing.  The device has types 1 and 2B.
 */
#ifndef SOFT_MW_H
#define SOFT_MW_H

#include "qp.h"

/* Operations of a context. */
struct ibv_mw *soft_mw_create(struct ibv_pd *pd, enum ibv_mw_type type);
int soft_mw_free(struct ibv_mw *mw);

/*
 * Notes in `send` what the bind `wr` names: 0, or -EINVAL if that is no window of the type.  A
 * window of type 1 gets its next key.
 */
int soft_mw_set_bind(struct soft_send *send, const struct ibv_send_wr *wr, enum ibv_mw_type type)
    REQUIRES(soft_locks.send);

/* Executes a bind or a local invalidation of the queue pair. */
enum ibv_wc_status soft_mw_execute(struct soft_qp *qp, const struct soft_send *send)
    REQUIRES(soft_locks.send) SOFT_NO_KEYS_LOCK;

/* Ends access by the key; false if it is no window's that is bound on the queue pair. */
bool soft_mw_invalidate(const struct soft_qp *qp, uint32_t key) SOFT_NO_KEYS_LOCK;

/* The queue pair is destroyed. */
void soft_mw_unbind_all(struct soft_qp *qp) SOFT_NO_KEYS_LOCK;

#endif

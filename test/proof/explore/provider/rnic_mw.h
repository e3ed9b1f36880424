/* SPDX-License-Identifier: BSD-3-Clause */
/* rnic_mw -- the memory windows of the modelled device, all of type 2 */
#ifndef REARM_EXPLORE_RNIC_MW_H
#define REARM_EXPLORE_RNIC_MW_H

#include "rnic.h"

void rnic_mw_reset(void);
void rnic_mw_check_end(void);

/* A queue pair executes a bind, which gives a window that key, or an invalidation of the key. */
void rnic_mw_execute(const struct ibv_qp *qp, bool bind, uint32_t key);
/* It is destroyed: no window may be bound on it. */
void rnic_mw_check_left(const struct ibv_qp *qp);
/*
 * rnic.c: whether a queue pair has a request on the window with that number and may still execute
 * it.
 */
bool rnic_has_request(uint32_t window);

/* What verbs.h calls by the context. */
struct ibv_mw *rnic_mw_alloc(struct ibv_pd *pd, enum ibv_mw_type type);
int rnic_mw_dealloc(struct ibv_mw *mw);

#endif

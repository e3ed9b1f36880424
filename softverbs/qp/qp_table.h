/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * qp_table -- the queue pairs of the process, by number
 */
#ifndef SOFT_QP_TABLE_H
#define SOFT_QP_TABLE_H

#include "qp.h"

/* Assigns a number: 0, or -ENOMEM. */
int soft_qp_table_add(struct soft_qp *qp) SOFT_NO_LEAF_LOCK;
void soft_qp_table_remove(struct soft_qp *qp) SOFT_NO_LEAF_LOCK;
struct soft_qp *soft_qp_table_find(uint32_t qpn) SOFT_NO_LEAF_LOCK; /* with a reference */
void soft_qp_table_each(void (*fn)(struct soft_qp *qp, void *arg), void *arg) SOFT_NO_LEAF_LOCK;
void soft_qp_table_free(void) SOFT_NO_LEAF_LOCK; /* the slot is released, so numbers change */
void soft_qp_table_reset(void);			 /* in a forked child */

#endif

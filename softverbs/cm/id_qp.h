/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * id_qp -- the queue pair of an id, and its way through the states
 *
 * The CM lock is not held.
 */
#ifndef SOFT_CM_ID_QP_H
#define SOFT_CM_ID_QP_H

#include "cm.h"

int soft_cm_qp_ready(struct soft_id *id) SOFT_NO_CM_LOCK; /* to RTS: 0 or an errno */
void soft_cm_qp_error(struct soft_id *id) SOFT_NO_CM_LOCK;

#endif

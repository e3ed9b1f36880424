/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * heal -- messages pass again that did not (trouble.h)
 */
#ifndef SOFT_HEAL_H
#define SOFT_HEAL_H

#include "qp.h"

/* Every queue pair tries again, and sends the answers that it has kept. */
void soft_heal(void) SOFT_NO_SEND_LOCK;

#endif

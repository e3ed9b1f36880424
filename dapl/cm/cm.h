/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cm -- the reader of an adapter's connection manager channel
 */
#ifndef REARM_DAPL_CM_H
#define REARM_DAPL_CM_H

#include <stdint.h>

#include "dapl/object/lock.h"

/* Reads the events of a struct dapl_ia and acts on them. */
void dapl_cm_read(void *ia, uint64_t serial) DAPL_NO_LOCK;

#endif

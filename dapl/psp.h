/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * psp -- public service point: a listening CM id
 */
#ifndef REARM_DAPL_PSP_H
#define REARM_DAPL_PSP_H

#include "dapl/conn.h"
#include "dapl/ep.h"
#include "dapl/evd.h"

/* Constant while open. */
struct psp {
	struct object obj;
	DAT_PSP_HANDLE self;
	struct conn *conn;
	struct dapl_evd *evd; /* holds a reference */
	DAT_CONN_QUAL qual;
	DAT_PSP_FLAGS flags;
};

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * csp -- common service point: listens on a socket address, its requests are those of a public one
 */
#ifndef REARM_DAPL_CSP_H
#define REARM_DAPL_CSP_H

#include "dapl/cm/sp.h"

struct csp {
	struct sp sp;
	DAT_COMM comm; /* constant while open */
};

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * extension -- what dat_extension_op() and the opening of IAs share
 */
#ifndef REARM_DAT_EXTENSION_H
#define REARM_DAT_EXTENSION_H

#include <dat2/udat.h>

/* An IA with extensions has been opened: from now on extended operations reach providers. */
void extension_allow(void);

#endif

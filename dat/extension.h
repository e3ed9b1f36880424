/* SPDX-License-Identifier: BSD-3-Clause */
/* extension -- shared by dat_extension_op() and the opening of IAs */
#ifndef REARM_DAT_EXTENSION_H
#define REARM_DAT_EXTENSION_H

#include <dat2/udat.h>

/* An IA with extensions was opened: from now on extended operations are forwarded. */
void extension_allow(void);

#endif

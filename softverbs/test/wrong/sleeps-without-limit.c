/* SPDX-License-Identifier: BSD-3-Clause */
/* origin: out33.C12 */
/* The same without a time limit: nothing comes back. */
#define UNLIMITED
#include "softverbs/test/right/sleeps-for-a-time.c"

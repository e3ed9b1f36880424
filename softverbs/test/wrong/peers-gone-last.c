/* SPDX-License-Identifier: BSD-3-Clause */
/* origin: out33.C11 */
/* The same, and of the last one the event was not read. */
#define UNREAD 1
#include "softverbs/test/wrong/peers-gone-first.c"

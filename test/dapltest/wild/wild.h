/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wild -- valid handles of every kind, and values that are none
 */
#ifndef REARM_TEST_WILD_H
#define REARM_TEST_WILD_H

#include "lib/dt.h"

enum wild_kind {
	WILD_IA,
	WILD_PZ,
	WILD_LMR,
	WILD_EVD,
	WILD_CNO,
	WILD_EP,
	WILD_PSP,
	WILD_CR,
	WILD_RSP,
	WILD_CSP,
	WILD_KINDS,
	WILD_ANY, /* a call that takes all of them */
	WILD_NONE /* a call whose kind there is not */
};

#define WILD_ADDRESSES 32

struct wild {
	struct dt_pair pair;
	DAT_HANDLE good[WILD_KINDS];
	DAT_HANDLE stale[WILD_KINDS];
	DAT_HANDLE address[WILD_ADDRESSES]; /* never handles */
	int addresses;
};

extern const char *const wild_names[WILD_KINDS];

void wild_open(struct wild *wild);
void wild_close(struct wild *wild);

#endif

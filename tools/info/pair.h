/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pair -- two endpoints of one adapter, connected to each other
 *
 * A function that can fail returns NULL, or why it failed: an array of texts.
 */
#ifndef REARM_TOOLS_INFO_PAIR_H
#define REARM_TOOLS_INFO_PAIR_H

#include <jansson.h>
#include <stdbool.h>

#include "adapter.h"

enum { PAIR_MEMORY = 1 << 20 }; /* bytes that each end registers */

struct pair_end {
	DAT_EVD_HANDLE dto, connection;
	DAT_EP_HANDLE ep;
	DAT_LMR_HANDLE lmr;
	DAT_LMR_CONTEXT lmr_context;
	DAT_RMR_CONTEXT rmr_context;
	unsigned char *memory; /* PAIR_MEMORY bytes, zero */
};

/* What was created is freed with the adapter, but for the memory. */
struct pair {
	const struct adapter *adapter;
	bool steps; /* a record with the word `step`: it has no threads */
	DAT_PZ_HANDLE pz;
	DAT_EVD_HANDLE requests;
	DAT_PSP_HANDLE psp;
	DAT_CONN_QUAL qual;
	struct pair_end ends[2]; /* the first one connects */
};

void pair_init(struct pair *pair, const struct adapter *adapter);

json_t *pair_register(struct pair *pair);
json_t *pair_create(struct pair *pair);
json_t *pair_connect(struct pair *pair);

/* Writes, sends and reads so many bytes and compares; at most half of the memory. */
json_t *pair_transfer(struct pair *pair, DAT_SEG_LENGTH length);

/* After the adapter was closed. */
void pair_free(struct pair *pair);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * keys -- what a login negotiates, as a table: RFC 7143 13 and RFC 7145 6
 */
#ifndef ISER_ISCSI_KEYS_H
#define ISER_ISCSI_KEYS_H

#include "iser/iscsi/text.h"

#define KEYS_NAME_BYTES 223 /* of an iSCSI name */

/* What is agreed, at first the defaults of the standards. */
struct keys {
	/* Numbers and booleans of the table; keys_init() has this end's side of each. */
	uint64_t max_connections, initial_r2t, immediate_data, max_burst, first_burst;
	uint64_t time_to_wait, time_to_retain, outstanding_r2t, pdus_in_order, sequences_in_order;
	uint64_t recovery_level, rdma, target_recv, initiator_recv, hello_required, protocol_level;
	uint64_t max_recv, unexpected, ahs, tagged_solicited_only;
	uint64_t seen; /* bits: the rows of the table that the initiator has named */
	bool discovery;
	char initiator[KEYS_NAME_BYTES + 1], target[KEYS_NAME_BYTES + 1];
};

/* This end's limits, which the program may change. */
struct keys_limits {
	bool initial_r2t; /* refuse unsolicited data PDUs */
	uint32_t max_burst, first_burst;
	uint32_t target_recv;	 /* bytes of data in a PDU that the target takes */
	uint32_t initiator_recv; /* ... that it sends at most */
	uint32_t unexpected; /* PDUs outside of the window of CmdSN for which receives are posted */
};

enum keys_result {
	KEYS_ANSWERED, /* a line was added to the answer, or none is due */
	KEYS_UNKNOWN,  /* not of this table */
	KEYS_TWICE,    /* the initiator has named it before */
	KEYS_BAD,      /* a declaration that makes no sense */
	KEYS_STAGE,    /* it belongs into another stage */
};

void keys_init(struct keys *keys);

/* One pair of the initiator.  `operational`: the stage that negotiates, not that of security. */
enum keys_result keys_take(struct keys *keys, const struct keys_limits *limits, bool operational,
    const struct text_pair *pair, struct text_out *out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * own -- a queue pair of this process that is connected to one of the other
 *
 * Both processes call own_connect(), the one that started the other by own_begin().  It begins with
 * own_exchange(): each makes its side before, and has the other's card afterwards.
 */
#ifndef SOFT_OWN_H
#define SOFT_OWN_H

#include "story.h"

struct own_card {
	uint32_t qpn, rkey;
	uint64_t address;
};

extern struct side own;
extern struct own_card own_peer; /* what the other told of its side */

void own_exchange(void);
void own_connect(const struct side_options *options);
/* Starts the other process, which does `there`. */
void own_begin(void (*there)(void), const struct side_options *options);
/* Neither takes its queue pair away before the other is done. */
void own_end(void);

/* RDMA between [offset, ...) of our bytes and [remote, ...) of the other's. */
void own_rdma(
    enum ibv_wr_opcode opcode, uint64_t wr_id, size_t offset, size_t remote, uint32_t length);

#endif

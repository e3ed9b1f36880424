/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * board -- shared memory of the two processes: the addresses at which each of them listens
 *
 * It has no lock, because a process may be killed at any moment.
 */
#ifndef REARM_HOSTILE_BOARD_H
#define REARM_HOSTILE_BOARD_H

#include <stdbool.h>
#include <stdint.h>

#include <dat2/udat.h>

/* For the first process.  Returns the descriptor for the other process. */
int board_make(void);
/* For the other process. */
void board_join(int fd);
void board_close(void);

void board_add(uint64_t psp, const struct sockaddr_storage *address, DAT_CONN_QUAL qual);
void board_remove(uint64_t psp);
/* Picks an address to connect to, in either process. */
bool board_choose(struct sockaddr_storage *address, DAT_CONN_QUAL *qual);

/* The first process removes the entries of a process that was killed. */
void board_clear_other(void);
/* The other process sets this when it makes calls; the first clears it. */
void board_set_ready(bool ready);
bool board_is_ready(void);
/* The first process asks the other to end. */
void board_set_end(bool end);
bool board_is_end(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * board -- memory that both processes share: where each of them listens
 *
 * A process may be killed at any moment, so there is no lock in it.
 */
#ifndef REARM_HOSTILE_BOARD_H
#define REARM_HOSTILE_BOARD_H

#include <stdbool.h>
#include <stdint.h>

#include <dat2/udat.h>

/* The first process makes it; returns its descriptor, for the other. */
int board_make(void);
/* The other process finds it at this descriptor. */
void board_join(int fd);
void board_close(void);

void board_add(uint64_t psp, const struct sockaddr_storage *address, DAT_CONN_QUAL qual);
void board_remove(uint64_t psp);
/* Somewhere to connect to, in either process. */
bool board_choose(struct sockaddr_storage *address, DAT_CONN_QUAL *qual);

/* The first process clears what a process that was killed has left behind. */
void board_clear_other(void);
/* The other process tells that it makes calls; the first, that none does. */
void board_tell_ready(bool ready);
bool board_is_ready(void);
/* The first process tells the other to end. */
void board_tell_end(bool end);
bool board_told_end(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* peer -- the other process: started, stopped for a while, killed, started again */
#ifndef REARM_HOSTILE_PEER_H
#define REARM_HOSTILE_PEER_H

#include <stdbool.h>
#include <stdint.h>

/* Starts the thread that does this; board_fd is for the other process. */
void peer_start(int board_fd);
/* Ends the other process politely.  Its exit status must be 0. */
void peer_stop(void);

/* Whether the process with this id was the other one, and has ended. */
bool peer_has_ended(uint32_t process);

#endif

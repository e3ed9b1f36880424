/* SPDX-License-Identifier: BSD-3-Clause */
/* peer -- the other process: started, stopped for a while, killed, started again */
#ifndef REARM_HOSTILE_PEER_H
#define REARM_HOSTILE_PEER_H

#include <stdbool.h>
#include <stdint.h>

/* The thread that does it; board_fd is for the other process. */
void peer_start(int board_fd);
/* The other process ends politely, and has to succeed. */
void peer_stop(void);

/* Whether the process with this id was the other one, and has ended. */
bool peer_has_ended(uint32_t process);

#endif

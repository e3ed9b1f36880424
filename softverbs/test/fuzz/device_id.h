/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device_id -- the program's rdma ids: a listener, and connections both ways
 */
#ifndef REARM_FUZZ_DEVICE_ID_H
#define REARM_FUZZ_DEVICE_ID_H

#include <stdint.h>

void id_open(void);
void id_close(void);
uint16_t id_port(void);

/* Reads the events that are there, and does as the input says about them. */
void id_events(void);

/* Calls, disconnects, destroys: as the input says. */
void id_step(void);

/* Destroys all but the listener. */
void id_end(void);

#endif

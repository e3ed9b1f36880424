/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * door -- connections that other processes opened, until they have said who they are
 *
 * What comes first on a connection is a hello.  A caller that does not say it has no link and
 * costs nothing but its descriptor: there are few such callers at a time, and none stays long.
 */
#ifndef SOFT_DOOR_H
#define SOFT_DOOR_H

#include "soft/device/soft.h"

/* Accepts connections on the socket of our slot; the progress thread runs: 0 or -errno. */
int soft_door_open(void);

/* After the progress thread has ended. */
void soft_door_close(void);
void soft_door_reset(void); /* in a forked child */

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * knock -- a socket through which other processes wake threads of ours that wait
 *
 * Each process has one, beside the socket of its slot, to which others send datagrams of a byte
 * from sockets of their own.  So no descriptor belongs to two processes: neither can make a call of
 * the other wait, and none can take what a third has sent.
 */
#ifndef SOFT_KNOCK_H
#define SOFT_KNOCK_H

#include "soft.h"

/* The slot is open: 0 or -errno. */
int soft_knock_open(void);
void soft_knock_close(void);
void soft_knock_reset(void); /* in a forked child */

/* Readable after a knock; -1 if this process is woken by its progress thread alone. */
int soft_knock_fd(void);

/*
 * Takes a knock.  False if another process sent a descriptor with it: nothing more is received, and
 * who knocks gets an error.
 */
bool soft_knock_take(void);

/* A socket to knock at the process with the slot, or -errno. */
int soft_knock_connect(unsigned int slot);

/* False if the process cannot be woken like this.  Never waits; not a cancellation point. */
bool soft_knock(int fd);

#endif

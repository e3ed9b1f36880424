/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * guard -- a socket to which another process sends: no descriptor that it sends is ever taken
 *
 * Descriptors come beside the bytes of a unix socket, whether they are asked for or not.  A thread
 * that reads past them, or closes the socket, closes them, and that may take as long as the sender
 * likes: a TCP socket may linger.  So the kernel is set to refuse them (SO_PASSRIGHTS, Linux 6.16).
 * An older kernel is asked before each read whether there are any; then nothing is read, and a
 * thread that nothing waits for closes the socket.
 */
#ifndef SOFT_GUARD_H
#define SOFT_GUARD_H

#include "soft.h"

#include <sys/types.h>

/*
 * For a socket of ours, before another process can send to it; and for one that was just accepted.
 */
void soft_guard_begin(int fd);
void soft_guard_accepted(int fd);

/*
 * As recv(2), without waiting; EBADMSG: a descriptor comes next, and stays there.  Not a
 * cancellation point.
 */
ssize_t soft_guard_receive(int fd, void *bytes, size_t length);

/* Closes the socket, which has no other owner.  Neither waits, nor is a cancellation point. */
void soft_guard_close(int fd);
void soft_guard_close_listener(int fd);

/* Ends the threads that still close what others have sent. */
void soft_guard_stop(void);
void soft_guard_reset(void); /* in a forked child */

#endif

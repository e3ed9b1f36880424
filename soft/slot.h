/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slot -- the number of this process among those using the device on this host
 *
 * It forms the upper ten bits of queue-pair numbers.  Owning number N means owning the
 * abstract unix socket "softverbs.1.slot.N", where other processes connect to reach it.
 */
#ifndef SOFT_SLOT_H
#define SOFT_SLOT_H

#include "soft.h"

#include <sys/socket.h>
#include <sys/un.h>

#define SOFT_SLOT_MIN 1
#define SOFT_SLOT_MAX 1022 /* 1023 would reach the multicast number 0xffffff */

/* 0, or -errno: -EUSERS when a thousand processes use the device already. */
int soft_slot_claim(void);
void soft_slot_release(void);

/* The socket, listening. */
int soft_slot_fd(void);

/* 0 before the claim. */
unsigned int soft_slot_number(void);

/*
 * Binds an abstract unix socket of the given name: a descriptor, or -errno.  It is
 * non-blocking and close-on-exec.
 */
int soft_name_bind(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The address of such a name. */
socklen_t soft_name_address(struct sockaddr_un *address, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* In a forked child: closes the parent's socket. */
void soft_slot_reset(void);

#endif

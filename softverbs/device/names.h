/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * names -- which slots and ports belong to which process
 *
 * The processes of a user meet in one directory, which only that user may enter (directory.c).
 * It holds two sockets for each slot in use, "softverbs.1.slot.N" and "softverbs.1.wake.N", a third
 * one, "softverbs.1.control.N", if softverbs-ctl may command the process, and the file
 * "softverbs.1.names" with an entry of two bytes for each slot and each port.  A process owns
 * the entries that it has locked in that file.  The locks end with the process, so no entry
 * outlives its owner; the next owner removes what the last one left.  Nothing here waits for a
 * lock, because its owner may be stopped.
 */
#ifndef SOFT_NAMES_H
#define SOFT_NAMES_H

#include "soft.h"

#include <sys/socket.h>
#include <sys/un.h>

/* Opens directory and file: 0, or -errno after a message on standard error. */
int soft_names_open(void);
void soft_names_close(void);
void soft_names_reset(void); /* in a forked child */

/* Entries of the file. */
#define SOFT_NAME_SLOT(slot) (uint32_t)(slot)
#define SOFT_NAME_PORT(space, port) (((uint32_t)(space) + 1) << 16 | (port))

/* 0, -EADDRINUSE if another process owns the entry, or another -errno. */
int soft_name_lock(uint32_t entry);
void soft_name_unlock(uint32_t entry);

/*
 * The first writes the value of the owner into an entry: 0 or -errno.  The second reads it; 0 if
 * there is none.
 */
int soft_name_write(uint32_t entry, uint16_t value);
uint16_t soft_name_read(uint32_t entry);

/* The addresses of the sockets of a slot: for connections, knocks (knock.h) and commands. */
socklen_t soft_name_address(struct sockaddr_un *address, unsigned int slot);
socklen_t soft_name_knock_address(struct sockaddr_un *address, unsigned int slot);
socklen_t soft_name_control_address(struct sockaddr_un *address, unsigned int slot);

/* Let the processes of the user connect to one, whatever the umask took: 0 or -errno. */
int soft_name_allow(unsigned int slot);
int soft_name_knock_allow(unsigned int slot);
int soft_name_control_allow(unsigned int slot);

/* Removes these sockets from the directory, if they are there. */
void soft_name_unlink(unsigned int slot);

/* directory.c: a descriptor to reach what is in the directory, or -errno after a message */
int soft_directory_open(void);

#endif

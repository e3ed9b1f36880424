/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * descriptors -- the table of descriptors of this process: which are ours, and room for them
 *
 * The numbers 0 to 2 are for standard input and output, also in a program that has closed them:
 * what it or its libraries print must not come into a descriptor of ours.
 *
 * The kernel makes the table larger when a descriptor does not fit, at 64, 256, 1024, ..., and in a
 * process with threads waits then until no other thread of the host can look at the old one:
 * milliseconds, and seconds on a busy host.  The progress thread, which all connections need, makes
 * descriptors.  So the thread that starts it has the table made large before.
 */
#ifndef SOFT_DESCRIPTORS_H
#define SOFT_DESCRIPTORS_H

/* Enough for two links with each of a thousand processes; 32 KiB of the kernel's memory. */
#define SOFT_DESCRIPTORS 4096

/*
 * A new descriptor: it, or a copy with a higher number in its place.  -1 with errno: it is closed.
 */
int soft_descriptors_keep(int fd);

/* For so many, or as many as the process may have.  Takes a descriptor that is open. */
void soft_descriptors_reserve(int fd);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * announce -- a process tells a sweep that it is there
 *
 * SOFTVERBS_FAULTS_PROCESSES is the path of a socket of softverbs-run (run/deaths.h).  It gets a
 * descriptor of the process, from which it learns how the process has ended, also where its parent
 * waits for it.
 */
#ifndef SOFT_FAULT_ANNOUNCE_H
#define SOFT_FAULT_ANNOUNCE_H

/* Without the path nothing is announced, now or later. */
void soft_announce_open(const char *path);

/*
 * This process is there, and has this number of record.h, or 0 if it has made no call yet.  Also in
 * a forked child, where another thread may have had any lock.
 */
void soft_announce(unsigned int number);

#endif

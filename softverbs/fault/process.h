/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process -- this process as one of its run: its number, its name, and when it began
 *
 * It begins with its first call; a forked child is another one.
 *
 * Its name is the same in each run that does the same.  A program has that of its command; its
 * forked children are those of the first fork, "NAME+1", of the second, and so on, whichever of
 * them makes its first call earlier.
 */
#ifndef SOFT_FAULT_PROCESS_H
#define SOFT_FAULT_PROCESS_H

#include "rule.h"

/* Never NULL: begins the process if it has not begun. */
struct soft_recorded_process *soft_fault_process(void);

/* What it has begun as; NULL if it has not. */
struct soft_recorded_process *soft_fault_begun(void);

/* Called when the process begins, before another thread sees it. */
void soft_fault_set_beginning(void (*beginning)(void));

/* Of a process that has begun. */
unsigned int soft_fault_number(void);
uint64_t soft_fault_started(void);

/* The slot of the process that the rule names as the peer; 0 if there is none, or not yet. */
unsigned int soft_fault_peer(const struct soft_rule *rule);

/* Whether the rule is one for this process. */
bool soft_fault_is_here(const struct soft_rule *rule);

/* Before a fork: it has its number, by which the child is named. */
void soft_fault_process_fork(void);

/* In a forked child. */
void soft_fault_process_reset(void);

#endif

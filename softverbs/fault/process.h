/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process -- this process as one of its run: its number, its name, and when it began
 *
 * It begins with its first call; a forked child is another one.
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

/* In a forked child. */
void soft_fault_process_reset(void);

#endif

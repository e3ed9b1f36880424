/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * command -- a rule that is given at run time: it holds now, or for the next call
 *
 * The text is that of a rule (rule.h) without a time: softverbs-ctl chooses the moment.  What
 * happens by itself happens at once, or until for=SECONDS have passed; a call, a completion and
 * an answer are the next one that the process makes.
 */
#ifndef SOFT_FAULT_COMMAND_H
#define SOFT_FAULT_COMMAND_H

#include "rule.h"
#include "softverbs/device/soft.h"

/* SOFTVERBS_CONTROL is set: commands may come.  Constant after the library was loaded. */
extern bool soft_commands SOFT_HIDDEN;

/*
 * On the progress thread, with no lock held.  False if the text is none of such rules: then none of
 * them holds.  Also if there is nothing that one could happen to: then those before it hold, and
 * those after it do not.  `error` has the reason.
 */
bool soft_command(const char *text, char *error, size_t size);

/* The error that the call is to fail with now, or 0. */
int soft_command_take_call(enum soft_call call);

/*
 * Whether the incident is to happen now: its rule.  False if there is none, or its value does not
 * fit this time; then it waits.
 */
bool soft_command_take_incident(enum soft_incident incident, int unfit, struct soft_rule *out);

/* In a forked child: none were given. */
void soft_commands_reset(void);

#endif

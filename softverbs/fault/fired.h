/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fired -- writes into the record what has fired, as the rule with which it fires again
 */
#ifndef SOFT_FAULT_FIRED_H
#define SOFT_FAULT_FIRED_H

#include "rule.h"

/* The two halves of the rule.  Returns which one of the run it is. */
unsigned int soft_fired(const char *tail, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* It could happen to nothing. */
void soft_fired_undo(unsigned int which);

/* What the rule of an incident says besides, ":for=1.000000:of=2": returns `text`. */
const char *soft_fired_parts(enum soft_incident incident, const struct soft_rule *rule, int value,
    char text[SOFT_RECORD_TAIL]);

#endif

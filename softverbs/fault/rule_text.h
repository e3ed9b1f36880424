/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rule_text -- what the files share that read rules
 */
#ifndef SOFT_FAULT_RULE_TEXT_H
#define SOFT_FAULT_RULE_TEXT_H

#include "rule.h"

/* What a message shows of a word. */
#define SOFT_RULE_SHOWN 60

struct soft_rule_reading {
	bool now; /* a rule without a time */
	const char *rule;
	size_t length;
	char *error;
	size_t size;
};

/* Says why the rule is none: returns false. */
bool soft_rule_refuse(const struct soft_rule_reading *reading, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A part of the rule, "KEY=VALUE". */
bool soft_rule_read_part(const struct soft_rule_reading *reading, const char *word, size_t length,
    struct soft_rule *rule);

/* The calls that bring about an incident. */
bool soft_rule_read_call(const struct soft_rule_reading *reading, const char *value, size_t length,
    struct soft_rule *rule);

#endif

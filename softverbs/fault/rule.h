/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rule -- which calls fail, and with what; which incidents happen, and when
 *
 * A text of rules, separated by commas, semicolons or ends of lines:
 *
 *	CALL[:nth=N|:each=N|:p=P][:from=SECONDS][:process=N|NAME][:device=NAME][:errno=NAME]
 *	INCIDENT[the same, but for errno=][:status=NAME|:errno=NAME|:reason=N][:data=HEX]
 *	INCIDENT:at=SECONDS|:call=CALL[the same][:for=SECONDS][:time=SECONDS][:of=N]
 *		[:rate=BYTES][:bytes=N][:port=N][:way=out|:way=in][:peer=N|NAME|slotN]
 *
 * CALL is a name, or a pattern with "*" and "?" for all calls that can fail and match, and so is
 * INCIDENT, which has a point in its name (incidents.h).  What follows "#" up to the end of the
 * line is a comment; "none" alone is no rule.  Also a part of softverbs-run.
 */
#ifndef SOFT_FAULT_RULE_H
#define SOFT_FAULT_RULE_H

#include "incidents.h"
#include "record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOFT_RULES_MAX 128
#define SOFT_RULE_DEVICE 64

enum soft_when { SOFT_EACH, SOFT_NTH, SOFT_BY_CHANCE };

/* The longest private data of a rejection. */
#define SOFT_RULE_DATA 148

struct soft_rule {
	/* That fail; with incidents, those that bring about what cannot happen by itself. */
	bool calls[SOFT_CALL_COUNT];
	bool incidents[SOFT_INCIDENT_COUNT];
	bool of_incidents, timed;
	enum soft_when when;
	uint64_t n;		       /* the Nth, or each Nth */
	double chance;		       /* from 0 to 1 */
	uint64_t from;		       /* nanoseconds after the first call of the process */
	unsigned int process;	       /* its number in the run; 0: any */
	char name[SOFT_PROCESS_NAME];  /* that of record.h; "": any */
	int error;		       /* or another value; 0: the first one of the table */
	char device[SOFT_RULE_DEVICE]; /* "": any, and calls without a device */
	/* Of incidents; 0 if it was not given: */
	uint64_t at, lasts, time; /* nanoseconds */
	uint64_t rate, bytes;	  /* bytes a second, and bytes */
	unsigned int of, port;
	bool out, in; /* one way only */
	/* The process at the other end: its number in the run, or its name, or its slot. */
	unsigned int peer, peer_slot;
	char peer_name[SOFT_PROCESS_NAME];
	uint8_t data[SOFT_RULE_DATA], data_length;
};

static inline bool
soft_rule_has_peer(const struct soft_rule *rule)
{
	return rule->peer || rule->peer_slot || *rule->peer_name;
}

struct soft_rules {
	unsigned int count;
	struct soft_rule rules[SOFT_RULES_MAX];
};

/* "ibv_query_gid_ex": what programs call it. */
const char *soft_call_name(enum soft_call call);

/* The call with this name, or SOFT_CALL_COUNT. */
enum soft_call soft_call_find(const char *name, size_t length);

/* False if the text is none of rules: then `error` says what is wrong, and what is possible. */
bool soft_rules_read(const char *text, struct soft_rules *rules, char *error, size_t size);

/* The same for rules that hold now, once, in this process: they have no time and no number. */
bool soft_rules_read_now(const char *text, struct soft_rules *rules, char *error, size_t size);

/* The value that it gives the incident; 0 if that has none. */
int soft_rule_value(const struct soft_rule *rule, enum soft_incident incident);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * incidents -- lets an incident happen, as softverbs-ctl does
 */
#ifndef SOFT_INCIDENTS_H
#define SOFT_INCIDENTS_H

#include <stdbool.h>

/* What keeps messages from arriving, and ends it: of a link in a direction, or of a port. */
struct incident_cut {
	const char *begin, *end;
	bool here;    /* at the sender */
	bool arrives; /* what is sent does; the answer, if there is one, does not */
};
#define INCIDENT_CUTS 8
extern const struct incident_cut incident_cuts[INCIDENT_CUTS];

/* The fixture: the process takes commands, as with SOFTVERBS_CONTROL; ends with patience_end(). */
void incidents_begin(void);

/* As the text says, now or at the next moment for it. */
void incident(const char *text);
/* There is nothing that it could happen to. */
void incident_is_none(const char *text);

#endif

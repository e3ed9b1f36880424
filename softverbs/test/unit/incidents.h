/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * incidents -- lets an incident happen, as softverbs-ctl does
 */
#ifndef SOFT_INCIDENTS_H
#define SOFT_INCIDENTS_H

/* The fixture: the process takes commands, as with SOFTVERBS_CONTROL; ends with patience_end(). */
void incidents_begin(void);

/* As the text says, now or at the next moment for it. */
void incident(const char *text);
/* There is nothing that it could happen to. */
void incident_is_none(const char *text);

#endif

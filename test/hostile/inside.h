/* SPDX-License-Identifier: BSD-3-Clause */
/* inside -- the operations that upcalls and agents make */
#ifndef REARM_HOSTILE_INSIDE_H
#define REARM_HOSTILE_INSIDE_H

#include <dat2/udat.h>

struct cno;
struct evd;

void inside_upcall(struct evd *evd, const DAT_EVENT *event);
void inside_agent(struct cno *cno);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* ops -- the operations that a thread chooses from, with their weights */
#ifndef REARM_HOSTILE_OPS_H
#define REARM_HOSTILE_OPS_H

#include "options.h"

struct adapter;

struct op {
	const char *name;
	enum group group;
	unsigned int weight;
	void (*run)(struct adapter *adapter);
};

/* Ended by an entry without a name. */
extern const struct op ops_evd[], ops_ep[], ops_flood[], ops_object[], ops_queue[];

void ops_prepare(void);
void ops_do_one(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops.h"

#include <stddef.h>

#include "actor.h"
#include "adapter.h"
#include "clock.h"

#define OPS_MOST 128

static const struct op *table[OPS_MOST];
static unsigned int sums[OPS_MOST]; /* of the weights so far */
static unsigned int n;

static void
add(const struct op *ops)
{
	for (; ops->name && n < OPS_MOST; ops++) {
		if (!options.group[ops->group])
			continue;
		table[n] = ops;
		sums[n] = (n ? sums[n - 1] : 0) + ops->weight;
		n++;
	}
}

void
ops_prepare(void)
{
	n = 0;
	add(ops_evd);
	add(ops_ep);
	add(ops_flood);
	add(ops_object);
	add(ops_queue);
}

void
ops_do_one(void)
{
	struct adapter *adapter = adapter_pick();
	unsigned int at = pick(sums[n - 1]), i = 0;

	if (!adapter) {
		adapter_open(chance(40));
		return;
	}
	while (sums[i] <= at)
		i++;
	table[i]->run(adapter);
	life_unuse(&adapter->life);
}

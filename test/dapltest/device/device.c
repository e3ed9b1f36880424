/* SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"

#include "fault/fault.h"

const struct runner_case device_case = { .teardown = fault_clear, .outer = &dt_case };

void
device_pair_open(struct dt_pair *pair)
{
	dt_side_open(&pair->a, "faulty", DT_SEPARATE);
	dt_side_open(&pair->b, "faulty", DT_SEPARATE);
	dt_side_listen(&pair->b);
}

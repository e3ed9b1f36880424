/* SPDX-License-Identifier: BSD-3-Clause */
/* device -- the provider over a device that fails; see fault/fault.h */
#ifndef REARM_TEST_DEVICE_DEVICE_H
#define REARM_TEST_DEVICE_DEVICE_H

#include "lib/dt.h"

/* A case whose tests open "faulty"; a test leaves a device that works. */
extern const struct runner_case device_case;
#define DEVICE_CASE(...) CASE(__VA_ARGS__, .outer = &device_case)

/* Two sides on "faulty"; b listens. */
void device_pair_open(struct dt_pair *pair);
/* What dat_ep_connect() returns, of the endpoint of a to what b listens at. */
DAT_RETURN device_try_connect(struct dt_pair *pair);

#endif

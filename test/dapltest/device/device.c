/* SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"

#include "fault/fault.h"

const struct runner_case device_case = { .teardown = fault_clear, .outer = &dt_case };

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * topology_option -- the option of softverbs-run that describes the devices
 */
#ifndef SOFT_RUN_TOPOLOGY_OPTION_H
#define SOFT_RUN_TOPOLOGY_OPTION_H

#include "softverbs/device/topology.h"

#include <argp.h>

/*
 * That of the option, or else of SOFTVERBS_TOPOLOGY, when all options are read.  NULL if the
 * variable is wrong: then the device reports it.
 */
const struct soft_topology *soft_topology_chosen(void);

/* A child of the parser of softverbs-run. */
extern const struct argp soft_topology_argp;

#endif

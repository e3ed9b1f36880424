/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * occur -- the incidents that a rule lets happen at a time, or when a call is made
 */
#ifndef SOFT_API_OCCUR_H
#define SOFT_API_OCCUR_H

#include "softverbs/fault/fault.h"

/* The actor of fault.h. */
bool soft_occur(enum soft_incident incident, const struct soft_rule *rule, bool begins);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * completion -- finds the endpoint and the request of a completion when it is polled, and builds
 * its event when it leaves the EVD
 */
#ifndef REARM_DAPL_COMPLETION_H
#define REARM_DAPL_COMPLETION_H

#include "evd/evd.h"

/* The source of an EVD that has a completion queue; its argument is the struct dapl_evd. */
extern const struct evd_source_ops dapl_completion_ops;

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * completion -- what a polled completion is: of which endpoint and request, and which event
 */
#ifndef REARM_DAPL_COMPLETION_H
#define REARM_DAPL_COMPLETION_H

#include "evd/evd.h"

/* The source of an EVD that has a completion queue; its argument is the struct dapl_evd. */
extern const struct evd_source_ops dapl_completion_ops;

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* run -- a thread of a loop runs the job of an EVD */
#ifndef REARM_EVD_RUN_H
#define REARM_EVD_RUN_H

#include "evd/evd.h"

/* What a loop does with the job of an EVD. */
void evd_run(struct loop_job *job, uint64_t serial) NO_CORE_LOCK;

/*
 * The run of an EVD whose sink is a CNO; its job is RUNNING on this thread.  Drops the lock and
 * takes it again if the device fails.
 */
void evd_run_report(struct evd *evd) REQUIRES(core_locks.trigger);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* call -- whether a call of the provider to libibverbs or librdmacm has to fail */
#ifndef REARM_TEST_FAULT_CALL_H
#define REARM_TEST_FAULT_CALL_H

#include <errno.h>

#include <infiniband/verbs.h>

/* The errno that the call has to fail with now, also in errno; or 0. */
int fault_error_of(const char *call);

/* The operations of the context that are no functions fail like the others from now on. */
void call_wrap_operations(struct ibv_context *context);

#endif

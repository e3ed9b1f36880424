/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * verbs -- the operations that verbs.h reaches through the context
 */
#ifndef SOFT_VERBS_H
#define SOFT_VERBS_H

struct soft_context;

/* Sets the operations of a new context. */
void soft_verbs_init_context(struct soft_context *ctx);

#endif

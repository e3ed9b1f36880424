/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unsupported -- the functions and operations that this device does not support
 */
#ifndef SOFT_UNSUPPORTED_H
#define SOFT_UNSUPPORTED_H

struct verbs_context;

/* Sets the operations of a new context that fail. */
void soft_unsupported_init(struct verbs_context *context);

#endif

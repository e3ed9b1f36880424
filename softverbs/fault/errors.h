/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * errors -- the names of the errors in calls.h, which rules and replay lines have
 *
 * Also a part of softverbs-run.
 */
#ifndef SOFT_FAULT_ERRORS_H
#define SOFT_FAULT_ERRORS_H

#include "softverbs/device/calls.h"

#include <stdbool.h>
#include <stddef.h>

/* "ENOMEM", or NULL. */
const char *soft_error_name(int error);

/* The error of that name, or 0. */
int soft_error_find(const char *name, size_t length);

bool soft_error_is_allowed(enum soft_call call, int error);

/* "ENOMEM, EINVAL or EIO": returns `text`. */
const char *soft_error_list(enum soft_call call, char *text, size_t size);

#endif

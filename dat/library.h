/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * library -- a provider's shared library
 */
#ifndef REARM_DAT_LIBRARY_H
#define REARM_DAT_LIBRARY_H

#include <stddef.h>

#include <dat2/udat.h>
#include <dat2/dat_registry.h>

struct library {
	void *handle;
	DAT_PROVIDER_INIT_FUNC init;
	DAT_PROVIDER_FINI_FUNC fini;
};

/* Loads it and finds its two functions.  0, or -ENOENT and the reason, with what to do. */
int library_open(struct library *library, const char *path, char *reason, size_t size);

void library_close(struct library *library);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_calls -- every call with a handle, as a table
 */
#ifndef REARM_TEST_LIB_DAT_CALLS_H
#define REARM_TEST_LIB_DAT_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include <dat2/udat.h>
#include <dat2/dat_registry.h>

struct dat_call {
	const char *name; /* without dat_ */
	DAT_RETURN (*call)(DAT_HANDLE handle);
	DAT_RETURN_SUBTYPE subtype; /* of an impossible handle */
	bool takes_ia;		    /* an IA handle may stand there */
	const char *arguments;	    /* after the handle, as the stub provider notes them */
};

extern const struct dat_call dat_calls[];
extern const int dat_calls_count;

#endif

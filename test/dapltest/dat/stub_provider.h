/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stub_provider -- a provider that does nothing but write down its calls
 *
 * It is built as a separate library.  It writes a line for each call into the file that STUB_TRACE
 * names.  Its parameters (field 7 of its line in dat.conf) are words:
 *
 *	silent		init does not register
 *	otherkey	init registers the name with "-other" behind it
 *	also=NAME	init registers NAME, too
 *	twice		init registers twice
 *	forget		fini does not remove the registration
 *	selfopen	init opens the name it is being loaded for
 *	before=NAME	before it registers, init opens NAME and closes it
 *	hold=NAME	before it registers, init opens NAME; fini closes it
 *	slow		init and fini take 20 ms
 *	initgate=FD	init sends a byte to this socket, and waits for one, or for the end of the
 *			other side
 *	finigate=FD	the same in fini
 *	noopen		ia_open fails
 *	nohandle	ia_open succeeds without a handle
 *	busy		a graceful close fails
 *	extension	the IA has extensions
 *	fewer		the slot of pz_create is empty
 */
#ifndef REARM_TEST_DAT_STUB_PROVIDER_H
#define REARM_TEST_DAT_STUB_PROVIDER_H

#include <stdint.h>

#include <dat2/udat.h>
#include <dat2/dat_registry.h>

#define NOTE_POINTER(p) ((DAT_UINT64)(uintptr_t)(p))

/*
 * Adds "NAME VALUE..." to the trace; the stub's IA is written as IA, its objects as OBJECT.  An IA
 * that comes from a thread that can be cancelled is written as such.
 */
#define NOTE(name, ...) \
	stub_note(name, (const DAT_UINT64[]){ __VA_ARGS__ }, \
	    (int)(sizeof((const DAT_UINT64[]){ __VA_ARGS__ }) / sizeof(DAT_UINT64)))

void stub_note(const char *name, const DAT_UINT64 *values, int count);

/* Sets every slot that stub_provider.c does not. */
void stub_fill_slots(DAT_PROVIDER *table);

#endif

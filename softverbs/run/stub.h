/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stub -- a shared library with the name and the versions of another one, in memory
 *
 * The dynamic linker asks the library of a needed name for the versions that a program was linked
 * with, and takes a function from the first library that has its name, if that one has no versions.
 * So softverbs has its functions in libsoftverbs.so, without a version, and this library in front
 * of it has the versions, whatever the release of libibverbs calls them.
 *
 * It defines all that the release has, because dlvsym() finds a function only with its version.  A
 * function that softverbs has goes on to it, under a name that nothing else has: a library that was
 * preloaded may have the name of the function, and call this one.  Any other calls soft_refused(),
 * which libsoftverbs.so has.
 */
#ifndef SOFT_RUN_STUB_H
#define SOFT_RUN_STUB_H

#include <config.h>

#include <stdbool.h>
#include <stddef.h>

/* In front of the name, in libsoftverbs.so: a second name of the same function. */
#define SOFT_SERVED_PREFIX "softverbs_"

struct soft_stub_symbol {
	const char *name;
	unsigned int version; /* an index of versions, or -1 for none */
	bool hidden;	      /* of an old interface: only for programs that were linked with it */
	bool served;	      /* by SOFT_SERVED_PREFIX and the name, in libsoftverbs.so */
	size_t data;	      /* bytes of zeros, or 0 for a function */
};

struct soft_stub {
	const char *soname;
	const char *needed; /* path of libsoftverbs.so */
	char **versions;
	size_t version_count;
	struct soft_stub_symbol *symbols;
	size_t symbol_count;
};

/*
 * The file, allocated; NULL without memory.  On a processor that this file knows no code for there
 * are no functions.
 */
unsigned char *soft_stub_image(const struct soft_stub *stub, size_t *size);

#endif

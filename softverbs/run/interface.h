/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * interface -- the versions and functions that the programs of this host expect of libibverbs or
 * librdmacm
 *
 * It is what all files together have that a program could have been linked with: the library of the
 * host, and one that the program brings.
 */
#ifndef SOFT_RUN_INTERFACE_H
#define SOFT_RUN_INTERFACE_H

#include "elf.h"
#include "stub.h"

struct soft_interface {
	const char *soname;
	char **versions;
	size_t version_count;
	struct soft_stub_symbol *symbols;
	size_t symbol_count;
	bool without_memory;
};

void soft_interface_free(struct soft_interface *interface);

/* Adds a version, once. */
void soft_interface_add_version(struct soft_interface *interface, const char *version);

/* Adds a function of a version, once; as what a library defines. */
void soft_interface_add_function(struct soft_interface *interface, const char *name,
    const char *version, bool hidden, const struct soft_elf *served);

/* Adds what a library of this name defines; `served`, the library of softverbs, has most of it. */
void soft_interface_add_library(struct soft_interface *interface, const struct soft_elf *library,
    const struct soft_elf *served);

/* Adds the versions of the library that a program was linked with, and what it needs of them. */
void soft_interface_add_needs(struct soft_interface *interface, const struct soft_elf *program,
    const struct soft_elf *served);

#endif

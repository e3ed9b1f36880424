/* SPDX-License-Identifier: BSD-3-Clause */
#include "interface.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

void
soft_interface_free(struct soft_interface *interface)
{
	for (size_t i = 0; i < interface->version_count; i++)
		free(interface->versions[i]);
	for (size_t i = 0; i < interface->symbol_count; i++)
		free((char *)interface->symbols[i].name);
	free(interface->versions);
	free(interface->symbols);
	*interface = (struct soft_interface){ .soname = interface->soname };
}

/* The array with room for one entry more, or NULL and a note. */
static void *
interface_grow(struct soft_interface *interface, void *array, size_t count, size_t size)
{
	void *larger = reallocarray(array, count + 1, size);

	if (!larger)
		interface->without_memory = true;
	return larger;
}

/* The index of the version, or -1. */
static unsigned int
interface_find_version(const struct soft_interface *interface, const char *version)
{
	for (size_t i = 0; version && i < interface->version_count; i++)
		if (!strcmp(interface->versions[i], version))
			return (unsigned int)i;
	return -1u;
}

void
soft_interface_add_version(struct soft_interface *interface, const char *version)
{
	char **versions, *copy;

	if (interface_find_version(interface, version) != -1u)
		return;
	versions = interface_grow(
	    interface, interface->versions, interface->version_count, sizeof *versions);
	if (!versions)
		return;
	interface->versions = versions;
	copy = strdup(version);
	if (copy)
		versions[interface->version_count++] = copy;
	else
		interface->without_memory = true;
}

static bool
interface_has_symbol(const struct soft_interface *interface, const char *name, unsigned int version)
{
	for (size_t i = 0; i < interface->symbol_count; i++)
		if (interface->symbols[i].version == version &&
		    !strcmp(interface->symbols[i].name, name))
			return true;
	return false;
}

static void
interface_add_symbol(struct soft_interface *interface, const struct soft_elf_symbol *symbol,
    unsigned int version, bool served)
{
	struct soft_stub_symbol *symbols;
	char *name;

	if (interface_has_symbol(interface, symbol->name, version))
		return;
	symbols =
	    interface_grow(interface, interface->symbols, interface->symbol_count, sizeof *symbols);
	if (!symbols)
		return;
	interface->symbols = symbols;
	name = strdup(symbol->name);
	if (!name) {
		interface->without_memory = true;
		return;
	}
	symbols[interface->symbol_count++] = (struct soft_stub_symbol){ .name = name,
		.version = version,
		.hidden = symbol->hidden,
		.served = served && symbol->type != STT_OBJECT,
		.data = symbol->type == STT_OBJECT ? symbol->size : 0 };
}

/* True if the file defines the name for programs that are linked today. */
static bool
interface_defines(const struct soft_elf *elf, const char *name)
{
	struct soft_elf_symbol symbol;

	for (size_t i = 0; i < elf->symbol_count; i++)
		if (soft_elf_defined(elf, i, &symbol) && !symbol.hidden &&
		    !strcmp(symbol.name, name))
			return true;
	return false;
}

void
soft_interface_add_function(struct soft_interface *interface, const char *name, const char *version,
    bool hidden, const struct soft_elf *served)
{
	const struct soft_elf_symbol symbol = { .name = name, .hidden = hidden };

	interface_add_symbol(interface, &symbol, interface_find_version(interface, version),
	    !hidden && interface_defines(served, name));
}

/* One that soft_stub_image() made, for a softverbs-run that started this one. */
static bool
interface_is_stub(const struct soft_elf *library)
{
	const char *needed = soft_elf_entry(library, DT_NEEDED);
	const char *slash = needed ? strrchr(needed, '/') : NULL;

	return slash && !strcmp(slash, "/libsoftverbs.so");
}

void
soft_interface_add_library(
    struct soft_interface *interface, const struct soft_elf *library, const struct soft_elf *served)
{
	const bool stub = interface_is_stub(library);
	struct soft_elf_symbol symbol;
	const char *version;

	/* A stub begins with a version that nothing has. */
	for (unsigned int i = stub ? 3 : 2; i <= soft_elf_last_version(library); i++)
		if ((version = soft_elf_version(library, i)))
			soft_interface_add_version(interface, version);
	for (size_t i = 0; i < library->symbol_count; i++) {
		if (!soft_elf_defined(library, i, &symbol))
			continue;
		/* A hidden one beside one of today is the same call with other structures. */
		interface_add_symbol(interface, &symbol,
		    interface_find_version(interface, soft_elf_version(library, symbol.version)),
		    interface_defines(served, symbol.name) &&
			!(symbol.hidden && interface_defines(library, symbol.name)));
	}
}

/*
 * What the program needs of a version.  A hidden one is of an old interface, which the library of
 * the host has, if any.
 */
static void
interface_add_needed_symbols(struct soft_interface *interface, const struct soft_elf *program,
    const struct soft_elf *served, unsigned int index, unsigned int version)
{
	for (size_t i = 0; i < program->symbol_count; i++) {
		unsigned int needed;
		const char *name = soft_elf_needed(program, i, &needed);

		if (name && needed == index)
			interface_add_symbol(interface, &(struct soft_elf_symbol){ .name = name },
			    version, interface_defines(served, name));
	}
}

void
soft_interface_add_needs(
    struct soft_interface *interface, const struct soft_elf *program, const struct soft_elf *served)
{
	const char *version;
	unsigned int index;

	for (size_t n = 0; soft_elf_needed_version(program, interface->soname, n, &version, &index);
	     n++) {
		soft_interface_add_version(interface, version);
		interface_add_needed_symbols(
		    interface, program, served, index, interface_find_version(interface, version));
	}
}

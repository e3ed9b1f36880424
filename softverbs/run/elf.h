/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * elf -- what a program or a shared library says of its symbols, their versions, and where it looks
 * for libraries
 *
 * The file is mapped and only read.  A name is NULL where the file is damaged: nothing outside the
 * mapping is read.
 */
#ifndef SOFT_RUN_ELF_H
#define SOFT_RUN_ELF_H

#include <config.h>

#include <link.h>
#include <stdbool.h>
#include <stddef.h>

struct soft_elf {
	const unsigned char *map;
	size_t size;
	const ElfW(Phdr) * segments;
	size_t segment_count;
	const ElfW(Dyn) * dynamic; /* NULL in a static program */
	size_t dynamic_count;
	const char *strings;
	size_t string_size;
	const ElfW(Sym) * symbols;
	const ElfW(Half) * indices; /* the version of each symbol, or NULL */
	size_t symbol_count;
};

/* Maps the file: false if it cannot be read, or is not ELF for the processor of this program. */
bool soft_elf_open(struct soft_elf *elf, const char *path);
void soft_elf_close(struct soft_elf *elf);

/* A symbol that the file defines for others. */
struct soft_elf_symbol {
	const char *name;
	unsigned int version; /* an index for soft_elf_version() */
	bool hidden;	      /* only for those who were linked with this version */
	unsigned char type;   /* STT_FUNC or another */
	size_t size;
};

/* False if there is no such symbol, or it is not defined or not for others. */
bool soft_elf_defined(const struct soft_elf *elf, size_t index, struct soft_elf_symbol *symbol);

/*
 * The name of a version that the file defines; NULL for 0, for 1, which is the file itself, and if
 * there is none.
 */
const char *soft_elf_version(const struct soft_elf *elf, unsigned int index);
unsigned int soft_elf_last_version(const struct soft_elf *elf);

/*
 * The entry `n` of the versions that the file needs of the library: false if there are no more.
 * `index` is that of the symbols that need it.
 */
bool soft_elf_needed_version(const struct soft_elf *elf, const char *library, size_t n,
    const char **version, unsigned int *index);

/*
 * The name of a symbol that the file needs, and the index of its version; NULL if it defines the
 * symbol.
 */
const char *soft_elf_needed(const struct soft_elf *elf, size_t index, unsigned int *version);

/* The string of the first entry with this tag (DT_RPATH), or NULL. */
const char *soft_elf_entry(const struct soft_elf *elf, ElfW(Sxword) tag);

/* True if an entry with this tag has the string. */
bool soft_elf_has(const struct soft_elf *elf, ElfW(Sxword) tag, const char *string);

/*
 * True if the file has a function of this name inside, for others or not, and has kept the names of
 * its own.
 */
bool soft_elf_contains(const struct soft_elf *elf, const char *function);

#endif

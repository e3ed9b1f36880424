/* SPDX-License-Identifier: BSD-3-Clause */
#include "elf.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of this program, whose processor is that of the libraries. */
#define OWN_CLASS (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

/* `size` bytes of the file, or NULL; all structures of the format are aligned. */
static const void *
elf_at_offset(const struct soft_elf *elf, size_t offset, size_t size)
{
	if (offset > elf->size || size > elf->size - offset || offset % sizeof(ElfW(Half)))
		return NULL;
	return elf->map + offset;
}

/* The same for an address of the image, with the number of bytes that follow in the file. */
static const void *
elf_at_address(const struct soft_elf *elf, size_t address, size_t size, size_t *left)
{
	for (size_t i = 0; i < elf->segment_count; i++) {
		const ElfW(Phdr) *segment = &elf->segments[i];
		const size_t within = address - segment->p_vaddr;

		if (segment->p_type != PT_LOAD || address < segment->p_vaddr ||
		    within >= segment->p_filesz || size > segment->p_filesz - within)
			continue;
		if (left)
			*left = segment->p_filesz - within;
		if (segment->p_offset > elf->size ||
		    segment->p_filesz > elf->size - segment->p_offset)
			return NULL;
		return elf_at_offset(elf, segment->p_offset + within, size);
	}
	return NULL;
}

/* The value of the first entry with this tag: false if there is none. */
static bool
elf_entry_value(const struct soft_elf *elf, ElfW(Sxword) tag, size_t *value)
{
	for (size_t i = 0; i < elf->dynamic_count && elf->dynamic[i].d_tag != DT_NULL; i++)
		if (elf->dynamic[i].d_tag == tag) {
			*value = elf->dynamic[i].d_un.d_val;
			return true;
		}
	return false;
}

static const char *
elf_string(const struct soft_elf *elf, size_t offset)
{
	if (!elf->strings || offset >= elf->string_size ||
	    !memchr(elf->strings + offset, '\0', elf->string_size - offset))
		return NULL;
	return elf->strings + offset;
}

/* The last chain of the table ends with the last symbol. */
static size_t
elf_count_by_gnu_hash(const struct soft_elf *elf, size_t address)
{
	size_t left, buckets, last = 0, words;
	const uint32_t *table = elf_at_address(elf, address, 4 * sizeof *table, &left);

	if (!table)
		return 0;
	words = left / sizeof *table;
	buckets = 4 + (size_t)table[2] * (sizeof(ElfW(Addr)) / sizeof *table);
	if (buckets > words || table[0] > words - buckets)
		return 0;
	for (size_t i = 0; i < table[0]; i++)
		if (table[buckets + i] > last)
			last = table[buckets + i];
	if (last < table[1])
		return table[1];
	for (size_t i = buckets + table[0] + last - table[1]; i < words; i++, last++)
		if (table[i] & 1)
			return last + 1;
	return 0;
}

static size_t
elf_count_symbols(const struct soft_elf *elf)
{
	const uint32_t *table;
	size_t address;

	if (elf_entry_value(elf, DT_GNU_HASH, &address))
		return elf_count_by_gnu_hash(elf, address);
	if (!elf_entry_value(elf, DT_HASH, &address))
		return 0;
	table = elf_at_address(elf, address, 2 * sizeof *table, NULL);
	return table ? table[1] : 0;
}

/* Finds the tables that are there. */
static void
elf_find_tables(struct soft_elf *elf)
{
	size_t address;

	if (elf_entry_value(elf, DT_STRSZ, &elf->string_size) &&
	    elf_entry_value(elf, DT_STRTAB, &address))
		elf->strings = elf_at_address(elf, address, elf->string_size, NULL);
	elf->symbol_count = elf_count_symbols(elf);
	if (elf_entry_value(elf, DT_SYMTAB, &address) && elf->symbol_count < elf->size)
		elf->symbols =
		    elf_at_address(elf, address, elf->symbol_count * sizeof *elf->symbols, NULL);
	if (!elf->symbols)
		elf->symbol_count = 0;
	if (elf_entry_value(elf, DT_VERSYM, &address))
		elf->indices =
		    elf_at_address(elf, address, elf->symbol_count * sizeof *elf->indices, NULL);
}

/* The headers: false if the file is of another kind. */
static bool
elf_read_headers(struct soft_elf *elf)
{
	const ElfW(Ehdr) *header = elf_at_offset(elf, 0, sizeof *header);

	if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
	    header->e_ident[EI_CLASS] != OWN_CLASS || header->e_machine != __ehdr_start.e_machine ||
	    header->e_phentsize != sizeof *elf->segments)
		return false;
	elf->segments =
	    elf_at_offset(elf, header->e_phoff, header->e_phnum * sizeof *elf->segments);
	if (!elf->segments)
		return false;
	elf->segment_count = header->e_phnum;
	for (size_t i = 0; i < elf->segment_count; i++)
		if (elf->segments[i].p_type == PT_DYNAMIC) {
			elf->dynamic_count = elf->segments[i].p_filesz / sizeof *elf->dynamic;
			elf->dynamic = elf_at_offset(
			    elf, elf->segments[i].p_offset, elf->segments[i].p_filesz);
		}
	if (!elf->dynamic)
		elf->dynamic_count = 0;
	return true;
}

bool
soft_elf_open(struct soft_elf *elf, const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat file;
	void *map = MAP_FAILED;

	memset(elf, 0, sizeof *elf);
	if (fd < 0)
		return false;
	if (!fstat(fd, &file) && S_ISREG(file.st_mode) && file.st_size > 0)
		map = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return false;
	elf->map = map;
	elf->size = (size_t)file.st_size;
	if (!elf_read_headers(elf)) {
		soft_elf_close(elf);
		return false;
	}
	elf_find_tables(elf);
	return true;
}

void
soft_elf_close(struct soft_elf *elf)
{
	if (elf->map)
		munmap((void *)(uintptr_t)elf->map, elf->size);
	memset(elf, 0, sizeof *elf);
}

bool
soft_elf_defined(const struct soft_elf *elf, size_t index, struct soft_elf_symbol *symbol)
{
	const ElfW(Sym) *entry = elf->symbols + index;
	unsigned int version;

	if (index >= elf->symbol_count || entry->st_shndx == SHN_UNDEF ||
	    (entry->st_info >> 4 != STB_GLOBAL && entry->st_info >> 4 != STB_WEAK) ||
	    (entry->st_other & 3) != STV_DEFAULT)
		return false;
	version = elf->indices ? elf->indices[index] : 1;
	symbol->name = elf_string(elf, entry->st_name);
	symbol->version = version & 0x7fff;
	symbol->hidden = version >> 15;
	symbol->type = entry->st_info & 15;
	symbol->size = entry->st_size;
	/* A version has a symbol of its own name and no size, which is not for programs. */
	return symbol->name && entry->st_shndx != SHN_ABS;
}

/* The entry of a version, from the one before or from the first; NULL at the end. */
static const ElfW(Verdef) *
    next_version(const struct soft_elf *elf, const ElfW(Verdef) * before, size_t *address)
{
	if (!before)
		return elf_entry_value(elf, DT_VERDEF, address) ?
			   elf_at_address(elf, *address, sizeof *before, NULL) :
			   NULL;
	if (!before->vd_next)
		return NULL;
	*address += before->vd_next;
	return elf_at_address(elf, *address, sizeof *before, NULL);
}

const char *
soft_elf_version(const struct soft_elf *elf, unsigned int index)
{
	const ElfW(Verdaux) * name;
	size_t address;

	for (const ElfW(Verdef) *v = next_version(elf, NULL, &address); v;
	     v = next_version(elf, v, &address)) {
		if (v->vd_ndx != index || v->vd_flags & VER_FLG_BASE)
			continue;
		name = elf_at_address(elf, address + v->vd_aux, sizeof *name, NULL);
		return name ? elf_string(elf, name->vda_name) : NULL;
	}
	return NULL;
}

unsigned int
soft_elf_last_version(const struct soft_elf *elf)
{
	unsigned int last = 1;
	size_t address;

	for (const ElfW(Verdef) *v = next_version(elf, NULL, &address); v;
	     v = next_version(elf, v, &address))
		if (v->vd_ndx > last)
			last = v->vd_ndx;
	return last;
}

/* The list of versions that the file needs of the library, or NULL. */
static const ElfW(Vernaux) *
    versions_of(const struct soft_elf *elf, const char *library, size_t *address)
{
	const ElfW(Verneed) * need;
	const char *name;
	size_t at;

	if (!elf_entry_value(elf, DT_VERNEED, &at))
		return NULL;
	for (need = elf_at_address(elf, at, sizeof *need, NULL); need;
	     need = need->vn_next ? elf_at_address(elf, at += need->vn_next, sizeof *need, NULL) :
				    NULL) {
		name = elf_string(elf, need->vn_file);
		if (name && !strcmp(name, library)) {
			*address = at + need->vn_aux;
			return elf_at_address(elf, *address, sizeof(ElfW(Vernaux)), NULL);
		}
	}
	return NULL;
}

bool
soft_elf_needed_version(const struct soft_elf *elf, const char *library, size_t n,
    const char **version, unsigned int *index)
{
	size_t at;
	const ElfW(Vernaux) *entry = versions_of(elf, library, &at);

	for (; entry && n > 0; n--)
		entry = entry->vna_next ?
			    elf_at_address(elf, at += entry->vna_next, sizeof *entry, NULL) :
			    NULL;
	if (!entry)
		return false;
	*version = elf_string(elf, entry->vna_name);
	*index = entry->vna_other & 0x7fff;
	return *version;
}

const char *
soft_elf_needed(const struct soft_elf *elf, size_t index, unsigned int *version)
{
	if (index >= elf->symbol_count || elf->symbols[index].st_shndx != SHN_UNDEF ||
	    !elf->indices)
		return NULL;
	*version = elf->indices[index] & 0x7fff;
	return elf_string(elf, elf->symbols[index].st_name);
}

const char *
soft_elf_entry(const struct soft_elf *elf, ElfW(Sxword) tag)
{
	size_t offset;

	return elf_entry_value(elf, tag, &offset) ? elf_string(elf, offset) : NULL;
}

bool
soft_elf_has(const struct soft_elf *elf, ElfW(Sxword) tag, const char *text)
{
	for (size_t i = 0; i < elf->dynamic_count && elf->dynamic[i].d_tag != DT_NULL; i++) {
		const char *here = elf->dynamic[i].d_tag == tag ?
				       elf_string(elf, elf->dynamic[i].d_un.d_val) :
				       NULL;

		if (here && !strcmp(here, text))
			return true;
	}
	return false;
}

/* A name in the table of strings of a section, or NULL. */
static const char *
elf_section_string(const struct soft_elf *elf, const ElfW(Shdr) * strings, size_t offset)
{
	const char *text = elf_at_offset(elf, strings->sh_offset & ~(size_t)1, strings->sh_size);

	if (!text || offset >= strings->sh_size ||
	    !memchr(text + offset, '\0', strings->sh_size - offset))
		return NULL;
	return text + (strings->sh_offset & 1) + offset;
}

bool
soft_elf_contains(const struct soft_elf *elf, const char *function)
{
	const ElfW(Ehdr) *header = elf_at_offset(elf, 0, sizeof *header);
	const ElfW(Shdr) *sections =
	    elf_at_offset(elf, header->e_shoff, header->e_shnum * sizeof *sections);

	for (size_t i = 0; sections && i < header->e_shnum; i++) {
		const size_t count = sections[i].sh_size / sizeof(ElfW(Sym));
		const ElfW(Sym) *symbols =
		    elf_at_offset(elf, sections[i].sh_offset, sections[i].sh_size);

		if (sections[i].sh_type != SHT_SYMTAB || !symbols ||
		    sections[i].sh_link >= header->e_shnum)
			continue;
		for (size_t s = 0; s < count; s++) {
			const char *name =
			    symbols[s].st_shndx == SHN_UNDEF ?
				NULL :
				elf_section_string(
				    elf, &sections[sections[i].sh_link], symbols[s].st_name);

			if (name && !strcmp(name, function))
				return true;
		}
	}
	return false;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbol.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file in memory, of which nothing is trusted. */
struct file {
	const char *bytes;
	size_t size;
};

static const void *
symbol_file_at(const struct file *file, uint64_t offset, uint64_t size)
{
	return offset <= file->size && size <= file->size - offset ? file->bytes + offset : NULL;
}

static bool
symbol_file_map(struct file *file, const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat stat;
	void *bytes = MAP_FAILED;

	if (fd < 0)
		return false;
	if (!fstat(fd, &stat) && stat.st_size > 0)
		bytes = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	soft_close(fd);
	if (bytes == MAP_FAILED)
		return false;
	*file = (struct file){ bytes, (size_t)stat.st_size };
	return true;
}

static const ElfW(Shdr) * symbol_section(const struct file *file, const ElfW(Ehdr) * header)
{
	const ElfW(Shdr) * section;

	for (unsigned int i = 0; i < header->e_shnum; i++) {
		section = symbol_file_at(
		    file, header->e_shoff + (uint64_t)i * sizeof *section, sizeof *section);
		if (section && section->sh_type == SHT_SYMTAB)
			return section;
	}
	return NULL;
}

/* There is a section with this name. */
static bool
symbol_has_section(const struct file *file, const char *wanted)
{
	const ElfW(Ehdr) *header = symbol_file_at(file, 0, sizeof *header);
	const ElfW(Shdr) * section, *names;
	const char *name;

	if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return false;
	names = symbol_file_at(
	    file, header->e_shoff + (uint64_t)header->e_shstrndx * sizeof *names, sizeof *names);
	for (unsigned int i = 0; names && i < header->e_shnum; i++) {
		section = symbol_file_at(
		    file, header->e_shoff + (uint64_t)i * sizeof *section, sizeof *section);
		name = section ? symbol_file_at(file, names->sh_offset + section->sh_name,
				     strlen(wanted) + 1) :
				 NULL;
		if (name && !memcmp(name, wanted, strlen(wanted) + 1))
			return true;
	}
	return false;
}

/* The function at an address of the file: its name, and where it begins. */
static const char *
symbol_find(const struct file *file, uint64_t address, uint64_t *begin)
{
	const ElfW(Ehdr) *header = symbol_file_at(file, 0, sizeof *header);
	const ElfW(Shdr) * table, *names;
	const ElfW(Sym) * symbol;
	const char *name;

	if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return NULL;
	table = symbol_section(file, header);
	if (!table)
		return NULL;
	names = symbol_file_at(
	    file, header->e_shoff + (uint64_t)table->sh_link * sizeof *names, sizeof *names);
	if (!names)
		return NULL;
	for (uint64_t i = 0; i < table->sh_size / sizeof *symbol; i++) {
		symbol =
		    symbol_file_at(file, table->sh_offset + i * sizeof *symbol, sizeof *symbol);
		if (!symbol || (symbol->st_info & 0xf) != STT_FUNC || address < symbol->st_value ||
		    address - symbol->st_value >= symbol->st_size)
			continue;
		name = symbol_file_at(file, names->sh_offset + symbol->st_name, 1);
		if (!name || !memchr(name, '\0', file->size - (size_t)(name - file->bytes)))
			return NULL;
		*begin = symbol->st_value;
		return name;
	}
	return NULL;
}

/* The link map of the file that holds an address, or NULL. */
static const struct link_map *
symbol_map(const void *address, Dl_info *info)
{
	void *map = NULL;

	return dladdr1(address, info, &map, RTLD_DL_LINKMAP) ? map : NULL;
}

bool
soft_symbol_is_own(const void *address)
{
	Dl_info info;
	const struct link_map *own = symbol_map((void *)(uintptr_t)soft_symbol_is_own, &info);

	return own && symbol_map(address, &info) == own;
}

void
soft_symbol_name(const void *address, char *name, size_t size)
{
	const uint64_t at = (uintptr_t)address;
	const struct link_map *map;
	struct file file = { NULL, 0 };
	const char *path, *module, *function = NULL;
	uint64_t begin = 0;
	Dl_info info;

	map = symbol_map(address, &info);
	if (!map) {
		snprintf(name, size, "%p", address);
		return;
	}
	/* The program itself has no name in the map, and was perhaps started by a relative one. */
	path = *map->l_name ? map->l_name : "/proc/self/exe";
	module = strrchr(info.dli_fname, '/');
	module = module ? module + 1 : info.dli_fname;
	if (symbol_file_map(&file, path))
		function = symbol_find(&file, at - map->l_addr, &begin);
	if (function)
		begin += map->l_addr;
	else if (info.dli_sname) {
		function = info.dli_sname;
		begin = (uintptr_t)info.dli_saddr;
	}
	if (function)
		snprintf(name, size, "%s+0x%llx (%s)", function, (unsigned long long)(at - begin),
		    module);
	else
		snprintf(name, size, "%s+0x%llx", module, (unsigned long long)(at - map->l_addr));
	if (file.bytes)
		munmap((void *)(uintptr_t)file.bytes, file.size);
}

bool
soft_symbol_line_source(const void *address, char *path, size_t size, uint64_t *offset)
{
	struct file file = { NULL, 0 };
	const struct link_map *map;
	ssize_t length;
	bool lines;
	Dl_info info;

	map = symbol_map(address, &info);
	if (!map)
		return false;
	if (*map->l_name) {
		if ((size_t)snprintf(path, size, "%s", map->l_name) >= size)
			return false;
	} else {
		length = readlink("/proc/self/exe", path, size - 1);
		if (length <= 0)
			return false;
		path[length] = '\0';
	}
	*offset = (uintptr_t)address - map->l_addr;
	if (!symbol_file_map(&file, path))
		return false;
	lines = symbol_has_section(&file, ".debug_line");
	munmap((void *)(uintptr_t)file.bytes, file.size);
	return lines;
}

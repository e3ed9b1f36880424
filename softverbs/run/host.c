/* SPDX-License-Identifier: BSD-3-Clause */
#include "host.h"

#include "reach.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The length of "$ORIGIN" or "${ORIGIN}" at the start, or 0. */
static size_t
host_origin_length(const char *text)
{
	if (!strncmp(text, "${ORIGIN}", strlen("${ORIGIN}")))
		return strlen("${ORIGIN}");
	return strncmp(text, "$ORIGIN", strlen("$ORIGIN")) ? 0 : strlen("$ORIGIN");
}

bool
soft_host_find(const char *folders, const char *program, const char *name, char *path, size_t size)
{
	const char *slash = strrchr(program, '/');
	const int own = slash ? (int)(slash - program) : 0;
	size_t length, skip;
	int printed;

	for (;; folders += length + 1) {
		length = strcspn(folders, ":;");
		skip = host_origin_length(folders);
		printed = snprintf(path, size, "%.*s%.*s/%s", skip ? own : 0, program,
		    (int)(length - skip), folders + skip, name);
		if (length && printed > 0 && (size_t)printed < size && !access(path, R_OK))
			return true;
		if (!folders[length])
			return false;
	}
}

static void
host_add_file(struct soft_interface *interface, const char *path, const struct soft_elf *served)
{
	struct soft_elf library;

	if (!soft_elf_open(&library, path))
		return;
	soft_interface_add_library(interface, &library, served);
	soft_elf_close(&library);
}

/*
 * What the dynamic linker finds.  Only if no folder of the library path has it: that could be ours.
 */
static void
host_add_installed(struct soft_interface *interface, const struct soft_elf *served)
{
	void *library = dlopen(interface->soname, RTLD_LAZY | RTLD_LOCAL);
	struct link_map *map;

	if (library && !dlinfo(library, RTLD_DI_LINKMAP, &map))
		host_add_file(interface, map->l_name, served);
	if (library)
		dlclose(library);
}

/* What the program was linked with, and brings. */
static void
host_add_program(struct soft_interface *interface, const char *path, const struct soft_elf *program,
    const struct soft_elf *served)
{
	const char *folders = soft_elf_entry(program, DT_RUNPATH);
	char library[PATH_MAX];

	/* First: it has types and sizes. */
	if (folders && soft_host_find(folders, path, interface->soname, library, sizeof library))
		host_add_file(interface, library, served);
	soft_interface_add_needs(interface, program, served);
}

/* The versions come first. */
static void
host_add_built_with(struct soft_interface *interface, const struct soft_elf *served)
{
#define SOFT_VERSION(library, version) { library, version, NULL, false },
#define SOFT_FUNCTION(library, name, version, hidden) { library, version, name, hidden },
	static const struct {
		const char *library, *version, *function;
		bool hidden;
	} lines[] = {
#include "softverbs/versions.h"
	};

	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		if (strcmp(lines[i].library, interface->soname) != 0)
			continue;
		if (lines[i].function)
			soft_interface_add_function(interface, lines[i].function, lines[i].version,
			    lines[i].hidden, served);
		else
			soft_interface_add_version(interface, lines[i].version);
	}
}

bool
soft_host_read(struct soft_interface *interfaces, size_t count, const char *served_path,
    const char *program_name)
{
	const char *folders = getenv("LD_LIBRARY_PATH");
	char path[PATH_MAX] = "", library[PATH_MAX];
	struct soft_elf served, program;
	const bool is_program =
	    soft_reach_find(program_name, path) && soft_elf_open(&program, path);
	bool with_memory = true;

	if (!soft_elf_open(&served, served_path)) {
		if (is_program)
			soft_elf_close(&program);
		errno = ENOEXEC;
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		struct soft_interface *interface = &interfaces[i];

		if (folders &&
		    soft_host_find(folders, path, interface->soname, library, sizeof library))
			host_add_file(interface, library, &served);
		else
			host_add_installed(interface, &served);
		if (is_program)
			host_add_program(interface, path, &program, &served);
		host_add_built_with(interface, &served);
		with_memory = with_memory && !interface->without_memory;
	}
	soft_elf_close(&served);
	if (is_program)
		soft_elf_close(&program);
	if (!with_memory)
		errno = ENOMEM;
	return with_memory;
}

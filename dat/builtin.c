/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dat2/udat.h>

#include "dat/builtin.h"

#define BUILTIN_LIBRARY "libdaplsoft.so.2"

/* Where libtool puts this library and the provider in a build tree. */
#define BUILT_REGISTRY "/dat/.libs"
#define BUILT_PROVIDER "/dapl/.libs"

/* Appends to the folder in `path`.  True if there is such a file. */
static bool
builtin_is_in(char path[static PATH_MAX], size_t length, const char *subfolder)
{
	snprintf(path + length, PATH_MAX - length, "%s/%s", subfolder, BUILTIN_LIBRARY);
	return access(path, R_OK) == 0;
}

/* True if the file that this code is in tells where the provider is; `path` is it. */
static bool
builtin_find_beside(char path[static PATH_MAX])
{
	const size_t built = strlen(BUILT_REGISTRY);
	Dl_info own;
	size_t length;
	char *slash;

	/* A function that no program can replace, unlike those that are exported. */
	if (dladdr((const void *)(size_t)&builtin_record, &own) == 0 ||
	    realpath(own.dli_fname, path) == NULL)
		return false;
	slash = strrchr(path, '/');
	*slash = '\0';
	length = strlen(path);
	if (builtin_is_in(path, length, ""))
		return true;
	path[length] = '\0';
	return length > built && strcmp(path + length - built, BUILT_REGISTRY) == 0 &&
	       builtin_is_in(path, length - built, BUILT_PROVIDER);
}

void
builtin_record(struct conf_record *record, char path[static PATH_MAX])
{
	if (!builtin_find_beside(path))
		strcpy(path, BUILTIN_LIBRARY); /* the dynamic loader may know it */
	*record = (struct conf_record){
		.ia_name = BUILTIN_NAME,
		.for_user_space = true,
		.major = DAT_VERSION_MAJOR,
		.minor = DAT_VERSION_MINOR,
		.thread_safe = true,
		.is_default = true,
		.library = path,
		.ia_params = "lo 0",
	};
}

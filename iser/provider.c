/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/provider.h"

#include "iser/say.h"

#include <dat2/udat.h>
#include <dat2/dat_registry.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Quotes for dat.conf: a path and the parameters may hold anything. */
static int
quote(const char *path, char *out, size_t size)
{
	size_t used = 0;

	for (; *path; path++) {
		if (used + 3 > size || *path == '\n')
			return -1;
		if (*path == '"' || *path == '\\')
			out[used++] = '\\';
		out[used++] = *path;
	}
	out[used] = '\0';
	return 0;
}

/*
 * The registry would blame a line of a dat.conf that the user has not written.  What is loaded here
 * it finds loaded.
 */
static int
load(const char *library, const char *path)
{
	static const char *const needed[] = { DAT_PROVIDER_INIT_FUNC_STR,
		DAT_PROVIDER_FINI_FUNC_STR };
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!handle) {
		say("--provider %s: cannot load the library: %s", library, dlerror());
		return -1;
	}
	for (int i = 0; i < 2; i++)
		if (!dlsym(handle, needed[i])) {
			say("--provider %s: is not a DAT provider: it has no %s()", library,
			    needed[i]);
			dlclose(handle);
			return -1;
		}
	return 0;
}

int
provider_use(const char *ia, const char *library, const char *parameters)
{
	char path[PATH_MAX], quoted[2 * PATH_MAX], words[2 * PATH_MAX], name[64];
	int fd;

	if (!strchr(library, '/'))
		snprintf(path, sizeof path, "%s", library); /* the loader searches */
	else if (!realpath(library, path)) {
		say("--provider %s: %s", library, strerror(errno));
		return -1;
	}
	if (quote(path, quoted, sizeof quoted)) {
		say("--provider %s: not a name that dat.conf can hold", library);
		return -1;
	}
	if (quote(parameters, words, sizeof words)) {
		say("\"%s\" cannot be the parameters of a provider", parameters);
		return -1;
	}
	if (load(library, path))
		return -1;
	/* A file without a name cannot be left behind.  It stays open for the registry. */
	fd = memfd_create("dat.conf", MFD_CLOEXEC);
	if (fd < 0) {
		say("no memory for a dat.conf: %s", strerror(errno));
		return -1;
	}
	if (dprintf(fd, "%s u2.0 threadsafe default \"%s\" rearm.2.0 \"%s\" \"\"\n", ia, quoted,
		words) < 0) {
		say("cannot write a dat.conf: %s", strerror(errno));
		close(fd);
		return -1;
	}
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	if (setenv("DAT_OVERRIDE", name, 1)) {
		say("cannot set DAT_OVERRIDE: %s", strerror(errno));
		close(fd);
		return -1;
	}
	return 0;
}

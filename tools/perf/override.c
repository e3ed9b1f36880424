/* SPDX-License-Identifier: BSD-3-Clause */
#include "override.h"

#include "iser/provider.h"
#include "iser/say.h"
#include "fail.h"

#include <dat2/udat.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SOFTWARE_DEVICE "libdaplsoft.so.2"

/*
 * The providers are in a folder of their own, beside the registry; what is not there the loader
 * searches.
 */
static void
override_find(const char *library, char path[static PATH_MAX])
{
	Dl_info registry;
	const char *slash;

	if (!strchr(library, '/') && dladdr((const void *)(size_t)&dat_strerror, &registry) &&
	    (slash = strrchr(registry.dli_fname, '/')) != NULL) {
		snprintf(path, PATH_MAX, "%.*s/%s", (int)(slash - registry.dli_fname),
		    registry.dli_fname, library);
		if (!access(path, R_OK))
			return;
	}
	snprintf(path, PATH_MAX, "%s", library);
}

void
override_provider(const struct options *options)
{
	const char *parameters = options->parameters ? options->parameters : "lo 0";
	char path[PATH_MAX], text[1024];

	if (!options->provider && !options->parameters && options->spin < 0)
		return;
	override_find(options->provider ? options->provider : SOFTWARE_DEVICE, path);
	if (options->spin >= 0)
		snprintf(text, sizeof text, "%s spin=%d", parameters, options->spin);
	else
		snprintf(text, sizeof text, "%s", parameters);
	say_init(program_invocation_short_name);
	if (provider_use(options->adapter, path, text))
		exit(1);
}

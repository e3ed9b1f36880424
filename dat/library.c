/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "dat/library.h"
#include "dat/log.h"
#include "dat/pin.h"

static pthread_once_t library_once = PTHREAD_ONCE_INIT;

/*
 * Existing providers leave the symbols of this library undefined and do not link with it: they find
 * the symbols in the global scope.  A program that is linked with this library provides them.  A
 * program that loaded it with dlopen(RTLD_LOCAL) needs this call.
 */
static void
library_join_global_scope(void)
{
	void *program, *seen = NULL;
	Dl_info self;

	program = dlopen(NULL, RTLD_LAZY);
	if (program != NULL) {
		seen = dlsym(program, "dat_registry_add_provider");
		dlclose(program);
	}
	if (seen != NULL || dladdr((const void *)(size_t)&dat_registry_add_provider, &self) == 0)
		return;
	if (dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL) == NULL)
		log_message(LOG_CATALOG, "cannot make the symbols of %s visible to providers: %s",
		    self.dli_fname, dlerror());
}

static const char *
library_last_error(void)
{
	const char *text = dlerror();

	return text != NULL ? text : "unknown error";
}

/*
 * The text of dlerror() begins with the library that it is about, which may be one that the
 * provider needs.
 */
static void
library_explain_load(const char *path, const char *error, char *reason, size_t size)
{
	const size_t length = strlen(path);
	const char *mend = "";

	if (strstr(error, "cannot open shared object file: No such file") == NULL)
		; /* the text says what is wrong with the file */
	else if (strncmp(error, path, length) != 0 || error[length] != ':')
		mend = "; the provider needs this library: install it";
	else if (strchr(path, '/') != NULL)
		mend = "; install the provider, or correct the fifth field";
	else
		mend = "; write its path in the fifth field, or add its folder to /etc/ld.so.conf "
		       "and run ldconfig";
	snprintf(reason, size, "cannot load the library: %s%s", error, mend);
}

int
library_open(struct library *library, const char *path, char *reason, size_t size)
{
	const char *missing = NULL;
	void *handle, *init, *fini;

	if (!pin_library()) {
		snprintf(reason, size, "no memory is left to keep this library");
		return -ENOMEM;
	}
	pthread_once(&library_once, library_join_global_scope);

	/* Local, so that two providers with equal names do not use the functions of each other. */
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (handle == NULL) {
		library_explain_load(path, library_last_error(), reason, size);
		return -ENOENT;
	}
	init = dlsym(handle, DAT_PROVIDER_INIT_FUNC_STR);
	fini = dlsym(handle, DAT_PROVIDER_FINI_FUNC_STR);
	if (init == NULL)
		missing = DAT_PROVIDER_INIT_FUNC_STR;
	else if (fini == NULL)
		missing = DAT_PROVIDER_FINI_FUNC_STR;
	if (missing != NULL) {
		snprintf(reason, size,
		    "%s is not a DAT provider: it has no %s(); correct the fifth field", path,
		    missing);
		dlclose(handle);
		return -ENOENT;
	}
	library->handle = handle;
	library->init = (DAT_PROVIDER_INIT_FUNC)(size_t)init;
	library->fini = (DAT_PROVIDER_FINI_FUNC)(size_t)fini;
	log_message(LOG_CATALOG, "loaded %s", path);
	return 0;
}

void
library_close(struct library *library)
{
	if (dlclose(library->handle) != 0)
		log_message(LOG_CATALOG, "cannot unload a provider: %s", library_last_error());
	*library = (struct library){ 0 };
}

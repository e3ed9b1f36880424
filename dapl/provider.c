/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/provider.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dapl/api.h"
#include "dapl/debug.h"
#include "dapl/trace.h"

/* The names by which a registry finds us. */
#define EXPORTED __attribute__((visibility("default")))
EXPORTED void dat_provider_init(const DAT_PROVIDER_INFO *info, const char *ia_params);
EXPORTED void dat_provider_fini(const DAT_PROVIDER_INFO *info);
EXPORTED DAT_RETURN dapl_extensions(DAT_HANDLE handle, DAT_EXTENDED_OP op, va_list args);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct provider *providers; /* the one initialised last comes first; guarded by lock */

#define DAPL_API_SLOT(stem) .stem##_func = dapl_##stem,

static const DAT_PROVIDER functions = {
	DAPL_API_FUNCTIONS(DAPL_API_SLOT).ia_open_func = dapl_ia_open,
	.ia_ha_related_func = dapl_ia_ha_related,
	.handle_extendedop_func = dapl_handle_extendedop,
};

static bool
same_key(const DAT_PROVIDER_INFO *a, const DAT_PROVIDER_INFO *b)
{
	return strcmp(a->ia_name, b->ia_name) == 0 &&
	       a->dapl_version_major == b->dapl_version_major &&
	       a->dapl_version_minor == b->dapl_version_minor &&
	       a->is_thread_safe == b->is_thread_safe;
}

/* Locked.  Takes it out of the list. */
static struct provider *
take(const DAT_PROVIDER_INFO *info)
{
	for (struct provider **at = &providers; *at; at = &(*at)->next) {
		struct provider *p = *at;

		if (same_key(&p->info, info)) {
			*at = p->next;
			return p;
		}
	}
	return NULL;
}

void
dat_provider_init(const DAT_PROVIDER_INFO *info, const char *ia_params)
{
	struct provider *p;
	DAT_RETURN ret;

	debug_setup();
	pthread_mutex_lock(&lock);
	p = take(info);
	if (!p) {
		p = calloc(1, sizeof *p);
		if (!p) {
			pthread_mutex_unlock(&lock);
			return;
		}
		p->info = *info;
		p->table = functions;
		p->table.device_name = p->info.ia_name;
		if (debug_wants(DEBUG_CALLS | DEBUG_RESULTS))
			trace_install(&p->table);
	}
	snprintf(p->params, sizeof p->params, "%s", ia_params ? ia_params : "");
	p->inits++;
	p->next = providers;
	providers = p;
	pthread_mutex_unlock(&lock);

	ret = registry_add(&p->table, &p->info);
	if (ret != DAT_SUCCESS && DAT_GET_TYPE(ret) != DAT_PROVIDER_ALREADY_REGISTERED)
		debug_error("the registry refuses provider %s: 0x%x", info->ia_name, ret);
}

void
dat_provider_fini(const DAT_PROVIDER_INFO *info)
{
	struct provider *p;

	pthread_mutex_lock(&lock);
	for (p = providers; p && !same_key(&p->info, info); p = p->next)
		;
	if (p && p->inits > 0)
		p->inits--;
	pthread_mutex_unlock(&lock);
	if (p)
		(void)registry_remove(&p->table, &p->info);
}

struct provider *
provider_find(const char *ia_name, char params[PROVIDER_PARAMS_MAX])
{
	struct provider *p;

	pthread_mutex_lock(&lock);
	for (p = providers; p; p = p->next)
		if (p->inits > 0 && strcmp(p->info.ia_name, ia_name) == 0)
			break;
	if (p)
		memcpy(params, p->params, sizeof p->params);
	pthread_mutex_unlock(&lock);
	return p;
}

DAT_RETURN
dapl_extensions(DAT_HANDLE handle, DAT_EXTENDED_OP op, va_list args)
{
	return dapl_handle_extendedop(handle, op, args);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/provider/provider.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dapl/api.h"
#include "dapl/ep/stall.h"
#include "dapl/ia/cq_arm.h"
#include "dapl/object/lock.h"
#include "dapl/trace/debug.h"
#include "dapl/object/registry.h"
#include "dapl/provider/trace.h"
#include "dat/pin.h"

/* The functions that a registry finds by their names. */
#define EXPORTED __attribute__((visibility("default")))
EXPORTED void dat_provider_init(const DAT_PROVIDER_INFO *info, const char *ia_params);
EXPORTED void dat_provider_fini(const DAT_PROVIDER_INFO *info);
EXPORTED DAT_RETURN dapl_extensions(DAT_HANDLE handle, DAT_EXTENDED_OP op, va_list args);

/*
 * The maximum number of keys (versions and thread safeties) of one name: each needs a function of
 * its own.
 */
#define OPENERS 32
#define BUCKETS 256
/* An adapter that is opened for a query alone gets an EVD for asynchronous events all the same. */
#define QUERY_ASYNC_QLEN 1
/* Spread texts well over the buckets. */
#define HASH_SEED 5381
#define HASH_FACTOR 33

static pthread_mutex_t providers_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct dapl_provider *providers[BUCKETS]; /* by name; guarded by the mutex, only added to */

static void
provider_lock(void) ACQUIRE(dapl_locks.providers) UNCHECKED
{
	pthread_mutex_lock(&providers_mutex);
}

static void
provider_unlock(void) RELEASE(dapl_locks.providers) UNCHECKED
{
	pthread_mutex_unlock(&providers_mutex);
}

#define DAPL_API_SLOT(stem) .stem##_func = dapl_##stem,

static const DAT_PROVIDER provider_functions = {
	DAPL_API_FUNCTIONS(DAPL_API_SLOT).ia_ha_related_func = dapl_ia_ha_related,
	.handle_extendedop_func = dapl_handle_extendedop,
};

static struct dapl_provider **
provider_bucket_of(const char *name) REQUIRES(dapl_locks.providers)
{
	unsigned int hash = HASH_SEED;

	while (*name)
		hash = hash * HASH_FACTOR + (unsigned char)*name++;
	return &providers[hash % BUCKETS];
}

/* ---- opening ---- */

static DAT_RETURN
provider_open_by_rank(unsigned int rank, const DAT_NAME_PTR name, DAT_COUNT qlen,
    DAT_EVD_HANDLE *async_evd, DAT_IA_HANDLE *ia)
{
	struct dapl_provider *p;

	if (!name)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1);
	provider_lock();
	for (p = *provider_bucket_of(name); p; p = p->next)
		if (p->rank == rank && strcmp(p->info.ia_name, name) == 0)
			break;
	provider_unlock();
	if (!p)
		return DAT_ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED);
	return p->open(p, qlen, async_evd, ia);
}

DAT_RETURN
dapl_provider_open_by_name(const char *name, DAT_IA_HANDLE *ia)
{
	DAT_EVD_HANDLE async_evd = DAT_HANDLE_NULL;
	struct dapl_provider *p;

	provider_lock();
	for (p = *provider_bucket_of(name); p; p = p->next)
		if (p->registered && strcmp(p->info.ia_name, name) == 0)
			break;
	provider_unlock();
	if (!p)
		return DAT_ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED);
	return p->open(p, QUERY_ASYNC_QLEN, &async_evd, ia);
}

#define FOR_8(F, n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7)
#define FOR_OPENERS(F) FOR_8(F, 0) FOR_8(F, 01) FOR_8(F, 02) FOR_8(F, 03) /* octal */

#define DEFINE_OPENER(n) \
	static DAT_RETURN open_##n( \
	    const DAT_NAME_PTR name, DAT_COUNT qlen, DAT_EVD_HANDLE *async_evd, DAT_IA_HANDLE *ia) \
	{ \
		return provider_open_by_rank(n, name, qlen, async_evd, ia); \
	}
FOR_OPENERS(DEFINE_OPENER)

#define NAME_OPENER(n) open_##n,
static const DAT_IA_OPEN_FUNC provider_openers[OPENERS] = { FOR_OPENERS(NAME_OPENER) };

/* ---- the keys ---- */

static bool
provider_same_key(const DAT_PROVIDER_INFO *a, const DAT_PROVIDER_INFO *b)
{
	return strcmp(a->ia_name, b->ia_name) == 0 &&
	       a->dapl_version_major == b->dapl_version_major &&
	       a->dapl_version_minor == b->dapl_version_minor &&
	       a->is_thread_safe == b->is_thread_safe;
}

static struct dapl_provider *
provider_find(const DAT_PROVIDER_INFO *info) REQUIRES(dapl_locks.providers)
{
	struct dapl_provider *p = *provider_bucket_of(info->ia_name);

	while (p && !provider_same_key(&p->info, info))
		p = p->next;
	return p;
}

/* NULL without memory or openers. */
static struct dapl_provider *
provider_make(const DAT_PROVIDER_INFO *info) REQUIRES(dapl_locks.providers)
{
	struct dapl_provider **bucket = provider_bucket_of(info->ia_name), *p;
	unsigned int rank = 0;

	for (p = *bucket; p; p = p->next)
		rank += strcmp(p->info.ia_name, info->ia_name) == 0;
	if (rank == OPENERS) {
		dapl_debug_error("\"%s\" has more than %d records in dat.conf with different "
				 "versions and thread safety",
		    info->ia_name, OPENERS);
		return NULL;
	}
	p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	p->info = *info;
	p->rank = rank;
	p->open = dapl_ia_open;
	p->table = provider_functions;
	p->table.device_name = p->info.ia_name;
	p->table.ia_open_func = provider_openers[rank];
	if (dapl_trace_is_wanted()) {
		p->open = dapl_trace_ia_open;
		dapl_trace_install(&p->table);
	}
	p->next = *bucket;
	*bucket = p;
	return p;
}

static void
provider_set_registered(struct dapl_provider *p, bool registered)
{
	provider_lock();
	p->registered = registered;
	provider_unlock();
}

void
dat_provider_init(const DAT_PROVIDER_INFO *info, const char *ia_params)
{
	struct dapl_provider *p;
	DAT_RETURN ret;

	dapl_debug_setup(dapl_registry_find_log());
	/* Before the registry has a table of this library, and before there is a thread. */
	if (!pin_library()) {
		dapl_debug_error("no memory is left to keep the provider of \"%s\"", info->ia_name);
		return;
	}
	dapl_cq_arm_tell_stalls(dapl_stall_tell);
	provider_lock();
	p = provider_find(info);
	if (!p)
		p = provider_make(info);
	/* A provider that is registered keeps its parameters. */
	if (p && !p->registered)
		snprintf(p->params, sizeof p->params, "%s", ia_params ? ia_params : "");
	provider_unlock();
	if (!p)
		return;

	ret = dapl_registry_add(&p->table, &p->info);
	if (ret == DAT_SUCCESS)
		provider_set_registered(p, true);
	else if (DAT_GET_TYPE(ret) != DAT_PROVIDER_ALREADY_REGISTERED)
		dapl_debug_error("the registry rejected provider %s: 0x%x", info->ia_name, ret);
}

void
dat_provider_fini(const DAT_PROVIDER_INFO *info)
{
	struct dapl_provider *p;

	provider_lock();
	p = provider_find(info);
	provider_unlock();
	if (p && dapl_registry_remove(&p->table, &p->info) == DAT_SUCCESS)
		provider_set_registered(p, false);
}

void
dapl_provider_params(struct dapl_provider *p, char params[DAPL_PROVIDER_PARAMS_MAX])
{
	provider_lock();
	memcpy(params, p->params, sizeof p->params);
	provider_unlock();
}

DAT_RETURN
dapl_extensions(DAT_HANDLE handle, DAT_EXTENDED_OP op, va_list args)
{
	return dapl_trace_is_wanted() ? dapl_trace_handle_extendedop(handle, op, args) :
					dapl_handle_extendedop(handle, op, args);
}

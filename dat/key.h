/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * key -- the key under which a provider is registered, configured and found
 *
 * The name, the API version and the thread safety of a DAT_PROVIDER_INFO.  Records that differ in
 * any of them are different records.
 */
#ifndef REARM_DAT_KEY_H
#define REARM_DAT_KEY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <dat2/udat.h>

static inline bool
key_equal(const DAT_PROVIDER_INFO *a, const DAT_PROVIDER_INFO *b)
{
	return a->dapl_version_major == b->dapl_version_major &&
	       a->dapl_version_minor == b->dapl_version_minor &&
	       a->is_thread_safe == b->is_thread_safe && strcmp(a->ia_name, b->ia_name) == 0;
}

static inline uint64_t
key_mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

static inline uint64_t
key_name_hash(const char *name)
{
	uint64_t hash = 0;

	while (*name != '\0')
		hash = key_mix(hash, (unsigned char)*name++);
	return hash;
}

static inline uint64_t
key_hash(const DAT_PROVIDER_INFO *key)
{
	uint64_t hash = key_name_hash(key->ia_name);

	hash = key_mix(hash, key->dapl_version_major);
	hash = key_mix(hash, key->dapl_version_minor);
	return key_mix(hash, (uint64_t)key->is_thread_safe);
}

static inline const char *
key_safety(const DAT_PROVIDER_INFO *key)
{
	return key->is_thread_safe ? "threadsafe" : "nonthreadsafe";
}

#endif

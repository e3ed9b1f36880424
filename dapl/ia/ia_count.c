/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/ia/ia_count.h"

/* The objects that are counted where all objects are attached to their adapter and detached. */
static const struct {
	DAT_IA_COUNTERS created, freed;
} ia_count_kinds[DAPL_KIND_COUNT] = {
	[DAPL_KIND_PZ] = { DCNT_IA_PZ_CREATE, DCNT_IA_PZ_FREE },
	[DAPL_KIND_LMR] = { DCNT_IA_LMR_CREATE, DCNT_IA_LMR_FREE },
	[DAPL_KIND_RMR] = { DCNT_IA_RMR_CREATE, DCNT_IA_RMR_FREE },
	[DAPL_KIND_RSP] = { DCNT_IA_RSP_CREATE, DCNT_IA_RSP_FREE },
	[DAPL_KIND_EVD] = { DCNT_IA_EVD_CREATE, DCNT_IA_EVD_FREE },
	[DAPL_KIND_EP] = { DCNT_IA_EP_CREATE, DCNT_IA_EP_FREE },
	[DAPL_KIND_SRQ] = { DCNT_IA_SRQ_CREATE, DCNT_IA_SRQ_FREE },
};

void
dapl_ia_counts_clear(struct dapl_ia *ia)
{
	for (int i = 0; i < DCNT_IA_ALL_COUNTERS; i++) {
		atomic_store_explicit(&ia->counts.now[i], 0, memory_order_relaxed);
		ia->counts.base[i] = 0;
	}
	for (int kind = 0; kind < DAPL_KIND_COUNT; kind++)
		ia->parent.attached[kind] = ia->parent.detached[kind] = 0;
}

bool
dapl_ia_counts_copy(DAT_IA_HANDLE handle, int which, DAT_UINT64 *out, bool reset)
{
	struct dapl_ia *ia = dapl_ia_lock_handle(handle);
	uint64_t now[DCNT_IA_ALL_COUNTERS];

	if (!ia)
		return false;
	for (int i = 0; i < DCNT_IA_ALL_COUNTERS; i++)
		now[i] = dapl_counter_get(&ia->counts.now[i]);
	for (int kind = 0; kind < DAPL_KIND_COUNT; kind++) {
		if (ia_count_kinds[kind].created == ia_count_kinds[kind].freed)
			continue;
		now[ia_count_kinds[kind].created] = ia->parent.attached[kind];
		now[ia_count_kinds[kind].freed] = ia->parent.detached[kind];
	}
	now[DCNT_IA_PSP_FREE] = ia->parent.detached[DAPL_KIND_PSP];
	dapl_counter_copy(now, ia->counts.base, DCNT_IA_ALL_COUNTERS, which, out, reset);
	dapl_ia_unlock(ia);
	return true;
}

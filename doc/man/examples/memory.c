/* SPDX-License-Identifier: BSD-3-Clause */
#include <dat2/udat.h>

struct buffer {
	DAT_LMR_HANDLE lmr;
	DAT_LMR_TRIPLET local;	/* for the calls that post */
	DAT_RMR_TRIPLET remote; /* for the other side: send it */
};

/* Registers memory that the other side may read and write. */
static DAT_RETURN
register_buffer(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, void *memory,
    DAT_SEG_LENGTH length, struct buffer *b)
{
	const DAT_REGION_DESCRIPTION region = { .for_va = memory };
	DAT_RETURN ret;

	ret = dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, length, pz,
	    DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &b->lmr,
	    &b->local.lmr_context, &b->remote.rmr_context, NULL, NULL);
	b->local.virtual_address = b->remote.virtual_address =
	    (DAT_VADDR)(uintptr_t)memory;
	b->local.segment_length = b->remote.segment_length = length;
	return ret;
}

/* Before the memory is freed, and when no transfer uses it any more. */
static DAT_RETURN
unregister_buffer(struct buffer *b)
{
	return dat_lmr_free(b->lmr);
}

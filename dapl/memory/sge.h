/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sge -- the scatter/gather list of a work request, from DAT's triplets
 */
#ifndef REARM_DAPL_SGE_H
#define REARM_DAPL_SGE_H

#include <infiniband/verbs.h>

#include <dat2/udat.h>

/*
 * Copies the segments, at most `limit` bytes of them: the length of a DAT read is that of the
 * remote triplet, the length of a verbs read that of the local segments.  Returns how many
 * elements of `sge` are set; it has room for all segments.
 */
static inline int
dapl_sge_fill(struct ibv_sge *sge, DAT_COUNT segments, const DAT_LMR_TRIPLET *iov, uint64_t limit,
    uint64_t *total)
{
	int n = 0;

	*total = 0;
	for (DAT_COUNT i = 0; i < segments && *total < limit; i++) {
		uint64_t length = iov[i].segment_length;

		if (length == 0)
			continue; /* verbs read a length of zero as 2^31 */
		if (length > limit - *total)
			length = limit - *total;
		sge[n++] = (struct ibv_sge){
			.addr = iov[i].virtual_address,
			.length = (uint32_t)length,
			.lkey = iov[i].lmr_context,
		};
		*total += length;
	}
	return n;
}

#endif

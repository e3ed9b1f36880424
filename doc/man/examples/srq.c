/* SPDX-License-Identifier: BSD-3-Clause */
#include <dat2/udat.h>

/* A queue of buffers for many endpoints, with all its buffers posted. */
static DAT_RETURN
create_shared_buffers(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz,
    DAT_LMR_TRIPLET *buffers, DAT_COUNT n, DAT_SRQ_HANDLE *srq)
{
	DAT_SRQ_ATTR attr = { .max_recv_dtos = n, .max_recv_iov = 1 };
	DAT_RETURN ret = dat_srq_create(ia, pz, &attr, srq);

	for (DAT_COUNT i = 0; i < n && ret == DAT_SUCCESS; i++) {
		/* The completion, on some receive EVD, returns the number. */
		const DAT_DTO_COOKIE cookie = { .as_64 = (DAT_UINT64)i };

		ret = dat_srq_post_recv(*srq, 1, &buffers[i], cookie);
	}
	/* DAT_MODEL_NOT_SUPPORTED: the device has no such queues. */
	return ret;
}

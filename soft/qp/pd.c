/* SPDX-License-Identifier: BSD-3-Clause */
#include "pd.h"

#include <stdlib.h>

struct ibv_pd *
ibv_alloc_pd(struct ibv_context *context)
{
	static atomic_uint handles;
	struct soft_context *ctx = soft_context_of(context);
	struct soft_pd *pd;
	int r;

	if (soft_context_is_stale(ctx)) {
		errno = EIO;
		return NULL;
	}
	pd = calloc(1, sizeof *pd);
	if (!pd)
		return NULL;
	r = soft_context_get(ctx);
	if (r) {
		free(pd);
		errno = -r;
		return NULL;
	}
	pd->ibv.context = context;
	pd->ibv.handle = ++handles;
	return &pd->ibv;
}

int
ibv_dealloc_pd(struct ibv_pd *ibv)
{
	struct soft_pd *pd = soft_pd_of(ibv);
	struct soft_context *ctx = soft_context_of(ibv->context);

	if (soft_context_is_stale(ctx))
		return 0;
	if (pd->users)
		return EBUSY;
	free(pd);
	soft_context_put(ctx);
	return 0;
}

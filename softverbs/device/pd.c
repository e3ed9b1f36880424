/* SPDX-License-Identifier: BSD-3-Clause */
#include "pd.h"
#include "cancel.h"
#include "device.h"

#include <stdlib.h>

struct soft_td {
	struct ibv_td ibv;
	atomic_uint users; /* parent domains */
};

#define PARENT_MASK_KNOWN \
	(IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)

static struct soft_td *
pd_td_of(struct ibv_td *td)
{
	return soft_container_of(td, struct soft_td, ibv);
}

/* Memory of an object that holds a reference to its context, or NULL with errno. */
static void *
pd_alloc(struct soft_context *ctx, size_t size)
{
	void *object;
	int r;

	if (soft_context_is_stale(ctx)) {
		errno = EIO;
		return NULL;
	}
	object = calloc(1, size);
	if (!object)
		return NULL;
	r = soft_context_get(ctx);
	if (!r)
		return object;
	free(object);
	errno = -r;
	return NULL;
}

static struct soft_pd *
pd_create(struct ibv_context *context)
{
	static atomic_uint handles;
	struct soft_context *ctx = soft_context_of(context);
	struct soft_pd *pd = pd_alloc(ctx, sizeof *pd);
	int r;

	if (!pd)
		return NULL;
	r = soft_context_count(&ctx->pds, soft_limits(context)->max_pd);
	if (r) {
		free(pd);
		soft_context_put(ctx);
		errno = -r;
		return NULL;
	}
	pd->ibv.context = context;
	pd->ibv.handle = ++handles;
	return pd;
}

struct ibv_pd *
soft_ibv_alloc_pd(struct ibv_context *context)
{
	SOFT_UNCANCELLED;
	struct soft_pd *pd = pd_create(context);

	return pd ? &pd->ibv : NULL;
}

int
soft_ibv_dealloc_pd(struct ibv_pd *ibv)
{
	SOFT_UNCANCELLED;
	struct soft_pd *pd = soft_pd_of(ibv);
	struct soft_context *ctx = soft_context_of(ibv->context);

	if (soft_context_is_stale(ctx))
		return 0;
	if (pd->users)
		return EBUSY;
	if (pd->parent)
		pd->parent->users--;
	if (pd->td)
		pd->td->users--;
	free(pd);
	ctx->pds--;
	soft_context_put(ctx);
	return 0;
}

struct ibv_td *
soft_td_create(struct ibv_context *context, struct ibv_td_init_attr *init)
{
	SOFT_UNCANCELLED;
	struct soft_td *td;

	if (init->comp_mask) {
		errno = EINVAL;
		return NULL;
	}
	td = pd_alloc(soft_context_of(context), sizeof *td);
	if (!td)
		return NULL;
	td->ibv.context = context;
	return &td->ibv;
}

int
soft_td_free(struct ibv_td *ibv)
{
	SOFT_UNCANCELLED;
	struct soft_td *td = pd_td_of(ibv);
	struct soft_context *ctx = soft_context_of(ibv->context);

	if (soft_context_is_stale(ctx))
		return 0;
	if (td->users)
		return EBUSY;
	free(td);
	soft_context_put(ctx);
	return 0;
}

/*
 * The allocators are those of a program that wants a say in where the queues are; they must be both
 * or none.
 */
static bool
pd_is_parent_good(const struct ibv_context *context, const struct ibv_parent_domain_init_attr *attr)
{
	if (!attr->pd || attr->pd->context != context ||
	    attr->comp_mask & ~(uint32_t)PARENT_MASK_KNOWN)
		return false;
	if (attr->td && attr->td->context != context)
		return false;
	return !(attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) ||
	       (attr->alloc && attr->free);
}

struct ibv_pd *
soft_pd_create_parent(struct ibv_context *context, struct ibv_parent_domain_init_attr *attr)
{
	SOFT_UNCANCELLED;
	struct soft_pd *pd;

	if (!pd_is_parent_good(context, attr)) {
		errno = EINVAL;
		return NULL;
	}
	pd = pd_create(context);
	if (!pd)
		return NULL;
	pd->parent = soft_pd_of(attr->pd);
	pd->parent->users++;
	pd->ibv.handle = attr->pd->handle;
	if (attr->td) {
		pd->td = pd_td_of(attr->td);
		pd->td->users++;
	}
	return &pd->ibv;
}

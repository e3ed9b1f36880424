/* SPDX-License-Identifier: BSD-3-Clause */
#include "mw.h"
#include "mr.h"
#include "softverbs/device/cancel.h"
#include "softverbs/device/device.h"
#include "softverbs/wire/grant.h"

#include <stdlib.h>

struct soft_mw {
	struct ibv_mw ibv;
	struct soft_key key;
	struct soft_mr *mr GUARDED_BY(soft_locks.keys); /* that it is bound to, or NULL */
	LIST_ENTRY(soft_mw) of_qp;			/* of type 2, while bound: in qp->windows */
};

#define ACCESS_WRITES (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)

static struct soft_mw *
mw_of(struct ibv_mw *mw)
{
	return soft_container_of(mw, struct soft_mw, ibv);
}

static struct soft_key *
mw_find_key(uint32_t value, uint32_t serial) REQUIRES(soft_locks.keys)
{
	struct soft_key *key = soft_key_find(value);

	return key && key->serial == serial ? key : NULL;
}

/* The window gives access to nothing. */
static void
mw_unbind(struct soft_mw *mw) REQUIRES(soft_locks.keys)
{
	if (mw->mr && mw->ibv.type == IBV_MW_TYPE_2)
		LIST_REMOVE(mw, of_qp);
	if (mw->mr) {
		mw->mr->windows--;
		soft_grant_revoke_used();
	}
	mw->mr = NULL;
	mw->key.access = 0;
	mw->key.owner = mw;
}

static bool
mw_fits(const struct soft_mw *mw, const struct soft_mr *mr, const struct soft_bind *bind)
    REQUIRES(soft_locks.keys)
{
	/*
	 * Local writing is by the region's key: as an adapter does, the flag is taken and gives
	 * nothing.
	 */
	const unsigned int known = ACCESS_WRITES | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_LOCAL_WRITE |
				   (mw->ibv.type == IBV_MW_TYPE_2 ? IBV_ACCESS_ZERO_BASED : 0);
	const uint64_t offset = bind->address - mr->key.address; /* huge below the start */

	return mr->key.owner == soft_pd_root(mw->ibv.pd) && mr->key.access & IBV_ACCESS_MW_BIND &&
	       !(mr->key.access & IBV_ACCESS_ZERO_BASED) && !(bind->access & ~known) &&
	       (!(bind->access & ACCESS_WRITES) || mr->key.access & IBV_ACCESS_LOCAL_WRITE) &&
	       offset <= mr->key.length && bind->length <= mr->key.length - offset;
}

static void
mw_bind_to(struct soft_mw *mw, struct soft_mr *mr, const struct soft_bind *bind)
    REQUIRES(soft_locks.keys)
{
	mw->mr = mr;
	mr->windows++;
	mw->key.access = bind->access;
	mw->key.owner = soft_pd_root(mw->ibv.pd);
	mw->key.bytes = mr->key.bytes + (bind->address - mr->key.address);
	mw->key.address = bind->access & IBV_ACCESS_ZERO_BASED ? 0 : bind->address;
	mw->key.length = bind->length;
}

/* False if the bind is not allowed; the window is as it was then. */
static bool
mw_bind(struct soft_qp *qp, const struct soft_bind *bind, uint32_t value) REQUIRES(soft_locks.keys)
{
	struct soft_key *window = mw_find_key(bind->window, bind->window_serial),
			*region = mw_find_key(bind->region, bind->region_serial);
	struct soft_mr *mr = region ? soft_container_of(region, struct soft_mr, key) : NULL;
	struct soft_mw *mw;

	if (!window || !soft_key_is_alike(value, window->value))
		return false;
	mw = soft_container_of(window, struct soft_mw, key);
	if (soft_pd_root(mw->ibv.pd) != qp->pd)
		return false;
	if (mw->ibv.type == IBV_MW_TYPE_2 && (mw->mr || !bind->length))
		return false;
	if (bind->length && (!mr || !mw_fits(mw, mr, bind)))
		return false;
	mw_unbind(mw);
	mw->key.value = value;
	if (!bind->length)
		return true;
	mw_bind_to(mw, mr, bind);
	if (mw->ibv.type == IBV_MW_TYPE_2) {
		mw->key.owner = qp;
		LIST_INSERT_HEAD(&qp->windows, mw, of_qp);
	}
	return true;
}

/* Only a window of type 2 that is bound has a queue pair as the owner of its key. */
static bool
mw_invalidate(const struct soft_qp *qp, uint32_t value) REQUIRES(soft_locks.keys)
{
	struct soft_key *key = soft_key_find(value);

	if (!key || key->value != value || key->owner != qp)
		return false;
	mw_unbind(soft_container_of(key, struct soft_mw, key));
	return true;
}

struct ibv_mw *
soft_mw_create(struct ibv_pd *pd, enum ibv_mw_type type) SOFT_NO_KEYS_LOCK
{
	SOFT_UNCANCELLED;
	const struct ibv_device_attr *limits = soft_limits(pd->context);
	struct soft_context *ctx = soft_context_of(pd->context);
	struct soft_mw *mw;
	int r = 0;

	if (soft_context_is_stale(ctx))
		r = -EIO;
	else if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2)
		r = -EINVAL;
	else if (!(limits->device_cap_flags &
		     (type == IBV_MW_TYPE_1 ? IBV_DEVICE_MEM_WINDOW :
					      IBV_DEVICE_MEM_WINDOW_TYPE_2B)))
		r = -EOPNOTSUPP;
	if (r)
		goto fail;
	r = soft_context_count(&ctx->mws, limits->max_mw);
	if (r)
		goto fail;
	mw = calloc(1, sizeof *mw);
	r = -ENOMEM;
	if (!mw)
		goto uncount;
	mw->ibv = (struct ibv_mw){ .context = pd->context, .pd = pd, .type = type };
	soft_keys_lock();
	mw_unbind(mw);
	r = soft_key_add(&mw->key);
	mw->ibv.rkey = mw->ibv.handle = mw->key.value;
	soft_keys_unlock();
	if (r)
		goto free_mw;
	soft_pd_of(pd)->users++;
	return &mw->ibv;

free_mw:
	free(mw);
uncount:
	ctx->mws--;
fail:
	errno = -r;
	return NULL;
}

int
soft_mw_free(struct ibv_mw *ibv) SOFT_NO_KEYS_LOCK
{
	SOFT_UNCANCELLED;
	struct soft_mw *mw = mw_of(ibv);

	if (soft_context_is_stale(soft_context_of(ibv->context)))
		return 0;
	soft_keys_lock();
	mw_unbind(mw);
	soft_key_remove(&mw->key);
	soft_keys_unlock();
	soft_pd_of(ibv->pd)->users--;
	soft_context_of(ibv->context)->mws--;
	free(mw);
	return 0;
}

int
soft_mw_set_bind(struct soft_send *send, const struct ibv_send_wr *wr, enum ibv_mw_type type)
{
	const struct ibv_mw_bind_info *info = &wr->bind_mw.bind_info;
	struct ibv_mw *mw = wr->bind_mw.mw;

	if (!mw || mw->type != type)
		return -EINVAL;
	send->bind = (struct soft_bind){
		.address = info->addr,
		.length = info->length,
		.window = mw->handle,
		.window_serial = mw_of(mw)->key.serial,
		.region = info->mr ? info->mr->lkey : 0,
		.region_serial = info->mr ? soft_mr_of(info->mr)->key.serial : 0,
		.access = info->mw_access_flags,
	};
	if (type == IBV_MW_TYPE_1)
		mw->rkey = ibv_inc_rkey(mw->rkey);
	send->rkey = type == IBV_MW_TYPE_1 ? mw->rkey : wr->bind_mw.rkey;
	return 0;
}

enum ibv_wc_status
soft_mw_execute(struct soft_qp *qp, const struct soft_send *send)
{
	bool good;

	soft_keys_lock();
	if (send->opcode == IBV_WR_BIND_MW)
		good = mw_bind(qp, &send->bind, send->rkey);
	else
		good = mw_invalidate(qp, send->imm_data);
	soft_keys_unlock();
	return good ? IBV_WC_SUCCESS : IBV_WC_MW_BIND_ERR;
}

bool
soft_mw_invalidate(const struct soft_qp *qp, uint32_t key)
{
	bool good;

	soft_keys_lock();
	good = mw_invalidate(qp, key);
	soft_keys_unlock();
	return good;
}

void
soft_mw_unbind_all(struct soft_qp *qp)
{
	soft_keys_lock();
	while (!LIST_EMPTY(&qp->windows))
		mw_unbind(LIST_FIRST(&qp->windows));
	soft_keys_unlock();
}

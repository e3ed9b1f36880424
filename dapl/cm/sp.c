/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/cm/sp.h"

#include "dapl/ia/ia.h"

/*
 * Requests the CM keeps until the loop reads them.  What limits a consumer is its EVD: a request
 * that finds it full is refused and reported, which the CM, left to refuse by itself, would not do.
 */
#define BACKLOG 1024

void
sp_prepare(struct sp *sp, enum kind kind, const struct sp_ops *ops)
{
	object_prepare(&sp->obj, kind);
	sp->ops = ops;
}

static int
listen_on(struct sp *sp, const struct ia *ia, uint16_t port)
{
	sp->at = ia->address;
	address_set_port(&sp->at, port);
	errno = 0;
	if (rdma_bind_addr(sp->conn->id, (struct sockaddr *)&sp->at) ||
	    rdma_listen(sp->conn->id, BACKLOG))
		return errno ? -errno : -EIO;
	address_set_port(&sp->at, ntohs(rdma_get_src_port(sp->conn->id)));
	return 0;
}

struct dapl_evd *
sp_hold_evd(struct ia *ia, DAT_EVD_HANDLE handle)
{
	struct dapl_evd *evd = object_hold(handle, KIND_EVD, &ia->parent);

	if (evd && !(evd->flags & DAT_EVD_CR_FLAG)) {
		evd_release(evd);
		evd = NULL;
	}
	return evd;
}

int
sp_open(struct sp *sp, struct ia *ia, struct dapl_evd *evd, DAT_CONN_QUAL qual)
{
	int r;

	sp->evd = evd;
	r = conn_open(ia, &sp->obj, &sp->conn);
	if (r)
		return r;
	r = object_open(&sp->obj, &ia->parent, &ia->provider->table);
	if (r)
		goto close_conn;
	sp->self = sp->obj.handle;
	sp->qual = qual;
	r = listen_on(sp, ia, conn_qual_port(qual));
	if (r)
		goto abandon;
	if (!qual)
		sp->qual = address_port(&sp->at);
	r = object_publish(&sp->obj);
	if (r)
		goto abandon;
	return 0;

abandon:
	object_abandon(&sp->obj);
close_conn:
	conn_close(sp->conn);
	return r;
}

void
sp_finish(struct sp *sp)
{
	conn_close(sp->conn);
	evd_release(sp->evd);
	object_unlink(&sp->obj);
}

int
sp_destroy(DAT_HANDLE handle, enum kind kind, struct slab *slab)
{
	uint64_t serial;
	struct sp *sp = handle_object(handle, kind, &serial);
	int r = sp ? object_close(&sp->obj, serial) : -ENODEV;

	if (r)
		return r;
	sp_finish(sp);
	slab_free(slab, sp); /* it begins the slot of every kind */
	return 0;
}

bool
sp_is_open(const struct sp *sp, const struct conn *listener, uint32_t generation)
{
	return sp->obj.handle && sp->conn == listener && conn_is(listener, generation);
}

struct sp *
sp_of(struct object *owner)
{
	const enum kind kind = owner->kind;

	/* It begins the slot of each of these kinds. */
	return kind == KIND_PSP || kind == KIND_RSP || kind == KIND_CSP ? (struct sp *)owner : NULL;
}

int
sp_take(struct ia *ia, struct sp *sp, const struct conn *listener, uint32_t generation,
    const struct sockaddr *from, DAT_EP_HANDLE *ep)
{
	bool open, brings;

	os_lock(&sp->obj.lock);
	open = sp_is_open(sp, listener, generation);
	brings = open && sp->brings_ep;
	os_unlock(&sp->obj.lock);
	if (!open)
		return -ENODEV;
	return brings ? sp->ops->take(ia, sp, listener, generation, from, ep) : 0;
}

void
sp_give_back(
    struct sp *sp, const struct conn *listener, uint32_t generation, DAT_EP_HANDLE ep)
{
	if (sp->ops->give_back)
		sp->ops->give_back(sp, listener, generation, ep);
	else
		ep_let_go(ep);
}

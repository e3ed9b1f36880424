/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/cm/sp.h"

#include <string.h>

#include "dapl/ia/ia_count.h"
#include "dapl/trace/debug.h"
#include "dapl/trace/hint.h"
#include "dapl/trace/shortage.h"

/*
 * The number of requests that the CM queues until the loop reads them. It is high because the
 * limit for a consumer is its EVD: a request that finds the EVD full is refused and reported.
 * The CM would refuse it without a report.
 */
#define BACKLOG 1024

#define HEAR_AT_ONCE 64

void
dapl_sp_prepare(struct dapl_sp *sp, enum dapl_kind kind, const struct dapl_sp_ops *ops)
{
	dapl_object_prepare(&sp->obj, kind);
	sp->ops = ops;
}

static int
sp_listen_on(struct dapl_sp *sp, const struct dapl_ia *ia, uint16_t port)
{
	sp->at = ia->address;
	dapl_address_set_port(&sp->at, port);
	errno = 0;
	if (rdma_bind_addr(sp->conn->id, (struct sockaddr *)&sp->at))
		return dapl_shortage_of_listener("rdma_bind_addr");
	/* Before the first request can arrive, which names the qualifier. */
	dapl_address_set_port(&sp->at, ntohs(rdma_get_src_port(sp->conn->id)));
	if (!sp->qual)
		sp->qual = dapl_address_port(&sp->at);
	errno = 0;
	return rdma_listen(sp->conn->id, BACKLOG) ? dapl_shortage_of_listener("rdma_listen") : 0;
}

struct dapl_evd *
dapl_sp_get_evd(struct dapl_ia *ia, DAT_EVD_HANDLE handle)
{
	struct dapl_evd *evd = dapl_object_get(handle, DAPL_KIND_EVD, &ia->parent);

	if (evd && !(evd->flags & DAT_EVD_CR_FLAG)) {
		dapl_hint("the EVD %p was created without DAT_EVD_CR_FLAG", handle);
		dapl_evd_put(evd);
		evd = NULL;
	}
	return evd;
}

int
dapl_sp_open(struct dapl_sp *sp, struct dapl_ia *ia, struct dapl_evd *evd, DAT_CONN_QUAL qual)
{
	int r;

	sp->evd = evd;
	sp->datagrams = NULL;
	r = dapl_conn_open(ia, &sp->obj, &sp->conn);
	if (r)
		return r;
	r = dapl_object_create(&sp->obj, &ia->parent, &ia->provider->table);
	if (r)
		goto close_conn;
	sp->self = sp->obj.handle;
	sp->qual = qual;
	r = sp_listen_on(sp, ia, dapl_conn_qual_port(qual));
	if (r)
		goto free_handle;
	r = dapl_object_attach(&sp->obj);
	if (r)
		goto free_handle;
	dapl_ia_count(ia, DCNT_IA_CM_LISTEN);
	return 0;

free_handle:
	dapl_object_free_unattached(&sp->obj);
close_conn:
	dapl_conn_close(sp->conn);
	return r;
}

/* The service point keeps the conn if it is still there and has none. */
static bool
sp_keep_datagrams(DAT_HANDLE psp, struct dapl_conn *conn) DAPL_NO_OBJECT_LOCK
{
	struct dapl_sp *sp = dapl_object_lock_handle(psp, DAPL_KIND_PSP);
	bool keeps;

	if (!sp)
		return false;
	keeps = !sp->datagrams;
	if (keeps)
		sp->datagrams = conn;
	dapl_object_unlock(&sp->obj);
	return keeps;
}

int
dapl_sp_hear_datagrams(struct dapl_ia *ia, DAT_HANDLE psp)
{
	struct dapl_sp *sp = dapl_object_lock_handle(psp, DAPL_KIND_PSP);
	struct sockaddr_storage at;
	struct dapl_conn *conn;
	bool hears;
	int r;

	if (!sp)
		return 0;
	hears = sp->datagrams != NULL;
	at = sp->at;
	dapl_object_unlock(&sp->obj);
	if (hears)
		return 0;
	r = dapl_conn_open_datagram(ia, &sp->obj, &conn);
	if (r)
		return r;
	errno = 0;
	if (rdma_bind_addr(conn->id, (struct sockaddr *)&at))
		r = dapl_shortage_of_listener("rdma_bind_addr");
	else if (rdma_listen(conn->id, BACKLOG))
		r = dapl_shortage_of_listener("rdma_listen");
	if (r || !sp_keep_datagrams(psp, conn))
		dapl_conn_close(conn);
	return r;
}

/*
 * The list is locked while some handles are copied, not while the service points begin to listen.
 * One that is freed meanwhile moves those behind it: they may be missed, if there are many.
 */
static int
sp_copy_handles(struct dapl_ia *ia, int skip, DAT_HANDLE *handles, int max) DAPL_NO_LOCK
{
	int n = 0;

	dapl_ia_lock(ia);
	for (struct dapl_object *o = ia->parent.children[DAPL_KIND_PSP]; o && n < max; o = o->next)
		if (skip-- <= 0)
			handles[n++] = ((struct dapl_sp *)o)->self;
	dapl_ia_unlock(ia);
	return n;
}

void
dapl_sp_hear_all_datagrams(struct dapl_ia *ia)
{
	DAT_HANDLE some[HEAR_AT_ONCE];
	int n, r, all = 0;

	do {
		n = sp_copy_handles(ia, all, some, HEAR_AT_ONCE);
		for (int i = 0; i < n; i++) {
			r = dapl_sp_hear_datagrams(ia, some[i]);
			if (r && dapl_debug_wants(DAPL_DEBUG_CONNECTIONS))
				dapl_debug_line("psp %p: no requests of datagram endpoints: %s",
				    some[i], strerror(-r));
		}
		all += n;
	} while (n == HEAR_AT_ONCE);
}

void
dapl_sp_close(struct dapl_sp *sp)
{
	dapl_conn_close(sp->conn);
	if (sp->datagrams)
		dapl_conn_close(sp->datagrams);
	dapl_evd_put(sp->evd);
	dapl_object_detach(&sp->obj);
}

int
dapl_sp_free(DAT_HANDLE handle, enum dapl_kind kind, struct dapl_slab *slab)
{
	uint64_t serial;
	struct dapl_sp *sp = dapl_handle_object(handle, kind, &serial);
	int r = sp ? dapl_object_free(&sp->obj, serial) : -ENODEV;

	if (r)
		return r;
	dapl_sp_close(sp);
	dapl_slab_free(slab, sp); /* the sp is the first member in the slots of all three kinds */
	return 0;
}

bool
dapl_sp_is_open(const struct dapl_sp *sp, const struct dapl_conn *listener, uint32_t generation)
{
	return dapl_object_is_alive(&sp->obj) &&
	       (sp->conn == listener || sp->datagrams == listener) &&
	       dapl_conn_is(listener, generation);
}

struct dapl_sp *
dapl_sp_of(struct dapl_object *owner)
{
	const enum dapl_kind kind = owner->kind;

	/* The sp is the first member in the slots of these kinds. */
	return kind == DAPL_KIND_PSP || kind == DAPL_KIND_RSP || kind == DAPL_KIND_CSP ?
		   (struct dapl_sp *)owner :
		   NULL;
}

int
dapl_sp_get_ep(struct dapl_ia *ia, struct dapl_sp *sp, const struct dapl_conn *listener,
    uint32_t generation, const struct sockaddr *from, bool datagram, DAT_EP_HANDLE *ep)
{
	bool open, brings;

	/* Until the lock is held the slot may get another service point. */
	dapl_object_lock(&sp->obj);
	open = dapl_sp_is_open(sp, listener, generation);
	brings = open && sp->brings_ep;
	dapl_object_unlock(&sp->obj);
	if (!open || (brings && datagram))
		return -ESRCH;
	return brings ? sp->ops->get_ep(ia, sp, listener, generation, from, ep) : 0;
}

void
dapl_sp_put_ep(
    struct dapl_sp *sp, const struct dapl_conn *listener, uint32_t generation, DAT_EP_HANDLE ep)
{
	if (sp->ops->put_ep)
		sp->ops->put_ep(sp, listener, generation, ep);
	else
		dapl_ep_detach_request(ep);
}

static struct dapl_sp *
sp_find_among(struct dapl_object *children, DAT_CONN_QUAL qual, struct dapl_conn **listener,
    uint32_t *generation) REQUIRES(dapl_locks.adapter)
{
	struct dapl_sp *sp, *found = NULL;

	for (struct dapl_object *o = children; o && !found; o = o->next) {
		sp = dapl_sp_of(o);
		dapl_object_lock(o);
		if (dapl_object_is_alive(o) && sp->qual == qual) {
			found = sp;
			*listener = sp->conn;
			*generation =
			    atomic_load_explicit(&sp->conn->generation, memory_order_acquire);
		}
		dapl_object_unlock(o);
	}
	return found;
}

struct dapl_sp *
dapl_sp_find(
    struct dapl_ia *ia, DAT_CONN_QUAL qual, struct dapl_conn **listener, uint32_t *generation)
{
	static const enum dapl_kind kinds[] = { DAPL_KIND_PSP, DAPL_KIND_RSP, DAPL_KIND_CSP };
	struct dapl_sp *sp = NULL;

	dapl_ia_lock(ia);
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && !sp; i++)
		sp = sp_find_among(ia->parent.children[kinds[i]], qual, listener, generation);
	dapl_ia_unlock(ia);
	return sp;
}

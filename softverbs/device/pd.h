/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pd -- protection domains, thread domains, and the parent domains that name one of each
 *
 * A parent domain is another handle of its protection domain: keys, windows and address handles of
 * either serve the objects of both.  The device takes its own locks and its own memory, so the
 * thread domain and the allocators change nothing.
 */
#ifndef SOFT_PD_H
#define SOFT_PD_H

#include "context.h"

struct soft_td;

struct soft_pd {
	struct ibv_pd ibv;
	/* MRs, windows, QPs, SRQs, CQs, address handles and parent domains; freed only at 0 */
	atomic_uint users;
	struct soft_pd *parent; /* of a parent domain: what it was made of, else NULL */
	struct soft_td *td;	/* of a parent domain, or NULL */
};

static inline struct soft_pd *
soft_pd_of(struct ibv_pd *pd)
{
	return soft_container_of(pd, struct soft_pd, ibv);
}

/* The protection domain itself. */
static inline struct ibv_pd *
soft_pd_root(struct ibv_pd *ibv)
{
	struct soft_pd *pd = soft_pd_of(ibv);

	while (pd->parent)
		pd = pd->parent;
	return &pd->ibv;
}

/* Operations of a context. */
struct ibv_td *soft_td_create(struct ibv_context *context, struct ibv_td_init_attr *init);
int soft_td_free(struct ibv_td *td);
struct ibv_pd *soft_pd_create_parent(
    struct ibv_context *context, struct ibv_parent_domain_init_attr *attr);

#endif

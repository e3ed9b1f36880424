/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mw_story -- helpers of the tests of memory windows
 */
#ifndef SOFT_MW_STORY_H
#define SOFT_MW_STORY_H

#include "story.h"

#define MW_ACCESS (SIDE_ACCESS | IBV_ACCESS_MW_BIND)
#define MW_REMOTE (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

struct ibv_mw *mw_make(struct side *side, enum ibv_mw_type type);

/*
 * Binds the window to [offset, offset + length) of the side's bytes on its queue pair, and waits
 * until that is done.  The new key, which is also in mw->rkey.
 */
uint32_t mw_bind(
    struct side *side, struct ibv_mw *mw, size_t offset, size_t length, unsigned int access);
uint32_t mw_bind_to(struct side *side, struct ibv_mw *mw, struct ibv_mr *mr, size_t offset,
    size_t length, unsigned int access);

/* Posts a bind; one of type 1 gives the key itself. */
void mw_post(struct side *side, uint64_t wr_id, unsigned int flags, struct ibv_mw *mw,
    struct ibv_mr *mr, uint32_t key, size_t offset, size_t length, unsigned int access);

/* ibv_post_send() of a bind, whatever the type. */
int mw_try_post(struct side *side, uint64_t wr_id, unsigned int flags, struct ibv_mw *mw,
    struct ibv_mr *mr, uint32_t key, size_t offset, size_t length, unsigned int access);

void mw_invalidate(struct side *side, uint64_t wr_id, uint32_t key, unsigned int flags);
/* With a fence: a read by the key, posted before, is answered first. */
void mw_send_with_invalidate(struct side *side, uint64_t wr_id, uint32_t key, uint32_t length);

/* Whether something is bound to the side's region. */
void mw_expect_bound(struct side *side);
void mw_expect_not_bound(struct side *side);

/* A case whose tests find a pair with access for windows. */
extern const struct runner_case mw_case;
#define MW_CASE(...) CASE(__VA_ARGS__, .outer = &mw_case)

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * export -- the functions of this folder that can fail, as a program calls them
 *
 * As api/export.c.  The headers of older releases do not declare them.
 */
#include "softverbs/fault/seam.h"

#include <sys/types.h>

struct ibv_buf;
struct ibv_mr_init_attr;

#define FUNCTION(seam, type, name, parameters, arguments, context, after) \
	type soft_##name parameters; \
	type name parameters; \
	seam(, type, name, name, soft_##name, parameters, arguments, context, SEAM_NOTHING, \
	    SEAM_NOTHING, after)

/* clang-format off */

FUNCTION(SEAM_NUMBER, int, ibv_query_gid_type, (struct ibv_context *context, uint8_t port, unsigned int index, unsigned int *type),
    (context, port, index, type), context, SEAM_NOTHING)
FUNCTION(SEAM_NUMBER, int, ibv_read_sysfs_file, (const char *folder, const char *file, char *buffer, size_t size),
    (folder, file, buffer, size), NULL, SEAM_NOTHING)
FUNCTION(SEAM_NUMBER, int, ibv_query_port_speed, (struct ibv_context *context, uint32_t port, uint64_t *speed),
    (context, port, speed), context, SEAM_NOTHING)
FUNCTION(SEAM_POINTER, void *, ibv_alloc_buf, (struct ibv_pd *pd, size_t size, struct ibv_buf **buf), (pd, size, buf), NULL,
    SEAM_MADE(BUFFER))
FUNCTION(SEAM_POINTER, struct ibv_mr *, ibv_reg_buf_mr,
    (struct ibv_pd *pd, struct ibv_buf *buf, void *addr, size_t length, int access), (pd, buf, addr, length, access),
    pd->context, SEAM_MADE(MR))
FUNCTION(SEAM_POINTER, struct ibv_mr *, ibv_reg_mr_ex, (struct ibv_pd *pd, struct ibv_mr_init_attr *init), (pd, init),
    pd->context, SEAM_MADE(MR))

/* clang-format on */

void soft_ibv_free_buf(struct ibv_buf *buf);
void ibv_free_buf(struct ibv_buf *buf);

SEAM_ENDING(ibv_free_buf, (struct ibv_buf * buf), (buf), SEAM_NOTHING, if (buf) SEAM_ENDED(BUFFER))

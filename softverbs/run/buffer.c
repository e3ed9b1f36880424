/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * buffer -- memory that ibv_alloc_buf() has for a program, and the registration by ibv_reg_mr_ex()
 *
 * Functions of libibverbs 1.17 and 1.15.  The headers of older releases do not declare them, so the
 * structures stand here.
 */
#include "softverbs/device/cancel.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

struct ibv_buf {
	struct ibv_pd *pd;
	void *addr;
	size_t size;
};

/* Of enum ibv_mr_init_attr_mask. */
enum {
	MASK_IOVA = 1,
	MASK_ADDR = 2,
	MASK_FD = 4,
	MASK_FD_OFFSET = 8,
	MASK_DMAH = 16,
	MASK_BUF = 32
};

struct ibv_mr_init_attr;

/* All of struct ibv_mr_init_attr; releases before 1.17 end before the last member. */
struct registration {
	size_t length;
	int access;
	uint64_t comp_mask;
	uint64_t iova;
	void *addr;
	int fd;
	uint64_t fd_offset;
	void *dmah;
	struct ibv_buf *buf;
};

#undef ibv_reg_mr
void *soft_ibv_alloc_buf(struct ibv_pd *pd, size_t size, struct ibv_buf **buf);
void soft_ibv_free_buf(struct ibv_buf *buf);
struct ibv_mr *soft_ibv_reg_buf_mr(
    struct ibv_pd *pd, struct ibv_buf *buf, void *addr, size_t length, int access);
int ibv_export_buf_dmabuf_fd(struct ibv_buf *buf);
struct ibv_mr *soft_ibv_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *init_attr);

static void *
buffer_fail(int error)
{
	errno = error;
	return NULL;
}

void *
soft_ibv_alloc_buf(struct ibv_pd *pd, size_t size, struct ibv_buf **buf)
{
	SOFT_UNCANCELLED;
	struct ibv_buf *made;
	void *addr;

	if (!pd || !size || !buf)
		return buffer_fail(EINVAL);
	made = malloc(sizeof *made);
	if (!made)
		return NULL;
	addr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (addr == MAP_FAILED) {
		free(made);
		return buffer_fail(ENOMEM);
	}
	*made = (struct ibv_buf){ .pd = pd, .addr = addr, .size = size };
	*buf = made;
	return addr;
}

void
soft_ibv_free_buf(struct ibv_buf *buf)
{
	SOFT_UNCANCELLED;
	if (!buf)
		return;
	munmap(buf->addr, buf->size);
	free(buf);
}

/* All of the region is in the buffer. */
static int
buffer_is_within(const struct ibv_buf *buf, const void *addr, size_t length)
{
	const uintptr_t offset = (uintptr_t)addr - (uintptr_t)buf->addr;

	return (uintptr_t)addr >= (uintptr_t)buf->addr && offset <= buf->size &&
	       length <= buf->size - offset;
}

struct ibv_mr *
soft_ibv_reg_buf_mr(struct ibv_pd *pd, struct ibv_buf *buf, void *addr, size_t length, int access)
{
	SOFT_UNCANCELLED;
	if (!buf || buf->pd != pd || !buffer_is_within(buf, addr, length))
		return buffer_fail(EINVAL);
	return soft_ibv_reg_mr(pd, addr, length, access);
}

/* The memory is no dma-buf. */
int
ibv_export_buf_dmabuf_fd(struct ibv_buf *buf)
{
	errno = buf ? ENODATA : EINVAL;
	return -1;
}

struct ibv_mr *
soft_ibv_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *init_attr)
{
	SOFT_UNCANCELLED;
	const struct registration *attr = (const struct registration *)init_attr;
	const uint64_t mask = attr->comp_mask;

	if (mask &
	    ~(uint64_t)(MASK_IOVA | MASK_ADDR | MASK_FD | MASK_FD_OFFSET | MASK_DMAH | MASK_BUF))
		return buffer_fail(EOPNOTSUPP);
	if (mask & MASK_BUF) {
		if (!(mask & MASK_ADDR) || mask & (MASK_FD | MASK_FD_OFFSET))
			return buffer_fail(EINVAL);
		if (!attr->buf || attr->buf->pd != pd ||
		    !buffer_is_within(attr->buf, attr->addr, attr->length))
			return buffer_fail(EINVAL);
	}
	/*
	 * As the other ways to register memory of dma-bufs, and steering tags, which this device
	 * does not have.
	 */
	if (mask & (MASK_FD | MASK_FD_OFFSET | MASK_DMAH))
		return buffer_fail(EOPNOTSUPP);
	if (!(mask & MASK_ADDR))
		return buffer_fail(EINVAL);
	if (mask & MASK_IOVA)
		return soft_ibv_reg_mr_iova2(
		    pd, attr->addr, attr->length, attr->iova, (unsigned int)attr->access);
	return soft_ibv_reg_mr(pd, attr->addr, attr->length, attr->access);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "ports.h"
#include "runtime.h"
#include "slot.h"

#include <stdlib.h>

#define RANGE_FIRST 49152
#define RANGE_COUNT 16384
#define BLOCK_SIZE  64

struct block {
	LIST_ENTRY(block) link;
	uint16_t port_space;
	uint16_t first;
	int fd;
	uint64_t used;
};

static LIST_HEAD(, block) blocks = LIST_HEAD_INITIALIZER(blocks);

static uint16_t
first_of(uint16_t port)
{
	return (uint16_t)(port / BLOCK_SIZE * BLOCK_SIZE);
}

static struct block *
find(uint16_t port_space, uint16_t port)
{
	struct block *block;

	LIST_FOREACH(block, &blocks, link)
		if (block->port_space == port_space && block->first == first_of(port))
			return block;
	return NULL;
}

static int
bind_block(uint16_t port_space, uint16_t first)
{
	return soft_name_bind("softverbs.1.ports.%04x.%u", port_space, first);
}

int
soft_port_socket(uint16_t port_space, uint16_t port)
{
	return soft_name_bind("softverbs.1.port.%04x.%u", port_space, port);
}

/* 0 if nobody has bound the port by name, -EADDRINUSE, or why that cannot be told. */
static int
probe_port(uint16_t port_space, uint16_t port)
{
	int fd = soft_port_socket(port_space, port);

	if (fd < 0)
		return fd;
	soft_close(fd);
	return 0;
}

static int
lend(struct block *block, uint16_t *port)
{
	uint32_t start = soft_random32(), i;
	int r;

	for (uint32_t k = 0; k < BLOCK_SIZE; k++) {
		i = (start + k) % BLOCK_SIZE;
		if (block->used >> i & 1)
			continue;
		r = probe_port(block->port_space, (uint16_t)(block->first + i));
		if (r == -EADDRINUSE)
			continue;
		if (r)
			return r;
		block->used |= 1ull << i;
		*port = (uint16_t)(block->first + i);
		return 0;
	}
	return -EADDRINUSE;
}

static void
free_block(struct block *block)
{
	LIST_REMOVE(block, link);
	soft_close(block->fd);
	free(block);
}

static int
new_block(uint16_t port_space, struct block **out)
{
	uint32_t start = soft_random32(), count = RANGE_COUNT / BLOCK_SIZE;
	struct block *block;
	uint16_t first;
	int fd = -EADDRINUSE;

	block = calloc(1, sizeof *block);
	if (!block)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		first = (uint16_t)(RANGE_FIRST + (start + i) % count * BLOCK_SIZE);
		fd = bind_block(port_space, first);
		if (fd == -EADDRINUSE)
			continue;
		if (fd < 0)
			break;
		*block = (struct block){ .port_space = port_space, .first = first, .fd = fd };
		LIST_INSERT_HEAD(&blocks, block, link);
		*out = block;
		return 0;
	}
	free(block);
	return fd;
}

int
soft_port_any(uint16_t port_space, uint16_t *port)
{
	struct block *block;
	int r;

	LIST_FOREACH(block, &blocks, link) {
		if (block->port_space != port_space || !~block->used)
			continue;
		r = lend(block, port);
		if (r != -EADDRINUSE)
			return r ? r : SOFT_PORT_LENT;
	}
	for (int i = 0; i < 8; i++) {
		r = new_block(port_space, &block);
		if (r)
			return r;
		r = lend(block, port);
		if (!r)
			return SOFT_PORT_LENT;
		/* A block that has lent nothing would not be returned with the last port. */
		free_block(block);
		if (r != -EADDRINUSE)
			return r;
	}
	return -EADDRINUSE;
}

int
soft_port_take(uint16_t port_space, uint16_t port)
{
	struct block *own = find(port_space, port);
	int fd, probe;

	fd = soft_port_socket(port_space, port);
	if (fd < 0 || port < RANGE_FIRST)
		return fd;
	if (own) {
		own->used |= 1ull << (port % BLOCK_SIZE);
		return fd;
	}
	probe = bind_block(port_space, first_of(port));
	if (probe >= 0) {
		soft_close(probe);
		return fd;
	}
	soft_close(fd);
	return probe;
}

void
soft_port_return(uint16_t port_space, uint16_t port)
{
	struct block *block = find(port_space, port);

	if (!block)
		return;
	block->used &= ~(1ull << (port % BLOCK_SIZE));
	if (!block->used)
		free_block(block);
}

void
soft_ports_reset(void)
{
	struct block *block;

	LIST_FOREACH(block, &blocks, link)
		soft_close(block->fd);
	soft_runtime_abandon(LIST_FIRST(&blocks));
	LIST_INIT(&blocks);
}

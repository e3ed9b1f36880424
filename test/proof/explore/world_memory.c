/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of a run: every block is known, freed ones are poisoned. */
#include "world.h"
#include "world_parts.h"

#include <stdlib.h>
#include <string.h>

#define ARENA_SIZE (256 * 1024)
#define BLOCKS 256
#define POISON 0xdb
#define RED_ZONE 16 /* after each block; an overrun writes to it */
#define RED 0xb5
#define LIVE 0x4c495645u
#define DEAD 0x44454144u

struct block {
	uint32_t mark;
	uint32_t size;
	const struct os_site *site;
};

static unsigned char arena[ARENA_SIZE] __attribute__((aligned(16)));
static size_t arena_used;
static struct block *blocks[BLOCKS]; /* all of this run, the freed ones too */
static unsigned int n_blocks, n_live;
static bool use_heap; /* under a sanitizer, which then judges every access */

void
world_memory_reset(void)
{
	use_heap = context_is_asan() || context_is_tsan();
	for (unsigned int i = 0; use_heap && i < n_blocks; i++)
		if (blocks[i]->mark == LIVE)
			free(blocks[i]);
	arena_used = 0;
	n_blocks = n_live = 0;
}

void *
world_alloc(size_t count, size_t size, const struct os_site *site)
{
	size_t bytes = ((count * size + 15) & ~(size_t)15) + RED_ZONE;
	struct block *block;

	sched_point_minor(OP_ALLOC, OBJECT_WORLD, site);
	if (world_fails(FAULT_ALLOC, site)) {
		errno = ENOMEM;
		return NULL;
	}
	if (use_heap) {
		block = calloc(1, sizeof *block + count * size);
	} else {
		block = (struct block *)(arena + arena_used);
		arena_used += sizeof *block + bytes;
		if (arena_used <= ARENA_SIZE) {
			memset(block, 0, sizeof *block + bytes);
			memset(
			    (unsigned char *)(block + 1) + count * size, RED, bytes - count * size);
		} else {
			block = NULL;
		}
	}
	if (!block || n_blocks == BLOCKS) {
		fprintf(stderr, "explore: the scenario wants more memory than there is\n");
		exit(2);
	}
	*block = (struct block){ LIVE, (uint32_t)(count * size), site };
	blocks[n_blocks++] = block;
	n_live++;
	return block + 1;
}

static void
check_end(const struct block *block)
{
	const unsigned char *end = (const unsigned char *)(block + 1) + block->size;

	for (unsigned int i = 0; !use_heap && i < RED_ZONE; i++)
		if (end[i] != RED)
			violation("%u bytes allocated by %s are written to past their end",
			    block->size, block->site->function);
}

void
world_free(void *p, const struct os_site *site)
{
	struct block *block = p;

	sched_point_minor(OP_FREE, OBJECT_WORLD, site);
	if (!p)
		return;
	block--;
	if (use_heap) {
		for (unsigned int i = 0; i < n_blocks; i++)
			if (blocks[i] == block)
				blocks[i] = blocks[--n_blocks];
	} else if (block->mark != LIVE) {
		violation("%s frees what is not allocated", site->function);
	}
	check_end(block);
	block->mark = DEAD;
	n_live--;
	if (use_heap)
		free(block);
	else
		memset(p, POISON, block->size);
}

void
world_memory_check(void)
{
	for (unsigned int i = 0; n_live && i < n_blocks; i++)
		if (blocks[i]->mark == LIVE)
			violation("memory leak: %u bytes allocated by %s", blocks[i]->size,
			    blocks[i]->site->function);
}

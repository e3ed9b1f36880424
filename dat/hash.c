/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "dat/hash.h"

enum { FIRST_SIZE = 16 };

static struct hash_node **
hash_bucket_of(struct hash *table, uint64_t hash)
{
	return table->buckets != NULL ? &table->buckets[hash & (table->size - 1)] : &table->only;
}

static void
hash_push(struct hash *table, struct hash_node *node)
{
	struct hash_node **bucket = hash_bucket_of(table, node->hash);

	node->next = *bucket;
	*bucket = node;
	table->count++;
}

static void
hash_grow(struct hash *table)
{
	struct hash bigger = { .size = table->size == 0 ? FIRST_SIZE : table->size * 2 };
	struct hash_node *node, *next;
	size_t i;

	bigger.buckets = calloc(bigger.size, sizeof *bigger.buckets);
	if (bigger.buckets == NULL)
		return;
	for (i = 0; i == 0 || i < table->size; i++)
		for (node = *hash_bucket_of(table, i); node != NULL; node = next) {
			next = node->next;
			hash_push(&bigger, node);
		}
	free(table->buckets);
	*table = bigger;
}

void
hash_add(struct hash *table, struct hash_node *node, uint64_t hash)
{
	if (table->count >= table->size)
		hash_grow(table);
	node->hash = hash;
	hash_push(table, node);
}

void
hash_remove(struct hash *table, struct hash_node *node)
{
	struct hash_node **link = hash_bucket_of(table, node->hash);

	while (*link != node)
		link = &(*link)->next;
	*link = node->next;
	table->count--;
}

/* The first node with this hash from here on. */
static struct hash_node *
hash_is_same(struct hash_node *node, uint64_t hash)
{
	while (node != NULL && node->hash != hash)
		node = node->next;
	return node;
}

struct hash_node *
hash_first(struct hash *table, uint64_t hash)
{
	return hash_is_same(*hash_bucket_of(table, hash), hash);
}

struct hash_node *
hash_next(const struct hash_node *node)
{
	return hash_is_same(node->next, node->hash);
}

void
hash_clear(struct hash *table)
{
	free(table->buckets);
	*table = (struct hash){ .buckets = NULL };
}

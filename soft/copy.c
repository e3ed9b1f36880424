/* SPDX-License-Identifier: BSD-3-Clause */
#include "copy.h"

#include <string.h>

/* Registration waits no longer than a copy of so many bytes takes. */
#define HOLD_BYTES (1u << 20)

/* Bytes until the end of the current segment, after skipping empty and finished ones. */
static uint64_t
room(struct soft_cursor *cursor, uint64_t wanted)
{
	if (cursor->raw)
		return wanted;
	while (cursor->left && cursor->offset == cursor->sge->length) {
		cursor->sge++;
		cursor->left--;
		cursor->offset = 0;
	}
	return cursor->left ? cursor->sge->length - cursor->offset : 0;
}

static void *
locate(const struct soft_cursor *cursor, uint64_t length)
{
	if (cursor->raw)
		return cursor->raw;
	return soft_mr_translate(cursor->pd, cursor->sge->lkey, cursor->sge->addr + cursor->offset,
	    length, cursor->access);
}

static void
advance(struct soft_cursor *cursor, uint64_t length)
{
	if (cursor->raw)
		cursor->raw += length;
	else
		cursor->offset += (uint32_t)length;
}

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
/* memmove() reports to the sanitizer wherever it is called; volatile keeps the loop one. */
SOFT_FOREIGN_ACCESS static void
land(char *to, const char *from, uint64_t length)
{
	for (uint64_t i = 0; i < length; i++)
		((volatile char *)to)[i] = from[i];
}
#else
#define land memmove
#endif

static enum soft_copy_result
copy_held(struct soft_cursor *target, struct soft_cursor *source, uint64_t length)
{
	uint64_t piece, other;
	void *to, *from;

	while (length) {
		piece = room(source, length);
		other = room(target, length);
		if (other < piece)
			piece = other;
		if (length < piece)
			piece = length;
		from = locate(source, piece);
		if (!from)
			return SOFT_SOURCE_FAULT;
		to = locate(target, piece);
		if (!to)
			return SOFT_TARGET_FAULT;
		if (source->foreign)
			land(to, from, piece);
		else
			memmove(to, from, piece);
		advance(source, piece);
		advance(target, piece);
		length -= piece;
	}
	return SOFT_COPIED;
}

enum soft_copy_result
soft_copy(struct soft_cursor *target, struct soft_cursor *source, uint64_t length)
{
	enum soft_copy_result result = SOFT_COPIED;
	uint64_t piece;

	while (length && result == SOFT_COPIED) {
		piece = length < HOLD_BYTES ? length : HOLD_BYTES;
		soft_mr_read_lock();
		result = copy_held(target, source, piece);
		soft_mr_unlock();
		length -= piece;
	}
	return result;
}

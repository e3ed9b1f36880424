/* SPDX-License-Identifier: BSD-3-Clause */
#include "copy.h"

#include <string.h>

/* Registration waits for a copy of at most this many bytes. */
#define HOLD_BYTES (1u << 20)

/* Bytes until the end of the current segment, after skipping empty and finished ones. */
static uint64_t
copy_cursor_room(struct soft_cursor *cursor, uint64_t wanted)
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
copy_cursor_locate(const struct soft_cursor *cursor, uint64_t length)
    REQUIRES_SHARED(soft_locks.keys)
{
	if (cursor->raw)
		return cursor->raw;
	return soft_key_translate(cursor->pd, cursor->qp, cursor->sge->lkey,
	    cursor->sge->addr + cursor->offset, length, cursor->access);
}

static void
copy_cursor_advance(struct soft_cursor *cursor, uint64_t length)
{
	if (cursor->raw)
		cursor->raw += length;
	else
		cursor->offset += (uint32_t)length;
}

/*
 * Programs poll the last byte or word of a message instead of its completion.  memmove() stores in
 * any order, so the end of every piece is stored after it, by single stores that do not tear.  It
 * begins at a word's boundary and holds at least the last 8 bytes.
 */
#define WORD sizeof(uint64_t)
#define END_MAX (2 * WORD)

#if SOFT_TSAN
#include <sanitizer/tsan_interface.h>
#else
#define __tsan_release(address) ((void)(address))
#endif

/* ThreadSanitizer orders accesses by address, and the program may poll any of these bytes. */
static inline void
copy_announce(char *to, size_t length)
{
	for (size_t i = 0; SOFT_TSAN && i < length; i++)
		__tsan_release(to + i);
}

/*
 * copy_announce() states for each byte what the stores of a word state for its first byte alone.
 * So the sanitizer does not see these stores; otherwise it takes them for later than the
 * announcement.
 */
#if SOFT_TSAN
#define LAST_STORE SOFT_FOREIGN_ACCESS
#else
#define LAST_STORE
#endif

LAST_STORE static void
copy_store_word(char *to, uint64_t word)
{
	__atomic_store_n((__attribute__((may_alias)) uint64_t *)(void *)to, word, __ATOMIC_RELEASE);
}

#define STORE(type) \
	do { \
		type value_; \
		memcpy(&value_, from, sizeof value_); \
		__atomic_store_n( \
		    (__attribute__((may_alias)) type *)(void *)to, value_, __ATOMIC_RELEASE); \
		to += sizeof value_; \
		from += sizeof value_; \
		length -= sizeof value_; \
	} while (0)

/* Stores the end of a piece, in order of address. */
LAST_STORE static void
copy_store_end(char *to, const char *from, size_t length)
{
	while (length) {
		if (length >= 8 && (uintptr_t)to % 8 == 0)
			STORE(uint64_t);
		else if (length >= 4 && (uintptr_t)to % 4 == 0)
			STORE(uint32_t);
		else if (length >= 2 && (uintptr_t)to % 2 == 0)
			STORE(uint16_t);
		else
			STORE(uint8_t);
	}
}

/* A piece that is shorter than a word, or does not end at a word's boundary. */
static void
copy_move_ragged(char *to, const char *from, uint64_t length)
{
	char end[END_MAX];
	size_t n = length;

	if (length < END_MAX) {
		memcpy(end, from, n);
		copy_announce(to, n);
		copy_store_end(to, end, n);
	} else {
		n = WORD + (uintptr_t)(to + length) % WORD;
		memcpy(end, from + length - END_MAX, END_MAX);
		memmove(to, from, length - n);
		copy_announce(to + length - n, n);
		copy_store_end(to + length - n, end + END_MAX - n, n);
	}
}

/* The ranges may overlap: the end is read before anything is stored. */
static void
copy_move(char *to, const char *from, uint64_t length)
{
	uint64_t end;

	if (length < WORD || (uintptr_t)(to + length) % WORD) {
		copy_move_ragged(to, from, length);
		return;
	}
	length -= WORD;
	memcpy(&end, from + length, WORD);
	if (length)
		memmove(to, from, length);
	copy_announce(to + length, WORD);
	copy_store_word(to + length, end);
}

#if SOFT_TSAN
/* memmove() reports to the sanitizer wherever it is called. */
SOFT_FOREIGN_ACCESS static void
copy_move_foreign(char *to, const char *from, uint64_t length)
{
	for (uint64_t i = 0; i < length; i++)
		__atomic_store_n(&to[i], from[i], __ATOMIC_RELEASE);
}
#else
#define copy_move_foreign copy_move
#endif

static enum soft_copy_result
copy_held(struct soft_cursor *target, struct soft_cursor *source, uint64_t length)
    REQUIRES_SHARED(soft_locks.keys)
{
	uint64_t piece, other;
	void *to, *from;

	while (length) {
		piece = copy_cursor_room(source, length);
		other = copy_cursor_room(target, length);
		if (other < piece)
			piece = other;
		if (length < piece)
			piece = length;
		from = copy_cursor_locate(source, piece);
		if (!from)
			return SOFT_SOURCE_FAULT;
		to = copy_cursor_locate(target, piece);
		if (!to)
			return SOFT_TARGET_FAULT;
		if (source->foreign)
			copy_move_foreign(to, from, piece);
		else
			copy_move(to, from, piece);
		copy_cursor_advance(source, piece);
		copy_cursor_advance(target, piece);
		length -= piece;
	}
	return SOFT_COPIED;
}

static enum soft_copy_result
copy_locked(
    struct soft_cursor *target, struct soft_cursor *source, uint64_t length) SOFT_NO_KEYS_LOCK
{
	enum soft_copy_result result;

	soft_keys_lock_shared();
	result = copy_held(target, source, length);
	soft_keys_unlock_shared();
	return result;
}

/* The keys are not locked while the other process may let us wait. */
static enum soft_copy_result
copy_pull(
    struct soft_cursor *target, const struct soft_pull *pull, uint64_t length) SOFT_NO_FETCH_LOCK
{
	enum soft_copy_result result = SOFT_SOURCE_FAULT;
	struct soft_cursor source = { 0 };

	soft_fetch_lock();
	source.raw = soft_pull_read(pull);
	if (source.raw)
		result = copy_locked(target, &source, length);
	soft_fetch_unlock();
	return result;
}

enum soft_copy_result
soft_copy(struct soft_cursor *target, struct soft_cursor *source, uint64_t length)
{
	enum soft_copy_result result = SOFT_COPIED;
	uint64_t piece;

	if (source->pull)
		return copy_pull(target, source->pull, length);
	while (length && result == SOFT_COPIED) {
		piece = length < HOLD_BYTES ? length : HOLD_BYTES;
		result = copy_locked(target, source, piece);
		length -= piece;
	}
	return result;
}

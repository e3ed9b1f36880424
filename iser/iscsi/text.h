/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * text -- key=value pairs, as logins and text requests carry them
 *
 * What arrives is hostile: lengths, numbers of pairs and characters are checked before anything is
 * made of it.
 */
#ifndef ISER_ISCSI_TEXT_H
#define ISER_ISCSI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEXT_KEY_BYTES 63 /* of a key, RFC 7143 6.1 */
#define TEXT_VALUE_BYTES \
	4096		 /* of a value: a CHAP challenge of 1024 bytes in hexadecimal is 2050 */
#define TEXT_PAIRS 64	 /* in one request */
#define TEXT_BYTES 16384 /* of one request, over all of its PDUs */

struct text_pair {
	char *key, *value;
};

/*
 * Splits `length` bytes in place: pairs, each ended by a 0; empty ones are skipped.  Their number,
 * or -EBADMSG: no = or no 0, a key or a value that is too long or has characters that it must not
 * have; -E2BIG: more than TEXT_PAIRS.
 */
int text_split(char *text, size_t length, struct text_pair pairs[TEXT_PAIRS]);

/* An answer under construction.  Once something did not fit, `overflow` stays true. */
struct text_out {
	char *at;
	size_t size, used;
	bool overflow;
};

void text_add(struct text_out *out, const char *key, const char *value);
void text_add_number(struct text_out *out, const char *key, uint64_t value);

/* A decimal or 0x number of at most `most`: true. */
bool text_number(const char *value, uint64_t most, uint64_t *ret_number);

/* "Yes" and "No": true. */
bool text_boolean(const char *value, bool *ret_boolean);

/* Whether the list, separated by commas, has the item. */
bool text_list_has(const char *list, const char *item);

/*
 * 0x... or 0b..., RFC 7143 6.1: the number of bytes, or -EBADMSG if it is none or they are more
 * than `size`.
 */
int text_binary(const char *value, unsigned char *bytes, size_t size);

#endif

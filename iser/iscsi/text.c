/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/iscsi/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool
key_is_valid(const char *key, size_t length)
{
	if (length == 0 || length > TEXT_KEY_BYTES || !isalpha((unsigned char)key[0]))
		return false;
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)key[i]) && !memchr(".-+@_#", key[i], 6))
			return false;
	return true;
}

/* Names of initiators may be UTF-8; bytes that end a line or move a cursor are in no value. */
static bool
value_is_valid(const char *value, size_t length)
{
	if (length > TEXT_VALUE_BYTES)
		return false;
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)value[i] < ' ' || value[i] == 0x7f)
			return false;
	return true;
}

int
text_split(char *text, size_t length, struct text_pair pairs[TEXT_PAIRS])
{
	char *end = text + length, *next;
	int count = 0;

	for (; text < end; text = next) {
		char *stop = memchr(text, 0, (size_t)(end - text)), *equal;

		if (!stop)
			return -EBADMSG;
		next = stop + 1;
		if (stop == text)
			continue;
		equal = memchr(text, '=', (size_t)(stop - text));
		if (!equal || !key_is_valid(text, (size_t)(equal - text)) ||
		    !value_is_valid(equal + 1, (size_t)(stop - equal - 1)))
			return -EBADMSG;
		if (count == TEXT_PAIRS)
			return -E2BIG;
		*equal = '\0';
		pairs[count++] = (struct text_pair){ text, equal + 1 };
	}
	return count;
}

void
text_add(struct text_out *out, const char *key, const char *value)
{
	size_t room = out->size - out->used;
	int n = snprintf(out->at + out->used, room, "%s=%s", key, value);

	if (n < 0 || (size_t)n >= room)
		out->overflow = true;
	else
		out->used += (size_t)n + 1;
}

void
text_add_number(struct text_out *out, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof text, "%llu", (unsigned long long)value);
	text_add(out, key, text);
}

bool
text_number(const char *value, uint64_t most, uint64_t *ret_number)
{
	bool hex = value[0] == '0' && (value[1] == 'x' || value[1] == 'X');
	unsigned long long number;
	char *end;

	if (hex)
		value += 2;
	if (hex ? !isxdigit((unsigned char)*value) : !isdigit((unsigned char)*value))
		return false;
	errno = 0;
	number = strtoull(value, &end, hex ? 16 : 10);
	if (errno || *end || number > most)
		return false;
	*ret_number = number;
	return true;
}

bool
text_boolean(const char *value, bool *ret_boolean)
{
	*ret_boolean = strcmp(value, "Yes") == 0;
	return *ret_boolean || strcmp(value, "No") == 0;
}

bool
text_list_has(const char *list, const char *item)
{
	size_t length = strlen(item);

	for (;; list++) {
		size_t span = strcspn(list, ",");

		if (span == length && memcmp(list, item, span) == 0)
			return true;
		list += span;
		if (!*list)
			return false;
	}
}

static int
digit(const char *digits, char c)
{
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

static int
hexadecimal(const char *text, unsigned char *bytes, size_t size)
{
	size_t length = strlen(text), n = (length + 1) / 2;

	if (length == 0 || n > size)
		return -EBADMSG;
	memset(bytes, 0, n);
	for (size_t i = 0; i < length; i++) {
		int d = digit("0123456789abcdef", (char)tolower((unsigned char)text[i]));
		size_t nibble = i + (length & 1); /* an odd one has a 0 in front */

		if (d < 0)
			return -EBADMSG;
		bytes[nibble / 2] |= (unsigned char)(nibble & 1 ? d : d << 4);
	}
	return (int)n;
}

static int
base64(const char *text, unsigned char *bytes, size_t size)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t length = strlen(text), n = 0;
	uint32_t bits = 0;
	unsigned int have = 0;

	while (length > 0 && text[length - 1] == '=')
		length--;
	if (length == 0 || length % 4 == 1)
		return -EBADMSG;
	for (size_t i = 0; i < length; i++) {
		int d = digit(digits, text[i]);

		if (d < 0)
			return -EBADMSG;
		bits = bits << 6 | (uint32_t)d;
		have += 6;
		if (have < 8)
			continue;
		have -= 8;
		if (n == size)
			return -EBADMSG;
		bytes[n++] = (unsigned char)(bits >> have);
	}
	return (int)n;
}

int
text_binary(const char *value, unsigned char *bytes, size_t size)
{
	if (value[0] != '0')
		return -EBADMSG;
	if (value[1] == 'x' || value[1] == 'X')
		return hexadecimal(value + 2, bytes, size);
	if (value[1] == 'b' || value[1] == 'B')
		return base64(value + 2, bytes, size);
	return -EBADMSG;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUTATED 236 /* of 256: the more is wrong, the less is reached */

static const uint8_t *next;
static size_t left;

void
fuzz_found(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	abort();
}

void
input_set(const uint8_t *data, size_t length)
{
	next = data;
	left = length;
}

size_t
input_left(void)
{
	return left;
}

uint8_t
input8(void)
{
	if (!left)
		return 0;
	left--;
	return *next++;
}

uint16_t
input16(void)
{
	const unsigned int low = input8();

	return (uint16_t)(low | (unsigned int)input8() << 8);
}

uint32_t
input32(void)
{
	const uint32_t low = input16();

	return low | (uint32_t)input16() << 16;
}

uint32_t
input_below(uint32_t limit)
{
	return limit > 256 ? input16() % limit : input8() % limit;
}

void
input_mutate(void *bytes, size_t length)
{
	static const uint64_t values[] = { 0, 1, 7, 8, 64, 127, 128, 129, 0xff, 0xfffe, 0xffff,
		0x10000, 0x10001, 0xffffff, 0x1000000, 1u << 30, (1u << 30) + 1, 0x7fffffff,
		0x80000000u, 0xffffffffu, 0x7fffffffffffffffull, UINT64_MAX };
	const unsigned int dice = input8();

	for (unsigned int i = 0; dice >= MUTATED && i <= dice % 3; i++) {
		const size_t width = (size_t)1 << input_below(4),
			     at = input_below((uint32_t)length);
		const unsigned int how = input8();
		uint64_t value = 0;

		if (at + width > length)
			continue;
		memcpy(&value, (char *)bytes + at, width);
		if (how < 80)
			value = values[how % (sizeof values / sizeof values[0])];
		else if (how < 120)
			value ^= 1ull << how % (8 * width);
		else if (how < 160)
			value += how & 1 ? 1 : UINT64_MAX;
		else
			value = (uint64_t)input32() << 32 | input32();
		memcpy((char *)bytes + at, &value, width);
	}
}

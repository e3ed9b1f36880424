/* SPDX-License-Identifier: BSD-3-Clause */
#include "lot.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint64_t state;

void
lot_begin(unsigned int number)
{
	state = 0x9e3779b97f4a7c15ull * (number + 1);
	for (int i = 0; i < 8; i++)
		(void)lot_draw(2);
}

unsigned int
lot_draw(unsigned int n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned int)((state >> 20) % n);
}

bool
lot_one_in(unsigned int n)
{
	return lot_draw(n) == 0;
}

void
lot_add(char *to, size_t size, const char *format, ...)
{
	size_t n = strlen(to);
	va_list args;

	va_start(args, format);
	vsnprintf(to + n, size - n, format, args);
	va_end(args);
}

void
lot_add_action(
    char *to, size_t size, const char *action, char evd, unsigned int cnos, unsigned int eps)
{
	for (; *action; action++) {
		const char c = *action == '%' ? evd :
			       *action == '#' ? (char)('n' + lot_draw(cnos)) :
			       *action == '@' ? (char)('e' + lot_draw(eps)) :
						*action;

		lot_add(to, size, "%c", c);
	}
}

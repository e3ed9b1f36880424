/* SPDX-License-Identifier: BSD-3-Clause */
#include "show.h"

const char *
soft_show(char *to, size_t size, const char *text)
{
	static const char digits[] = "0123456789abcdef";
	char *out = to, *const end = to + size - 1;

	for (; *text; text++) {
		const unsigned char byte = (unsigned char)*text;

		if (end - out < (byte >= ' ' && byte <= '~' ? 1 : 4))
			break;
		if (byte >= ' ' && byte <= '~') {
			*out++ = *text;
			continue;
		}
		*out++ = '\\';
		*out++ = 'x';
		*out++ = digits[byte >> 4];
		*out++ = digits[byte & 15];
	}
	*out = '\0';
	return to;
}

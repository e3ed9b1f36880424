/* SPDX-License-Identifier: BSD-3-Clause */
#include "json.h"

void
soft_json_print(FILE *stream, const char *text)
{
	fputc('"', stream);
	for (; *text; text++)
		if (*text == '"' || *text == '\\')
			fprintf(stream, "\\%c", *text);
		else if ((unsigned char)*text < ' ')
			fprintf(stream, "\\u%04x", (unsigned char)*text);
		else if ((unsigned char)*text > '~')
			fputs("\\ufffd", stream);
		else
			fputc(*text, stream);
	fputc('"', stream);
}

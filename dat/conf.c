/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <dat2/udat.h>

#include "dat/conf.h"
#include "dat/log.h"

enum {
	FIELDS = 8,
	LINE_MAX_BYTES = 16384,
	FILE_MAX_BYTES = 4 << 20 /* also limits the reading of a device file */
};

enum field {
	IA_NAME,
	API_VERSION,
	THREAD_SAFETY,
	DEFAULT,
	LIBRARY,
	PROVIDER_VERSION,
	IA_PARAMS,
	PLATFORM_PARAMS
};

/* The name of the field in messages, and its maximum length in bytes. */
static const struct {
	const char *name;
	size_t max;
} field_rules[FIELDS] = {
	[IA_NAME] = { "interface name", DAT_NAME_MAX_LENGTH - 1 },
	[API_VERSION] = { "API version", 31 },
	[THREAD_SAFETY] = { "thread safety", 31 },
	[DEFAULT] = { "default", 31 },
	[LIBRARY] = { "library path", PATH_MAX - 1 },
	[PROVIDER_VERSION] = { "provider version", 255 },
	[IA_PARAMS] = { "interface parameters", 4095 },
	[PLATFORM_PARAMS] = { "platform parameters", 4095 },
};

struct parser {
	FILE *in;
	const char *name;
	unsigned int line;
	size_t bytes;			       /* bytes of the whole file so far */
	size_t length;			       /* of the text */
	char text[LINE_MAX_BYTES + 1];	       /* the line */
	char cut[LINE_MAX_BYTES + FIELDS + 1]; /* the fields, each with a NUL after it */
	char *fields[FIELDS];		       /* within cut */
	int count;
};

static void __attribute__((format(printf, 2, 3)))
conf_refuse(const struct parser *p, const char *format, ...)
{
	char reason[256];
	va_list args;

	va_start(args, format);
	vsnprintf(reason, sizeof reason, format, args);
	va_end(args);
	log_message(LOG_ERRORS, "%s:%u: %s; line ignored", p->name, p->line, reason);
}

/* A field as it is shown in a message: short. */
static const char *
conf_shown(const char *field, char out[static 44])
{
	snprintf(out, 44, "%.40s%s", field, strlen(field) > 40 ? "..." : "");
	return out;
}

/* Of UTF-8. */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

enum line_result { LINE_GOOD, LINE_BAD, LINE_END, LINE_BROKEN };

/* Reads one line.  A bad line has caused a message when this returns. */
static enum line_result
conf_read_line(struct parser *p)
{
	const char *reason = NULL;
	int c;

	p->length = 0;
	p->line++;
	while ((c = getc_unlocked(p->in)) != EOF && c != '\n') {
		if (++p->bytes > FILE_MAX_BYTES) {
			log_message(LOG_ERRORS,
			    "%s:%u: the file is larger than %d bytes; "
			    "the rest is ignored",
			    p->name, p->line, FILE_MAX_BYTES);
			return LINE_END;
		}
		if (p->length == LINE_MAX_BYTES)
			reason = "the line is longer than 16384 bytes";
		else
			p->text[p->length++] = (char)c;
	}
	if (c == EOF && ferror(p->in)) {
		log_message(LOG_ERRORS, "cannot read %s: %s", p->name, strerror(errno));
		return LINE_BROKEN;
	}
	if (c == EOF && p->length == 0 && reason == NULL)
		return LINE_END;
	p->bytes++;
	p->text[p->length] = '\0';
	/* Editors of other systems begin a text with this mark, which is no part of it. */
	if (p->line == 1 && strncmp(p->text, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0)
		memmove(p->text, p->text + strlen(BYTE_ORDER_MARK),
		    (p->length -= strlen(BYTE_ORDER_MARK)) + 1);
	if (reason == NULL && memchr(p->text, '\0', p->length) != NULL)
		reason = "the line has a NUL byte in it";
	if (reason == NULL && memchr(p->text, '\r', p->length) != NULL)
		reason = "the line has a carriage return in it (a text file of another system?)";
	if (reason != NULL) {
		conf_refuse(p, "%s", reason);
		return LINE_BAD;
	}
	return LINE_GOOD;
}

static bool
conf_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

/*
 * Copies the text between quotes.  Returns the position after them, or NULL if they are not closed.
 */
static char *
conf_take_quoted(char *in, char **out)
{
	for (in++; *in != '"'; in++) {
		if (*in == '\\' && in[1] != '\0')
			in++;
		if (*in == '\0')
			return NULL;
		*(*out)++ = *in;
	}
	return in + 1;
}

/*
 * Splits the line into fields.  A quote starts a field at any position, and the closing quote ends
 * it.  False after a message.
 */
static bool
conf_split_line(struct parser *p)
{
	char *in = p->text, *out = p->cut;

	p->count = 0;
	for (;;) {
		while (conf_is_blank(*in))
			in++;
		if (*in == '\0' || *in == '#')
			return true;
		if (p->count == FIELDS) {
			conf_refuse(
			    p, "there are more than 8 fields (quote blanks, end each line)");
			return false;
		}
		p->fields[p->count++] = out;
		if (*in == '"') {
			in = conf_take_quoted(in, &out);
			if (in == NULL) {
				conf_refuse(p, "a quote is not closed");
				return false;
			}
		} else {
			while (*in != '\0' && *in != '"' && !conf_is_blank(*in))
				*out++ = *in++;
		}
		*out++ = '\0';
	}
}

/* "MAJOR.MINOR" up to the end of the text. */
static bool
conf_parse_version(const char *text, uint32_t *major, uint32_t *minor)
{
	unsigned long long value[2];
	char *end;
	int i;

	for (i = 0; i < 2; i++) {
		if (!isdigit((unsigned char)*text))
			return false;
		errno = 0;
		value[i] = strtoull(text, &end, 10);
		if (errno != 0 || value[i] > UINT32_MAX || *end != (i == 0 ? '.' : '\0'))
			return false;
		text = end + 1;
	}
	*major = (uint32_t)value[0];
	*minor = (uint32_t)value[1];
	return true;
}

/* "ID.MAJOR.MINOR": parsed to detect mistakes, never compared. */
static bool
conf_is_provider_version(const char *text)
{
	const char *dot = strchr(text, '.');
	uint32_t major, minor;

	return dot != NULL && dot != text && conf_parse_version(dot + 1, &major, &minor);
}

/* A choice of two words. */
static bool
conf_parse_word(
    const struct parser *p, enum field field, const char *yes, const char *no, bool *value)
{
	char text[44];

	*value = strcmp(p->fields[field], yes) == 0;
	if (*value || strcmp(p->fields[field], no) == 0)
		return true;
	conf_refuse(p, "field %d is \"%s\", neither %s nor %s", field + 1,
	    conf_shown(p->fields[field], text), yes, no);
	return false;
}

/* Fills in the record.  False after a message. */
static bool
conf_parse_fields(const struct parser *p, struct conf_record *record)
{
	const char *version = p->fields[API_VERSION];
	char text[44];
	int i;

	if (p->count != FIELDS) {
		conf_refuse(p, "%d field%s where 8 are due", p->count, p->count == 1 ? "" : "s");
		return false;
	}
	for (i = 0; i < FIELDS; i++)
		if (strlen(p->fields[i]) > field_rules[i].max) {
			conf_refuse(p, "field %d (%s) is longer than %zu bytes", i + 1,
			    field_rules[i].name, field_rules[i].max);
			return false;
		}
	if (*p->fields[IA_NAME] == '\0' || *p->fields[LIBRARY] == '\0') {
		i = *p->fields[IA_NAME] == '\0' ? IA_NAME : LIBRARY;
		conf_refuse(p, "field %d (%s) is empty", i + 1, field_rules[i].name);
		return false;
	}
	if ((*version != 'u' && *version != 'k') ||
	    !conf_parse_version(version + 1, &record->major, &record->minor)) {
		conf_refuse(p, "field 2 is \"%s\", not an API version such as u2.0",
		    conf_shown(version, text));
		return false;
	}
	if (!conf_parse_word(
		p, THREAD_SAFETY, "threadsafe", "nonthreadsafe", &record->thread_safe) ||
	    !conf_parse_word(p, DEFAULT, "default", "nondefault", &record->is_default))
		return false;
	if (!conf_is_provider_version(p->fields[PROVIDER_VERSION])) {
		conf_refuse(p, "field 6 is \"%s\", not a provider version such as dapl.2.0",
		    conf_shown(p->fields[PROVIDER_VERSION], text));
		return false;
	}
	record->ia_name = p->fields[IA_NAME];
	record->for_user_space = *version == 'u';
	record->library = p->fields[LIBRARY];
	record->ia_params = p->fields[IA_PARAMS];
	record->line = p->line;
	return true;
}

int
conf_parse(FILE *in, const char *name, conf_sink_fn sink, void *arg)
{
	struct conf_record record;
	enum line_result got;
	struct parser *p;
	int r = 0;

	p = calloc(1, sizeof *p);
	if (p == NULL)
		return -ENOMEM;
	p->in = in;
	p->name = name;
	while (r == 0 && (got = conf_read_line(p)) != LINE_END) {
		if (got == LINE_BROKEN)
			r = -EIO;
		else if (got == LINE_GOOD && conf_split_line(p) && p->count > 0 &&
			 conf_parse_fields(p, &record))
			r = sink(arg, &record);
	}
	free(p);
	return r;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "print.h"
#include "settings.h"
#include "symbol.h"
#include "word.h"
#include "softverbs/device/complaint.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME_SIZE 256
#define WIDTH 100

static const char *const armed_names[] = {
	[SOFT_UNARMED] = "not armed",
	[SOFT_ARMED_SOLICITED] = "armed for solicited completions",
	[SOFT_ARMED_ANY] = "armed",
};

/* Frames of this library are left out in front of those of the program. */
static int
print_first_frame(const struct soft_site *site)
{
	int first = 0;

	while (first < site->depth && soft_symbol_is_own(site->frames[first]))
		first++;
	return first;
}

/* A frame holds the address after the call. */
static void
print_frame_name(const void *frame, char name[NAME_SIZE])
{
	char symbol[NAME_SIZE];

	soft_symbol_name((const char *)frame - 1, symbol, sizeof symbol);
	soft_show(name, NAME_SIZE, symbol); /* it may have the path of a file */
}

/*
 * Where moves of the adversary led to the report, only these are made in the replay, and each time.
 */
static void
print_replay(FILE *stream, enum soft_kind kind, const struct soft_check_queue *queue,
    const struct soft_check_state *state) REQUIRES(soft_check_locks.queue)
{
	const unsigned int moves =
	    soft_kind_moves(kind, state->moves, soft_check_queue_is_bounded(queue));

	fputs(soft_check_settings.replay, stream);
	if (moves) {
		fputs(" --schedule=", stream);
		if (soft_kind_needs_all_moves(kind))
			soft_moves_print_all(stream);
		soft_moves_print(
		    stream, soft_kind_needs_all_queues(kind) ? 0 : queue->number, moves);
	}
	if (soft_check_settings.program)
		fputs(soft_check_settings.program, stream);
}

/* --- text */

#define LINES_MAX 16

/*
 * The command that prints the lines of what these frames call, of one file, which is that of the
 * first with lines.
 */
static void
print_text_lines(FILE *stream, const struct soft_site *const sites[], size_t count)
{
	char path[PATH_MAX], first[PATH_MAX];
	uint64_t seen[LINES_MAX], offset;
	unsigned int lines = 0, i;

	for (size_t s = 0; s < count; s++)
		for (int f = print_first_frame(sites[s]); f < sites[s]->depth; f++) {
			if (lines == LINES_MAX ||
			    !soft_symbol_line_source((const char *)sites[s]->frames[f] - 1, path,
				sizeof path, &offset) ||
			    (lines && strcmp(path, first) != 0))
				continue;
			for (i = 0; i < lines && seen[i] != offset; i++)
				;
			if (i < lines)
				continue;
			if (!lines) {
				fputs("  lines:  addr2line -pfie ", stream);
				soft_word_print(stream, strcpy(first, path));
			}
			fprintf(stream, " 0x%" PRIx64, offset);
			seen[lines++] = offset;
		}
	if (lines)
		fputc('\n', stream);
}

/*
 * Wraps the text; lines after the first are indented by `indent`, and the first has `used` columns
 * already.
 */
static void
print_text_wrap(FILE *stream, const char *text, int used, int indent)
{
	int length;

	while (*text) {
		for (length = 0; text[length] && text[length] != ' '; length++)
			;
		if (used + length > WIDTH) {
			fprintf(stream, "\n%*s", indent, "");
			used = indent;
		}
		fprintf(stream, "%.*s", length, text);
		used += length;
		text += length;
		if (*text == ' ') {
			fputc(' ', stream);
			used++;
			text++;
		}
	}
	fputc('\n', stream);
}

static void
print_text_paragraph(FILE *stream, const char *title, const char *text)
{
	print_text_wrap(stream, text, fprintf(stream, "  %-8s", title), 10);
}

static void
print_text_site(FILE *stream, const char *title, const struct soft_site *site, const char *result)
{
	char name[NAME_SIZE];

	if (!site->thread) {
		fprintf(stream, "  %-12snone\n", title);
		return;
	}
	fprintf(stream, "  %-12sby thread %d, %.3f s ago%s\n", title, (int)site->thread,
	    (double)(soft_now() - site->when) / SOFT_SECOND, result);
	for (int i = print_first_frame(site); i < site->depth; i++) {
		print_frame_name(site->frames[i], name);
		fprintf(stream, "                %s\n", name);
	}
}

void
soft_print_text(FILE *stream, enum soft_kind kind, const struct soft_check_queue *queue,
    const struct soft_check_state *state, const char *what)
{
	const struct soft_kind_text *text = &soft_kinds[kind];
	char found[64], program[NAME_SIZE];

	fprintf(stream, "softverbs-run --check: %s: completion queue %u of process %d (%s)\n",
	    text->name, queue->number, (int)getpid(),
	    soft_show(program, sizeof program, program_invocation_short_name));
	print_text_paragraph(stream, "what:", what);
	fprintf(stream,
	    "  queue:  cqn %u, %p, context %p, %d entries; %" PRIu32 " to poll, %s, %" PRIu32
	    " events to read, %u read, %u acknowledged\n",
	    queue->number, (void *)queue->cq, queue->context, queue->cq->ibv.cqe, state->visible,
	    armed_names[state->armed], state->unread, queue->events_read,
	    queue->events_acknowledged);
	snprintf(found, sizeof found, ": found %d of %d", queue->found, queue->wanted);
	print_text_site(stream, "last poll:", &queue->polled, found);
	print_text_site(stream, "last arm:", &queue->armed, queue->arm_failed ? ": failed" : "");
	print_text_site(stream, "last event:", &queue->event, "");
	if (queue->destroying.thread)
		print_text_site(stream, "destroyed:", &queue->destroying, "");
	print_text_lines(stream,
	    (const struct soft_site *const[]){
		&queue->polled, &queue->armed, &queue->event, &queue->destroying },
	    4);
	print_text_paragraph(stream, "rule:", text->rule);
	print_text_paragraph(stream, "mend:", text->mend);
	if (soft_check_settings.replay) {
		fputs("  replay: ", stream);
		print_replay(stream, kind, queue, state);
		fputc('\n', stream);
	}
}

/* --- JSON */

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* The bytes of the character of UTF-8 at `c`, which is not ASCII; 0 if there is none. */
static int
print_json_character(const unsigned char *c)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const int length = c[0] < 0xc0 ? 0 :
			   c[0] < 0xe0 ? 2 :
			   c[0] < 0xf0 ? 3 :
			   c[0] < 0xf8 ? 4 :
					 0;
	uint32_t value = length ? c[0] & (0xffu >> (length + 1)) : 0;

	for (int i = 1; i < length; i++) {
		if ((c[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (c[i] & 0x3f);
	}
	if (value < least[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
		return 0;
	return length;
}

/* Arguments and names of files have any bytes, JSON has UTF-8. */
static void
print_json_string(FILE *stream, const char *name, const char *value)
{
	int length;

	fprintf(stream, "\"%s\":\"", name);
	for (const unsigned char *c = (const unsigned char *)value; *c; c += length) {
		length = 1;
		if (*c == '"' || *c == '\\')
			fprintf(stream, "\\%c", *c);
		else if (*c < ' ' || *c == 0x7f)
			fprintf(stream, "\\u%04x", *c);
		else if (*c < 0x80)
			fputc(*c, stream);
		else if ((length = print_json_character(c)))
			fwrite(c, 1, (size_t)length, stream);
		else {
			fputs(REPLACEMENT, stream);
			length = 1;
		}
	}
	fputc('"', stream);
}

static void
print_json_replay(FILE *stream, enum soft_kind kind, const struct soft_check_queue *queue,
    const struct soft_check_state *state) REQUIRES(soft_check_locks.queue)
{
	char *text = NULL;
	size_t size = 0;
	FILE *line = open_memstream(&text, &size);

	if (!line)
		return;
	print_replay(line, kind, queue, state);
	if (!fclose(line)) {
		fputc(',', stream);
		print_json_string(stream, "replay", text);
	}
	free(text);
}

static void
print_json_site(FILE *stream, const char *name, const struct soft_site *site)
{
	char frame[NAME_SIZE];
	const char *separator = "";

	if (!site->thread) {
		fprintf(stream, "\"%s\":null", name);
		return;
	}
	fprintf(stream, "\"%s\":{\"thread\":%d,\"ago\":%.6f,\"backtrace\":[", name,
	    (int)site->thread, (double)(soft_now() - site->when) / SOFT_SECOND);
	for (int i = print_first_frame(site); i < site->depth; i++) {
		print_frame_name(site->frames[i], frame);
		fputs(separator, stream);
		fputc('{', stream);
		print_json_string(stream, "function", frame);
		fputc('}', stream);
		separator = ",";
	}
	fputs("]}", stream);
}

void
soft_print_json(FILE *stream, enum soft_kind kind, const struct soft_check_queue *queue,
    const struct soft_check_state *state, const char *what)
{
	const struct soft_kind_text *text = &soft_kinds[kind];

	fputc('{', stream);
	print_json_string(stream, "kind", text->name);
	fprintf(stream, ",\"queue\":%u,\"cqn\":%u,\"seed\":%" PRIu64 ",\"process\":%d,",
	    queue->number, queue->number, soft_check_settings.seed, (int)getpid());
	print_json_string(stream, "program", program_invocation_short_name);
	fputc(',', stream);
	print_json_string(stream, "what", what);
	fprintf(stream, ",\"to_poll\":%" PRIu32 ",\"armed\":%s,\"events_to_read\":%" PRIu32,
	    state->visible, state->armed == SOFT_UNARMED ? "false" : "true", state->unread);
	fputs(",\"moves\":[", stream);
	soft_moves_print_names(stream, state->moves);
	fprintf(stream,
	    "],\"events_read\":%u,\"events_acknowledged\":%u,\"last_found\":%d,\"threads\":{",
	    queue->events_read, queue->events_acknowledged, queue->found);
	print_json_site(stream, "poll", &queue->polled);
	fputc(',', stream);
	print_json_site(stream, "arm", &queue->armed);
	fputc(',', stream);
	print_json_site(stream, "event", &queue->event);
	fputc(',', stream);
	print_json_site(stream, "destroy", &queue->destroying);
	fputs("},", stream);
	print_json_string(stream, "rule", text->rule);
	fputc(',', stream);
	print_json_string(stream, "mend", text->mend);
	if (soft_check_settings.replay)
		print_json_replay(stream, kind, queue, state);
	fputs("}\n", stream);
}

/* --- of other objects: without a queue, no move of the adversary led there */

static void
print_object_text(FILE *stream, const struct soft_kind_text *text, const char *object,
    const struct soft_site *destroying, const char *what)
{
	char program[NAME_SIZE];

	fprintf(stream, "softverbs-run --check: %s: %s of process %d (%s)\n", text->name, object,
	    (int)getpid(), soft_show(program, sizeof program, program_invocation_short_name));
	print_text_paragraph(stream, "what:", what);
	print_text_site(stream, "destroyed:", destroying, "");
	print_text_lines(stream, &destroying, 1);
	print_text_paragraph(stream, "rule:", text->rule);
	print_text_paragraph(stream, "mend:", text->mend);
	if (soft_check_settings.replay)
		fprintf(stream, "  replay: %s%s\n", soft_check_settings.replay,
		    soft_check_settings.program ? soft_check_settings.program : "");
}

static void
print_object_json(FILE *stream, const struct soft_kind_text *text, const char *object,
    const struct soft_site *destroying, const char *what)
{
	char *replay = NULL;

	fputc('{', stream);
	print_json_string(stream, "kind", text->name);
	fputc(',', stream);
	print_json_string(stream, "object", object);
	fprintf(stream, ",\"seed\":%" PRIu64 ",\"process\":%d,", soft_check_settings.seed,
	    (int)getpid());
	print_json_string(stream, "program", program_invocation_short_name);
	fputc(',', stream);
	print_json_string(stream, "what", what);
	fputs(",\"threads\":{", stream);
	print_json_site(stream, "destroy", destroying);
	fputs("},", stream);
	print_json_string(stream, "rule", text->rule);
	fputc(',', stream);
	print_json_string(stream, "mend", text->mend);
	if (soft_check_settings.replay &&
	    asprintf(&replay, "%s%s", soft_check_settings.replay,
		soft_check_settings.program ? soft_check_settings.program : "") >= 0) {
		fputc(',', stream);
		print_json_string(stream, "replay", replay);
		free(replay);
	}
	fputs("}\n", stream);
}

void
soft_print_object(FILE *stream, bool json, enum soft_kind kind, const char *object,
    const struct soft_site *destroying, const char *what)
{
	(json ? print_object_json : print_object_text)(
	    stream, &soft_kinds[kind], object, destroying, what);
}

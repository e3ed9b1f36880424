/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conf -- reads dat.conf
 *
 * A record is a line of eight fields, separated by blanks or tabs:
 *
 *	name u2.0 nonthreadsafe default library id.2.0 "ia parameters" "platform parameters"
 *
 * Double quotes make one field of a text with blanks in it, or of no text; within them a backslash
 * takes the next character as it is.  A # at the start of a field begins a comment.  A bad line
 * gives one message with its reason and is skipped.
 */
#ifndef REARM_DAT_CONF_H
#define REARM_DAT_CONF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The strings are valid until the sink returns. */
struct conf_record {
	const char *ia_name;
	bool for_user_space; /* u, not k */
	uint32_t major;
	uint32_t minor;
	bool thread_safe;
	bool is_default;
	const char *library;
	const char *ia_params;
	unsigned int line;
};

/* Receives one good record: 0, or -errno to stop the parser. */
typedef int (*conf_sink_fn)(void *arg, const struct conf_record *record);

/*
 * Reads `in` to its end; messages contain `name`.  0, the error of the sink, or -EIO if reading
 * failed (after a message).
 */
int conf_parse(FILE *in, const char *name, conf_sink_fn sink, void *arg);

#endif

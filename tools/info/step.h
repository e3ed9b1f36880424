/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * step -- the steps of an examination: each is printed when it has been made, and becomes part of
 * the report
 */
#ifndef REARM_TOOLS_INFO_STEP_H
#define REARM_TOOLS_INFO_STEP_H

#include <stdbool.h>

#include <jansson.h>

/* GOOD and WRONG are results; a FACT may be either. */
enum result { GOOD, WRONG, FACT };

struct steps {
	json_t *list;
	bool quiet; /* prints nothing */
	bool ok;    /* none is wrong */
	/*
	 * What libraries wrote to the standard streams, as lines; NULL while the streams are ours.
	 */
	json_t *output;
};

/*
 * Ends this process with a message if no step follows within a minute, in a device or a name
 * server.
 */
void step_watch(void);
void step_unwatch(void);

/* Adds a step with one text, which it takes over. */
void step_add(struct steps *steps, const char *name, enum result result, json_t *text);

/* A step for each text of an array, which it takes over. */
void step_add_all(struct steps *steps, const char *name, enum result result, json_t *texts);

/* A step that failed says why; true if it has not failed.  Takes both over. */
bool step_judge(struct steps *steps, const char *name, json_t *failure, json_t *success);

/* Between these two what libraries write is kept; the lines are the caller's. */
void step_keep_output(struct steps *steps);
json_t *step_take_output(struct steps *steps);

/* Prints the lines of a step that is no part of the report. */
void step_print(const char *name, enum result result, const char *text, const char *more);

#endif

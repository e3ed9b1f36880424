/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * story -- helpers of the tests of the registry
 *
 * Every test runs in its own process, so each has its own dat.conf: the registry reads it
 * once.  The files of a test are in a new directory, which is removed afterwards.
 */
#ifndef REARM_TEST_DAT_STORY_H
#define REARM_TEST_DAT_STORY_H

#include <stdbool.h>
#include <string.h>

#include <dat2/udat.h>
#include <dat2/dat_registry.h>

#include "lib/runner.h"

/* A case whose tests have a directory of their own, and an environment without DAT_*. */
extern const struct runner_case story_case;
#define STORY_CASE(...) CASE(__VA_ARGS__, .outer = &story_case)

/*
 * Writes dat.conf and points DAT_OVERRIDE at it.  In the text %S is the stub provider's path, %D
 * the test's directory; story_conf_raw() writes the bytes as they are.
 */
void story_conf(const char *text);
void story_conf_raw(const void *bytes, size_t size);

/* The path of that file; of another file of the directory. */
const char *story_conf_path(void);
const char *story_path(const char *name);

/* From story_listen() to story_heard() standard error goes to a file; the text of it. */
void story_listen(void);
const char *story_heard(void);

/* What the stub provider has noted since the test began. */
const char *story_trace(void);

/* How often the line is in the trace; a word at its beginning is enough. */
int story_traced(const char *line);

/* Opens and closes; the first fails the test unless it succeeds. */
DAT_IA_HANDLE story_open(const char *name, DAT_BOOLEAN thread_safe);
DAT_RETURN story_try_open(const char *name, DAT_UINT32 major, DAT_UINT32 minor,
    DAT_BOOLEAN thread_safe, DAT_IA_HANDLE *ia);
void story_close(DAT_IA_HANDLE ia);

/* The names that dat_registry_list_providers() lists, each with a blank behind it. */
const char *story_listed(void);

/* Compares return values and shows both by name. */
#define story_assert_ret(got, want) \
	do { \
		DAT_RETURN got_ = (got), want_ = (want); \
		ck_assert_msg(got_ == want_, #got " is 0x%08x, not 0x%08x", got_, want_); \
	} while (0)

#endif

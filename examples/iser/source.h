/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * source -- the file to copy, as the command line asks for it, and its sum
 */
#ifndef ISER_SOURCE_H
#define ISER_SOURCE_H

#include "backing.h"
#include "digest.h"

struct options;

struct source {
	struct backing file;
	struct digest digest;
	char name[256]; /* for the report */
};

/* 0, or -1: why, and what to do, was said. */
int source_open(struct source *source, const struct options *options);
void source_close(struct source *source);

#endif

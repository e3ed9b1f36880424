/* SPDX-License-Identifier: BSD-3-Clause */
#include "source.h"

#include "options.h"
#include "progress.h"
#include "say.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int
source_open(struct source *source, const struct options *options)
{
	int r;

	if (options->file) {
		snprintf(source->name, sizeof source->name, "%s", options->file);
		r = backing_open_source(&source->file, options->file);
		if (r == -ENODATA)
			say("--file %s: is empty; there is nothing to copy", options->file);
		else if (r)
			say("--file %s: %s", options->file, strerror(-r));
	} else {
		snprintf(source->name, sizeof source->name, "a tar of %s", options->tree);
		r = backing_open_tar(&source->file, options->tree);
		if (r)
			say("cannot make a tar of %s: %s; --file copies any file instead",
			    options->tree, strerror(-r));
	}
	if (r)
		return -1;
	r = digest_backing(&source->file, progress_of_sum(options->quiet), &source->digest);
	if (r) {
		say("%s cannot be read: %s", source->name, strerror(-r));
		backing_close(&source->file);
		return -1;
	}
	return 0;
}

void
source_close(struct source *source)
{
	backing_close(&source->file);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/runner.h"

#include <stdlib.h>

int
main(int argc, char **argv)
{
	/*
	 * check-codes looks in the log for hints of a code that the header of the call does not
	 * list.
	 */
	setenv("DAT_DBG_TYPE", "errors,hints", 0);
	return runner_run(argc, argv);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* replay FILE...: plays inputs of the corpus, or what a fuzzer left; for any compiler. */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

#define INPUT_MAX 65536

static bool
play(const char *path)
{
	static uint8_t input[INPUT_MAX];
	FILE *file = fopen(path, "rb");
	size_t length;

	if (!file) {
		perror(path);
		return false;
	}
	length = fread(input, 1, sizeof input, file);
	fclose(file);
	(void)LLVMFuzzerTestOneInput(input, length);
	return true;
}

int
main(int argc, char **argv)
{
	int passed = 0, failed = 0;

	for (int i = 1; i < argc; i++) {
		if (play(argv[i]))
			passed++;
		else
			failed++;
	}
	printf("%d passed, %d failed\n", passed, failed);
	return passed && !failed ? EXIT_SUCCESS : EXIT_FAILURE;
}

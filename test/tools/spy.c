/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spy -- preloaded: notes which variables the libraries read, and spoils data
 *
 * "LIBRARY VARIABLE" is appended to the file that REARM_TEST_ASKED names, for each call of getenv()
 * and secure_getenv().  If REARM_TEST_SPOIL is a number, a byte of each copy of so many bytes, or
 * of more than half of that, is wrong.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef char *getenv_fn(const char *name);

enum { SPOILED_BYTE = 100 };

static size_t spoiled;

static char *
spy_call(const char *function, const char *name)
{
	getenv_fn *call = (getenv_fn *)(size_t)dlsym(RTLD_NEXT, function);

	return call(name);
}

static void
spy_note(const char *name, const void *caller)
{
	const char *file = spy_call("getenv", "REARM_TEST_ASKED"), *slash;
	char line[512];
	Dl_info info;
	int fd, n;

	if (file == NULL || dladdr(caller, &info) == 0)
		return;
	slash = strrchr(info.dli_fname, '/');
	n = snprintf(
	    line, sizeof line, "%s %s\n", slash != NULL ? slash + 1 : info.dli_fname, name);
	fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd >= 0 && write(fd, line, (size_t)n) == n)
		close(fd);
}

char *
getenv(const char *name)
{
	spy_note(name, __builtin_return_address(0));
	return spy_call("getenv", name);
}

char *
secure_getenv(const char *name)
{
	spy_note(name, __builtin_return_address(0));
	return spy_call("secure_getenv", name);
}

static void __attribute__((constructor)) begin(void)
{
	const char *size = spy_call("getenv", "REARM_TEST_SPOIL");

	spoiled = size != NULL ? strtoul(size, NULL, 10) : 0;
}

/*
 * The device copies the end of a message apart.  volatile, or compilers make a call of memmove() of
 * the loops.
 */
void *
memmove(void *to, const void *from, size_t size)
{
	volatile unsigned char *t = to;
	const volatile unsigned char *f = from;
	size_t i;

	if (t < f)
		for (i = 0; i < size; i++)
			t[i] = f[i];
	else
		for (i = size; i > 0; i--)
			t[i - 1] = f[i - 1];
	if (size > spoiled / 2 && size > SPOILED_BYTE && size <= spoiled)
		t[SPOILED_BYTE] ^= 1;
	return to;
}

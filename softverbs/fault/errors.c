/* SPDX-License-Identifier: BSD-3-Clause */
#include "errors.h"

#include <stdio.h>
#include <string.h>

#define NAMED(error) \
	{ \
		error, #error \
	}

static const struct {
	int error;
	const char *name;
} names[] = {
	NAMED(EACCES),
	NAMED(EADDRINUSE),
	NAMED(EADDRNOTAVAIL),
	NAMED(EAGAIN),
	NAMED(EBUSY),
	NAMED(EFAULT),
	NAMED(EINTR),
	NAMED(EINVAL),
	NAMED(EIO),
	NAMED(EISCONN),
	NAMED(EMFILE),
	NAMED(ENETUNREACH),
	NAMED(ENFILE),
	NAMED(ENODATA),
	NAMED(ENODEV),
	NAMED(ENOENT),
	NAMED(ENOMEM),
	NAMED(ENOSYS),
	NAMED(EOPNOTSUPP),
	NAMED(EPERM),
	NAMED(ETIMEDOUT),
};

#define NAMES (sizeof names / sizeof *names)

const char *
soft_error_name(int error)
{
	for (size_t i = 0; i < NAMES; i++)
		if (names[i].error == error)
			return names[i].name;
	return NULL;
}

int
soft_error_find(const char *name, size_t length)
{
	for (size_t i = 0; i < NAMES; i++)
		if (strlen(names[i].name) == length && !strncmp(names[i].name, name, length))
			return names[i].error;
	return 0;
}

bool
soft_error_is_allowed(enum soft_call call, int error)
{
	for (const int *allowed = soft_calls[call].errors; *allowed; allowed++)
		if (*allowed == error)
			return true;
	return false;
}

const char *
soft_error_list(enum soft_call call, char *text, size_t size)
{
	const int *errors = soft_calls[call].errors;
	size_t length = 0;

	*text = '\0';
	for (unsigned int i = 0; errors[i] && length < size; i++)
		length += (size_t)snprintf(text + length, size - length, "%s%s",
		    !i		  ? "" :
		    errors[i + 1] ? ", " :
				    " or ",
		    soft_error_name(errors[i]));
	return text;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* wrap -- how a wrapper is written */
#ifndef REARM_SWEEP_WRAP_H
#define REARM_SWEEP_WRAP_H

#define CALLER __builtin_return_address(0)

#define FAIL_VALUE(value) return (value)
#define FAIL_ERRNO(error, value) \
	do { \
		errno = (error); \
		return (value); \
	} while (0)

/* `fail` is what is done instead of the call. */
#define WRAP(type, name, params, args, fail) \
	type __real_##name params; \
	type __wrap_##name params; \
	type __wrap_##name params \
	{ \
		if (inject(#name, CALLER, INJECT_FAILS)) \
			fail; \
		return __real_##name args; \
	}

#define WRAP_INTERRUPTED(type, name, params, args) \
	type __real_##name params; \
	type __wrap_##name params; \
	type __wrap_##name params \
	{ \
		if (inject(#name, CALLER, INJECT_INTERRUPTED)) \
			FAIL_ERRNO(EINTR, -1); \
		return __real_##name args; \
	}

#endif

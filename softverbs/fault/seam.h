/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * seam -- the shape of a function between a program and the device, in which the call may fail
 *
 * SEAM_NUMBER(storage, type, exported, name, real, parameters, arguments, context, failed, before,
 * after) defines it for a call that returns a number, SEAM_POINTER for one that returns an object:
 *
 *	name      of calls.h
 *	context   the struct ibv_context that the call belongs to, or NULL; read once, before the
 *	          call, which may free what it is read from
 *	failed    statements of a call that is made to fail, where that writes more than errno
 *	before    statements before the call
 *	after     statements after a call that has succeeded
 */
#ifndef SOFT_FAULT_SEAM_H
#define SOFT_FAULT_SEAM_H

#include "fault.h"

#define SEAM_CALL_(type, name, real, arguments, before, after, succeeded, returned) \
	before; \
	type result_ = real arguments; \
\
	returned; \
	if (succeeded) { \
		after; \
	} \
	return result_

#define SEAM_NUMBER( \
    storage, type, exported, name, real, parameters, arguments, context, failed, before, after) \
	storage type exported parameters \
	{ \
		if (__builtin_expect(!soft_faults, true)) \
			return real arguments; \
		const struct ibv_context *const context_ = context; \
		const int error_ = soft_fault_enter(SOFT_CALL_##name, context_); \
\
		if (error_) { \
			failed; \
			return (type)soft_fault_result(SOFT_CALL_##name, error_); \
		} \
		SEAM_CALL_(type, name, real, arguments, before, after, \
		    soft_fault_succeeded(SOFT_CALL_##name, result_), \
		    soft_fault_returned(SOFT_CALL_##name, context_, result_)); \
	}

#define SEAM_POINTER( \
    storage, type, exported, name, real, parameters, arguments, context, failed, before, after) \
	storage type exported parameters \
	{ \
		if (__builtin_expect(!soft_faults, true)) \
			return real arguments; \
		if (soft_fault_enter(SOFT_CALL_##name, context)) { \
			failed; \
			return NULL; \
		} \
		SEAM_CALL_(type, name, real, arguments, before, after, result_ != NULL, (void)0); \
	}

/* A function that destroys, cannot fail and returns nothing. */
#define SEAM_ENDING(name, parameters, arguments, before, after) \
	void name parameters \
	{ \
		if (__builtin_expect(!soft_faults, true)) { \
			soft_##name arguments; \
			return; \
		} \
		before; \
		soft_##name arguments; \
		after; \
	}

#define SEAM_NOTHING (void)0

/* The program has one more object, or one less. */
#define SEAM_MADE(object) soft_fault_count(SOFT_OBJECT_##object, 1)
#define SEAM_ENDED(object) soft_fault_count(SOFT_OBJECT_##object, -1)

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sees -- makes each call twice: the first one is made to fail, the second one is not
 *
 * It prints what the first one returned, as softverbs-run --faults=list says what it should.
 */
#ifndef SOFT_TEST_SEES_H
#define SOFT_TEST_SEES_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdbool.h>

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

/* Prints the line of a call that has returned NULL, or a number. */
void sees_null(const char *name, const void *result);
void sees_number(const char *name, long result);

/* Ends the program: the second call has failed, with this errno. */
void sees_fail(const char *name, const char *file, int line) __attribute__((noreturn));

/* A function that the headers of older releases do not have. */
void *sees_find(const char *name);

#define MUST(what) ((what) ? (void)0 : sees_fail(#what, __FILE__, __LINE__))

/* The object that the second call makes. */
#define MAKE(name, object, call) \
	do { \
		errno = 0; \
		sees_null(#name, call); \
		(object) = (call); \
		if (!(object)) \
			sees_fail(#name, __FILE__, __LINE__); \
	} while (0)

/* The second call returns a number that `succeeded` tests, as `result_`. */
#define CALL_UNTIL(name, call, succeeded) \
	do { \
		long result_; \
\
		errno = 0; \
		sees_number(#name, call); \
		result_ = (call); \
		(void)result_; \
		if (!(succeeded)) \
			sees_fail(#name, __FILE__, __LINE__); \
	} while (0)

#define CALL(name, call) CALL_UNTIL(name, call, result_ == 0)

/* The calls of librdmacm. */
void sees_cm(void);

#endif

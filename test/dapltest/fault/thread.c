/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that cannot be started. */
#include "fault.h"

#include <pthread.h>
#include <stdatomic.h>

static atomic_int refusal;

void
fault_refuse_threads(int error)
{
	refusal = error;
}

int __real_pthread_create(
    pthread_t *thread, const pthread_attr_t *attr, void *(*body)(void *), void *arg);
int __wrap_pthread_create(
    pthread_t *thread, const pthread_attr_t *attr, void *(*body)(void *), void *arg);
int
__wrap_pthread_create(
    pthread_t *thread, const pthread_attr_t *attr, void *(*body)(void *), void *arg)
{
	const int error = refusal;

	return error ? error : __real_pthread_create(thread, attr, body, arg);
}

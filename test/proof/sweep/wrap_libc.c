/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wrap_libc -- calls of the C library that may fail, as the linker's --wrap takes them
 *
 * Linked into each library under test.  A call fails as it would without anything done; close and
 * its like never do.  What cannot be refused by the system in the way it is called is not here:
 * removing a descriptor from an epoll set, a lock.
 */
#include <dlfcn.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject.h"
#include "wrap.h"

WRAP(void *, malloc, (size_t size), (size), FAIL_ERRNO(ENOMEM, NULL))
WRAP(void *, calloc, (size_t n, size_t size), (n, size), FAIL_ERRNO(ENOMEM, NULL))
WRAP(void *, realloc, (void *p, size_t size), (p, size), FAIL_ERRNO(ENOMEM, NULL))
WRAP(char *, strdup, (const char *s), (s), FAIL_ERRNO(ENOMEM, NULL))
WRAP(void *, mmap, (void *at, size_t size, int prot, int flags, int fd, off_t offset),
    (at, size, prot, flags, fd, offset), FAIL_ERRNO(ENOMEM, MAP_FAILED))

WRAP(int, eventfd, (unsigned int n, int flags), (n, flags), FAIL_ERRNO(EMFILE, -1))
WRAP(int, epoll_create1, (int flags), (flags), FAIL_ERRNO(EMFILE, -1))
WRAP(int, socket, (int domain, int type, int protocol), (domain, type, protocol),
    FAIL_ERRNO(EMFILE, -1))
WRAP(int, bind, (int fd, const struct sockaddr *at, socklen_t size), (fd, at, size),
    FAIL_ERRNO(ENOMEM, -1))
WRAP(int, listen, (int fd, int backlog), (fd, backlog), FAIL_ERRNO(ENOMEM, -1))
WRAP(int, accept4, (int fd, struct sockaddr *at, socklen_t *size, int flags), (fd, at, size, flags),
    FAIL_ERRNO(EMFILE, -1))
WRAP(FILE *, fopen, (const char *path, const char *mode), (path, mode), FAIL_ERRNO(EMFILE, NULL))

WRAP(int, getaddrinfo,
    (const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **out),
    (node, service, hints, out), FAIL_VALUE(EAI_MEMORY))
WRAP(int, getifaddrs, (struct ifaddrs * *out), (out), FAIL_ERRNO(ENOMEM, -1))

WRAP(int, pthread_create,
    (pthread_t * thread, const pthread_attr_t *attr, void *(*body)(void *), void *arg),
    (thread, attr, body, arg), FAIL_VALUE(EAGAIN))
WRAP(int, pthread_key_create, (pthread_key_t * key, void (*fini)(void *)), (key, fini),
    FAIL_VALUE(EAGAIN))
WRAP(int, pthread_setspecific, (pthread_key_t key, const void *value), (key, value),
    FAIL_VALUE(ENOMEM))
WRAP(int, pthread_atfork, (void (*before)(void), void (*after)(void), void (*child)(void)),
    (before, after, child), FAIL_VALUE(ENOMEM))

/* A library that is not there: then there is also a reason to ask dlerror() for. */
WRAP(void *, dlopen, (const char *path, int flags), (path, flags),
    return __real_dlopen("/nowhere/made to fail", flags))

WRAP_INTERRUPTED(ssize_t, read, (int fd, void *data, size_t size), (fd, data, size))
WRAP_INTERRUPTED(
    ssize_t, getrandom, (void *data, size_t size, unsigned int flags), (data, size, flags))
WRAP_INTERRUPTED(int, poll, (struct pollfd * fds, nfds_t n, int timeout), (fds, n, timeout))
WRAP_INTERRUPTED(int, ppoll,
    (struct pollfd * fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask),
    (fds, n, timeout, mask))
WRAP_INTERRUPTED(int, epoll_wait, (int fd, struct epoll_event *events, int max, int timeout),
    (fd, events, max, timeout))

int __real_epoll_ctl(int epfd, int op, int fd, struct epoll_event *event);
int __wrap_epoll_ctl(int epfd, int op, int fd, struct epoll_event *event);

int
__wrap_epoll_ctl(int epfd, int op, int fd, struct epoll_event *event)
{
	if (op == EPOLL_CTL_ADD && inject("epoll_ctl", CALLER, INJECT_FAILS))
		FAIL_ERRNO(ENOSPC, -1);
	return __real_epoll_ctl(epfd, op, fd, event);
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);

/* Variable in C only: all arguments travel in registers, unused ones with what was there. */
long
__wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	switch (number) {
	case SYS_read:
	case SYS_preadv2:
	case SYS_write:
	case SYS_sendmsg:
	case SYS_ppoll:
	case SYS_epoll_pwait:
		if (inject("syscall", CALLER, INJECT_INTERRUPTED))
			FAIL_ERRNO(EINTR, -1);
		break;
	case SYS_socket:
		if (inject("syscall(socket)", CALLER, INJECT_FAILS))
			FAIL_ERRNO(EMFILE, -1);
		break;
	case SYS_connect:
		if (inject("syscall(connect)", CALLER, INJECT_FAILS))
			FAIL_ERRNO(ECONNREFUSED, -1);
		break;
	default:
		break;
	}
	return __real_syscall(number, a, b, c, d, e, f);
}

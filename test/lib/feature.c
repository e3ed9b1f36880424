/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "feature.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* In a child, which ends with 0 if it can. */
static bool
in_child(int (*body)(void))
{
	const pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(body());
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static int
be_traced(void)
{
	return ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0;
}

bool
feature_trace(void)
{
	return in_child(be_traced);
}

bool
feature_read(void)
{
	char from = 1, to = 0;
	const struct iovec here = { &to, 1 }, there = { &from, 1 };

	return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1 && to == 1;
}

bool
feature_filter(void)
{
	return prctl(PR_GET_SECCOMP) >= 0;
}

static void *
end_at_once(void *unused)
{
	return unused;
}

static void *
stay(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static int
make_thread(void)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, end_at_once, NULL) || pthread_join(thread, NULL);
}

static int
make_process(void)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, stay, NULL) || !in_child(make_thread);
}

bool
feature_child(void)
{
	return in_child(make_process);
}

/* An emulator keeps its own address space, and says that it has set the limit. */
static bool
feature_limit_is_set(void)
{
	struct rlimit before, limit, is;
	bool set;

	if (getrlimit(RLIMIT_AS, &before))
		return false;
	limit = before;
	limit.rlim_cur = (rlim_t)1 << 44;
	if (limit.rlim_cur > before.rlim_max)
		limit.rlim_cur = before.rlim_max;
	set = !setrlimit(RLIMIT_AS, &limit) && !getrlimit(RLIMIT_AS, &is) &&
	      is.rlim_cur == limit.rlim_cur;
	(void)setrlimit(RLIMIT_AS, &before);
	return set;
}

/* A sanitizer may only have been loaded with this program. */
bool
feature_limit(void)
{
	return !dlsym(RTLD_DEFAULT, "__lsan_do_leak_check") &&
	       !dlsym(RTLD_DEFAULT, "__tsan_init") && feature_limit_is_set();
}

bool
feature_twice(void)
{
	const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	void *const first =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	void *const second =
	    first == MAP_FAILED ? MAP_FAILED : mremap(first, 0, bytes, MREMAP_MAYMOVE);
	bool same = false;

	if (second != MAP_FAILED) {
		*(volatile char *)first = 1;
		same = *(volatile char *)second == 1;
		munmap(second, bytes);
	}
	if (first != MAP_FAILED)
		munmap(first, bytes);
	return same;
}

bool
feature_root(void)
{
	return geteuid() == 0;
}

bool
feature_shm(void)
{
	return !access("/dev/shm", W_OK | X_OK);
}

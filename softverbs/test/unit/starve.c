/* SPDX-License-Identifier: BSD-3-Clause */
#include "starve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/runner.h"

#define WRAP(type, name, ...) \
	type __real_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__)

WRAP(void *, malloc, size_t size);
WRAP(void *, calloc, size_t count, size_t size);
WRAP(void *, realloc, void *memory, size_t size);
WRAP(void, free, void *memory);
WRAP(void *, mmap, void *at, size_t size, int protection, int flags, int fd, off_t offset);
WRAP(int, munmap, void *at, size_t size);
WRAP(int, accept4, int fd, struct sockaddr *address, socklen_t *length, int flags);
WRAP(int, pthread_mutex_unlock, pthread_mutex_t *mutex);
WRAP(int, pthread_tryjoin_np, pthread_t thread, void **result);
WRAP(int, pthread_timedjoin_np, pthread_t thread, void **result, const struct timespec *until);
WRAP(int, memfd_create, const char *name, unsigned int flags);
WRAP(int, eventfd, unsigned int count, int flags);
WRAP(int, epoll_create1, int flags);
WRAP(int, epoll_ctl, int epfd, int op, int fd, struct epoll_event *event);
WRAP(int, bind, int fd, const struct sockaddr *address, socklen_t length);
WRAP(int, listen, int fd, int backlog);
WRAP(ssize_t, pwrite, int fd, const void *from, size_t length, off_t at);
WRAP(int, openat, int folder, const char *path, int flags, ...);
WRAP(int, fcntl, int fd, int command, ...);
WRAP(long, syscall, long number, ...);
WRAP(int, pthread_create, pthread_t *thread, const pthread_attr_t *attr, void *(*body)(void *),
    void *arg);

_Thread_local int starve_countdown;
_Thread_local int starve_failed;
const char *starve_failing;
void (*_Atomic starve_before_read)(pid_t pid);
atomic_int starve_accept, starve_watched;
atomic_bool starve_creators;
atomic_size_t starve_cut;

static _Atomic(pthread_t) spared;
static atomic_int others_countdown;

void
starve_others(int n)
{
	spared = pthread_self();
	others_countdown = n;
}

int
starve_others_end(void)
{
	return !atomic_exchange(&others_countdown, 0);
}

static bool
other_is_starved(void)
{
	return others_countdown > 0 && !pthread_equal(spared, pthread_self()) &&
	       --others_countdown == 0;
}

#define is_starved(error) is_starved_at(error, __func__)
static bool
is_starved_at(int error, const char *where)
{
	if (!other_is_starved() && (starve_countdown == 0 || --starve_countdown > 0))
		return false;
	starve_failed = error;
	starve_failing = where + sizeof "__wrap";
	errno = error;
	return true;
}

/* ---- memory that is in use ---- */

#define BLOCKS_MAX 65536

static pthread_mutex_t blocks_lock = PTHREAD_MUTEX_INITIALIZER;
static void *blocks[BLOCKS_MAX];
static atomic_int block_count;
static atomic_bool counting;

static unsigned int
block_at(const void *memory)
{
	unsigned int at = (unsigned int)((uintptr_t)memory >> 4) % BLOCKS_MAX;

	while (blocks[at] && blocks[at] != memory)
		at = (at + 1) % BLOCKS_MAX;
	return at;
}

static void *
block_add(void *memory)
{
	if (!counting || !memory)
		return memory;
	pthread_mutex_lock(&blocks_lock);
	blocks[block_at(memory)] = memory;
	block_count++;
	pthread_mutex_unlock(&blocks_lock);
	return memory;
}

/* What came from elsewhere is not known. */
static void
block_remove(const void *memory)
{
	unsigned int at;
	void *next;

	if (!counting || !memory)
		return;
	pthread_mutex_lock(&blocks_lock);
	at = block_at(memory);
	if (blocks[at]) {
		blocks[at] = NULL;
		block_count--;
		/* Those behind it may belong into the gap. */
		for (at = (at + 1) % BLOCKS_MAX; (next = blocks[at]); at = (at + 1) % BLOCKS_MAX) {
			blocks[at] = NULL;
			blocks[block_at(next)] = next;
		}
	}
	pthread_mutex_unlock(&blocks_lock);
}

void *
__wrap_malloc(size_t size)
{
	return is_starved(ENOMEM) ? NULL : block_add(__real_malloc(size));
}

void *
__wrap_calloc(size_t count, size_t size)
{
	return is_starved(ENOMEM) ? NULL : block_add(__real_calloc(count, size));
}

void *
__wrap_realloc(void *memory, size_t size)
{
	void *moved;

	if (is_starved(ENOMEM))
		return NULL;
	block_remove(memory);
	moved = __real_realloc(memory, size);
	return block_add(moved ? moved : memory);
}

void
__wrap_free(void *memory)
{
	block_remove(memory);
	__real_free(memory);
}

/* ---- mappings, which end as they began ---- */

#define MAPPINGS_MAX 4096

static struct {
	void *at;
	size_t size;
} mappings[MAPPINGS_MAX];

static void
mapping_add(void *at, size_t size)
{
	pthread_mutex_lock(&blocks_lock);
	for (int i = 0; i < MAPPINGS_MAX; i++)
		if (!mappings[i].at) {
			mappings[i].at = at;
			mappings[i].size = size;
			break;
		}
	pthread_mutex_unlock(&blocks_lock);
}

/* One byte more would be a page of another. */
static void
mapping_remove(const void *at, size_t size)
{
	size_t its = size;

	pthread_mutex_lock(&blocks_lock);
	for (int i = 0; i < MAPPINGS_MAX; i++)
		if (mappings[i].at == at) {
			its = mappings[i].size;
			mappings[i].at = NULL;
			break;
		}
	pthread_mutex_unlock(&blocks_lock);
	ck_assert_msg(its == size, "%zu bytes were mapped, and %zu are unmapped", its, size);
}

void *
__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	void *memory;

	if (is_starved(ENOMEM))
		return MAP_FAILED;
	memory = __real_mmap(at, size, protection, flags, fd, offset);
	/* What is within another mapping ends with it. */
	if (memory == MAP_FAILED || flags & MAP_FIXED)
		return memory;
	mapping_add(memory, size);
	return block_add(memory);
}

int
__wrap_munmap(void *at, size_t size)
{
	block_remove(at);
	mapping_remove(at, size);
	return __real_munmap(at, size);
}

/* ---- what else may fail ---- */

int
__wrap_memfd_create(const char *name, unsigned int flags)
{
	return is_starved(EMFILE) ? -1 : __real_memfd_create(name, flags);
}

int
__wrap_eventfd(unsigned int count, int flags)
{
	return is_starved(EMFILE) ? -1 : __real_eventfd(count, flags);
}

int
__wrap_epoll_create1(int flags)
{
	starve_watched = 0;
	return is_starved(EMFILE) ? -1 : __real_epoll_create1(flags);
}

int
__wrap_epoll_ctl(int epfd, int op, int fd, struct epoll_event *event)
{
	int r;

	/* Nothing else needs memory. */
	if (op == EPOLL_CTL_ADD && is_starved(ENOSPC))
		return -1;
	r = __real_epoll_ctl(epfd, op, fd, event);
	if (!r)
		starve_watched += (op == EPOLL_CTL_ADD) - (op == EPOLL_CTL_DEL);
	return r;
}

int
__wrap_bind(int fd, const struct sockaddr *address, socklen_t length)
{
	/* Others are bound to see whether the address is one of this host. */
	if (address->sa_family == AF_UNIX && is_starved(ENOSPC))
		return -1;
	return __real_bind(fd, address, length);
}

int
__wrap_listen(int fd, int backlog)
{
	return is_starved(ENOBUFS) ? -1 : __real_listen(fd, backlog);
}

ssize_t
__wrap_pwrite(int fd, const void *from, size_t length, off_t at)
{
	return is_starved(ENOSPC) ? -1 : __real_pwrite(fd, from, length, at);
}

int
__wrap_openat(int folder, const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode = 0;

	if (is_starved(EMFILE))
		return -1;
	va_start(ap, flags);
	if (flags & O_CREAT)
		mode = va_arg(ap, mode_t);
	va_end(ap);
	return __real_openat(folder, path, flags, mode);
}

int
__wrap_fcntl(int fd, int command, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, command);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (command == F_OFD_SETLK && ((struct flock *)arg)->l_type == F_WRLCK &&
	    is_starved(ENOLCK))
		return -1;
	return __real_fcntl(fd, command, arg);
}

/* The message without the bytes behind the first so many, of which it has more; or itself. */
static const struct msghdr *
cut_message(const struct msghdr *whole, struct msghdr *part, struct iovec *iov, size_t most)
{
	const size_t room = starve_cut;
	size_t left = room;

	for (size_t i = 0; i < whole->msg_iovlen && i < most; i++) {
		iov[i] = whole->msg_iov[i];
		if (iov[i].iov_len > left) {
			starve_cut = 0;
			iov[i].iov_len = left;
			*part = *whole;
			part->msg_iov = iov;
			part->msg_iovlen = i + 1;
			return part;
		}
		left -= iov[i].iov_len;
	}
	return whole;
}

long
__wrap_syscall(long number, ...)
{
	struct msghdr part;
	struct iovec iov[64];
	void (*before_read)(pid_t pid) = starve_before_read;
	long arg[6];
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(ap, long);
	va_end(ap);
	if (number == SYS_process_vm_readv && before_read)
		before_read((pid_t)arg[0]);
	if (number == SYS_sendmsg && starve_cut)
		arg[1] = (long)cut_message((const struct msghdr *)arg[1], &part, iov, 64);
	if (number == SYS_socket && is_starved(EMFILE))
		return -1;
	return __real_syscall(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}

int
__wrap_accept4(int fd, struct sockaddr *address, socklen_t *length, int flags)
{
	const int error = atomic_exchange(&starve_accept, 0);

	if (!error)
		return __real_accept4(fd, address, length, flags);
	errno = error;
	return -1;
}

/* ---- threads, each of which is joined once ---- */

#define JOINED_MAX 64

static pthread_t joined[JOINED_MAX]; /* and not started again since; 0: none */

/* Whether it was there. */
static bool
joined_replace(pthread_t old, pthread_t new)
{
	int i = 0;

	pthread_mutex_lock(&blocks_lock);
	while (i < JOINED_MAX && joined[i] != old)
		i++;
	if (i < JOINED_MAX)
		joined[i] = new;
	pthread_mutex_unlock(&blocks_lock);
	return i < JOINED_MAX;
}

/* Some C libraries join it again, as it was or as another. */
static void
joined_expect_not(pthread_t thread)
{
	ck_assert_msg(!joined_replace(thread, thread), "a thread is joined twice");
}

int
__wrap_pthread_create(
    pthread_t *thread, const pthread_attr_t *attr, void *(*body)(void *), void *arg)
{
	int r;

	if (is_starved(EAGAIN))
		return EAGAIN;
	r = __real_pthread_create(thread, attr, body, arg);
	if (!r)
		(void)joined_replace(*thread, 0);
	if (starve_creators)
		usleep(10000);
	return r;
}

int
__wrap_pthread_tryjoin_np(pthread_t thread, void **result)
{
	int r;

	joined_expect_not(thread);
	r = __real_pthread_tryjoin_np(thread, result);
	if (!r)
		(void)joined_replace(0, thread);
	return r;
}

int
__wrap_pthread_timedjoin_np(pthread_t thread, void **result, const struct timespec *until)
{
	int r;

	joined_expect_not(thread);
	r = __real_pthread_timedjoin_np(thread, result, until);
	if (!r)
		(void)joined_replace(0, thread);
	return r;
}

/* ---- what is held ---- */

static char room[64]; /* the folder of names of this test */

static int
count_files(const char *path)
{
	DIR *folder = opendir(path);
	int count = 0;

	if (!folder)
		return 0;
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

/* The bytes of the file of names that are locked. */
static int
count_locks(const char *folder)
{
	struct flock lock = { .l_start = 0 };
	char path[128];
	int fd, count = 0;

	snprintf(path, sizeof path, "%s/softverbs.1.names", folder);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return 0;
	for (;;) {
		lock.l_type = F_WRLCK;
		lock.l_whence = SEEK_SET;
		lock.l_len = 0;
		lock.l_pid = 0;
		ck_assert_int_eq(fcntl(fd, F_OFD_GETLK, &lock), 0);
		if (lock.l_type == F_UNLCK)
			break;
		count += (int)lock.l_len;
		lock.l_start += lock.l_len;
	}
	close(fd);
	return count;
}

struct starve_held
starve_held_now(int threads)
{
	char folder[80];

	snprintf(folder, sizeof folder, "%s/softverbs-%u", room, (unsigned int)geteuid());
	return (struct starve_held){
		.memory = block_count,
		.descriptors = runner_count_fds(),
		.threads = threads < 0 ? runner_count_threads() : runner_await_threads(threads),
		.files = count_files(folder),
		.locks = count_locks(folder),
	};
}

void
starve_expect_held(const struct starve_held *before, const char *when)
{
	const struct starve_held now = starve_held_now(before->threads);
	/* The file of names stays where it was created. */
	const int files = before->files ? before->files : now.files ? 3 : 0;

#define SAME(member, expected) \
	ck_assert_msg(now.member == (expected), "%d of " #member ", not %d, %s (failed: %s)", \
	    now.member, expected, when, starve_failing ? starve_failing : "none")
	SAME(memory, before->memory);
	SAME(descriptors, before->descriptors);
	SAME(threads, before->threads);
	SAME(files, files);
	SAME(locks, before->locks);
#undef SAME
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

void
starve_begin(void)
{
	snprintf(room, sizeof room, "/tmp/soft-starve-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(room));
	unsetenv("XDG_RUNTIME_DIR");
	setenv("TMPDIR", room, 1);
	counting = true;
}

void
starve_end(void)
{
	counting = false;
	nftw(room, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* ---- locks ---- */

#ifdef __GLIBC__
static _Thread_local pid_t thread; /* 0: not asked yet */

static void
forget_thread(void)
{
	thread = 0;
}

static __attribute__((constructor)) void
forget_thread_in_children(void)
{
	pthread_atfork(NULL, NULL, forget_thread);
}
#endif

/* Only the thread that has locked it unlocks a mutex. */
int
__wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
#ifdef __GLIBC__
	if (!thread)
		thread = (pid_t)__real_syscall(SYS_gettid);
	if (mutex->__data.__owner != thread) {
		fprintf(stderr, "a mutex is unlocked that the thread does not have\n");
		abort();
	}
#endif
	return __real_pthread_mutex_unlock(mutex);
}

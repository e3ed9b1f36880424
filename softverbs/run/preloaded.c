/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * preloaded -- libsoftverbs-files.so: leads a program to the files of the devices
 *
 * A library that is preloaded comes before all others, also before those that are loaded later, so
 * it is asked by libraries that a plugin brings, too.  It replaces the functions that take a path,
 * and changes only paths of the four folders that files.h names; all else goes on to the next
 * library as it came.  The names are given by asm labels: the headers of some releases define a
 * few of the functions as macros or inline.
 */
#include "files.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *const folders[] = { "/sys/class/infiniband", "/sys/class/infiniband_verbs",
	"/sys/class/infiniband_mad", "/dev/infiniband" };

/* More than the longest of them has. */
#define BEGIN 32

/*
 * Reads the begin of the path, which need not be in memory of the process: the next function fails
 * with EFAULT then, and this one must not.  In two parts, as the next page may not be there.
 */
static void
preloaded_begin(const char *path, char begin[BEGIN])
{
	const size_t page = 4096 - (uintptr_t)path % 4096;
	const size_t first = page < BEGIN - 1 ? page : BEGIN - 1;
	const struct iovec to = { begin, BEGIN - 1 };
	const struct iovec from[] = { { (void *)(uintptr_t)path, first },
		{ (void *)((uintptr_t)path + first), BEGIN - 1 - first } };
	const int saved = errno;
	ssize_t read = process_vm_readv(getpid(), &to, 1, from, 2, 0);

	if (read < 0 && errno != EFAULT) { /* a sandbox does not allow the call */
		read = path ? (ssize_t)strnlen(path, BEGIN - 1) : 0;
		memcpy(begin, path, (size_t)read);
	}
	begin[read > 0 ? read : 0] = '\0';
	errno = saved;
}

/* The path in the folder of the files, in `there`, or the same path. */
static const char *
preloaded_path(const char *path, char there[PATH_MAX])
{
	const char *files;
	char begin[BEGIN];

	preloaded_begin(path, begin);
	if (begin[0] != '/' || (begin[1] != 's' && begin[1] != 'd'))
		return path;
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		const size_t length = strlen(folders[i]);

		if (strncmp(begin, folders[i], length) != 0 ||
		    (begin[length] && begin[length] != '/'))
			continue;
		files = secure_getenv(SOFT_FILES_VARIABLE);
		if (!files || snprintf(there, PATH_MAX, "%s%s", files, path) >= PATH_MAX)
			return path;
		return there;
	}
	return path;
}

/*
 * The function of this name in the next library.  It is found when the library is loaded, as some
 * of them may be called where dlsym() may not, and at the first call if that is earlier.
 */
static void *
preloaded_next(const char *name)
{
	const int saved = errno;
	void *function = dlsym(RTLD_NEXT, name);

	errno = function ? saved : ENOSYS;
	return function;
}

#define NEXT(type, name, parameters) \
	static type(*_Atomic next_##name) parameters; \
	__attribute__((constructor)) static void next_##name##_find(void) \
	{ \
		*(void *_Atomic *)&next_##name = preloaded_next(#name); \
	}

#define HERE(path) \
	char there_[PATH_MAX]; \
	const char *const path_ = preloaded_path(path, there_)

/* A function with the label `name`; `path_` stands for the path in its arguments. */
#define REPLACE(type, failed, name, path, parameters, arguments) \
	NEXT(type, name, parameters) \
	type preloaded_##name parameters __asm__(#name); \
	type preloaded_##name parameters \
	{ \
		HERE(path); \
\
		if (!next_##name) \
			next_##name##_find(); \
		return next_##name ? next_##name arguments : (failed); \
	}

/* The mode, which is there only with some of the flags. */
#define MODE(flags) \
	mode_t mode = 0; \
	if ((flags)&O_CREAT || ((flags)&O_TMPFILE) == O_TMPFILE) { \
		va_list rest; \
		va_start(rest, flags); \
		mode = va_arg(rest, mode_t); \
		va_end(rest); \
	}

#define REPLACE_OPEN(name) \
	NEXT(int, name, (const char *path, int flags, ...)) \
	int preloaded_##name(const char *path, int flags, ...) __asm__(#name); \
	int preloaded_##name(const char *path, int flags, ...) \
	{ \
		HERE(path); \
		MODE(flags) \
\
		if (!next_##name) \
			next_##name##_find(); \
		return next_##name ? next_##name(path_, flags, mode) : -1; \
	}

#define REPLACE_OPENAT(name) \
	NEXT(int, name, (int folder, const char *path, int flags, ...)) \
	int preloaded_##name(int folder, const char *path, int flags, ...) __asm__(#name); \
	int preloaded_##name(int folder, const char *path, int flags, ...) \
	{ \
		HERE(path); \
		MODE(flags) \
\
		if (!next_##name) \
			next_##name##_find(); \
		return next_##name ? next_##name(folder, path_, flags, mode) : -1; \
	}

/* clang-format off */

REPLACE_OPEN(open)
REPLACE_OPEN(open64)
REPLACE_OPENAT(openat)
REPLACE_OPENAT(openat64)
/* Those of programs that are compiled with _FORTIFY_SOURCE. */
REPLACE(int, -1, __open_2, path, (const char *path, int flags), (path_, flags))
REPLACE(int, -1, __open64_2, path, (const char *path, int flags), (path_, flags))
REPLACE(int, -1, __openat_2, path, (int folder, const char *path, int flags), (folder, path_, flags))
REPLACE(int, -1, __openat64_2, path, (int folder, const char *path, int flags), (folder, path_, flags))
REPLACE(void *, NULL, fopen, path, (const char *path, const char *mode), (path_, mode))
REPLACE(void *, NULL, fopen64, path, (const char *path, const char *mode), (path_, mode))
REPLACE(void *, NULL, freopen, path, (const char *path, const char *mode, void *file), (path_, mode, file))
REPLACE(void *, NULL, freopen64, path, (const char *path, const char *mode, void *file), (path_, mode, file))

REPLACE(int, -1, access, path, (const char *path, int mode), (path_, mode))
REPLACE(int, -1, eaccess, path, (const char *path, int mode), (path_, mode))
REPLACE(int, -1, euidaccess, path, (const char *path, int mode), (path_, mode))
REPLACE(int, -1, faccessat, path, (int folder, const char *path, int mode, int flags), (folder, path_, mode, flags))

REPLACE(int, -1, stat, path, (const char *path, void *st), (path_, st))
REPLACE(int, -1, stat64, path, (const char *path, void *st), (path_, st))
REPLACE(int, -1, lstat, path, (const char *path, void *st), (path_, st))
REPLACE(int, -1, lstat64, path, (const char *path, void *st), (path_, st))
REPLACE(int, -1, fstatat, path, (int folder, const char *path, void *st, int flags), (folder, path_, st, flags))
REPLACE(int, -1, fstatat64, path, (int folder, const char *path, void *st, int flags), (folder, path_, st, flags))
/* Those of programs that were built with a glibc before 2.33. */
REPLACE(int, -1, __xstat, path, (int version, const char *path, void *st), (version, path_, st))
REPLACE(int, -1, __xstat64, path, (int version, const char *path, void *st), (version, path_, st))
REPLACE(int, -1, __lxstat, path, (int version, const char *path, void *st), (version, path_, st))
REPLACE(int, -1, __lxstat64, path, (int version, const char *path, void *st), (version, path_, st))
REPLACE(int, -1, __fxstatat, path, (int version, int folder, const char *path, void *st, int flags),
    (version, folder, path_, st, flags))
REPLACE(int, -1, __fxstatat64, path, (int version, int folder, const char *path, void *st, int flags),
    (version, folder, path_, st, flags))
REPLACE(int, -1, statx, path, (int folder, const char *path, int flags, unsigned int mask, void *st),
    (folder, path_, flags, mask, st))

REPLACE(void *, NULL, opendir, path, (const char *path), (path_))
REPLACE(int, -1, scandir, path, (const char *path, void *list, void *filter, void *compare), (path_, list, filter, compare))
REPLACE(int, -1, scandir64, path, (const char *path, void *list, void *filter, void *compare), (path_, list, filter, compare))
REPLACE(int, -1, glob, path, (const char *path, int flags, void *fn, void *found), (path_, flags, fn, found))
REPLACE(int, -1, glob64, path, (const char *path, int flags, void *fn, void *found), (path_, flags, fn, found))
REPLACE(int, -1, nftw, path, (const char *path, void *fn, int descriptors, int flags), (path_, fn, descriptors, flags))
REPLACE(int, -1, nftw64, path, (const char *path, void *fn, int descriptors, int flags), (path_, fn, descriptors, flags))
REPLACE(int, -1, ftw, path, (const char *path, void *fn, int descriptors), (path_, fn, descriptors))
REPLACE(int, -1, ftw64, path, (const char *path, void *fn, int descriptors), (path_, fn, descriptors))
/* "ls -l" asks for these. */
REPLACE(ssize_t, -1, getxattr, path, (const char *path, const char *what, void *to, size_t size), (path_, what, to, size))
REPLACE(ssize_t, -1, lgetxattr, path, (const char *path, const char *what, void *to, size_t size), (path_, what, to, size))
REPLACE(ssize_t, -1, listxattr, path, (const char *path, char *to, size_t size), (path_, to, size))
REPLACE(ssize_t, -1, llistxattr, path, (const char *path, char *to, size_t size), (path_, to, size))
REPLACE(int, -1, statfs, path, (const char *path, void *st), (path_, st))
REPLACE(int, -1, statfs64, path, (const char *path, void *st), (path_, st))
REPLACE(int, -1, statvfs, path, (const char *path, void *st), (path_, st))
REPLACE(int, -1, statvfs64, path, (const char *path, void *st), (path_, st))
REPLACE(int, -1, inotify_add_watch, path, (int fd, const char *path, uint32_t mask), (fd, path_, mask))
REPLACE(int, -1, chdir, path, (const char *path), (path_))

REPLACE(ssize_t, -1, readlink, path, (const char *path, char *to, size_t size), (path_, to, size))
REPLACE(ssize_t, -1, __readlink_chk, path, (const char *path, char *to, size_t size, size_t most), (path_, to, size, most))
REPLACE(ssize_t, -1, readlinkat, path, (int folder, const char *path, char *to, size_t size), (folder, path_, to, size))
REPLACE(ssize_t, -1, __readlinkat_chk, path, (int folder, const char *path, char *to, size_t size, size_t most),
    (folder, path_, to, size, most))
REPLACE(char *, NULL, realpath, path, (const char *path, char *to), (path_, to))
REPLACE(char *, NULL, __realpath_chk, path, (const char *path, char *to, size_t most), (path_, to, most))
REPLACE(char *, NULL, canonicalize_file_name, path, (const char *path), (path_))

/* SPDX-License-Identifier: BSD-3-Clause */
#include "folder.h"

#include "host.h"
#include "reach.h"
#include "stub.h"

#include "softverbs/device/mode.h"
#include "say.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define LIBRARIES 2

/* Children of root may be of other users. */
#define FOLDER_MODE (S_IRWXU | S_IRGRP | S_IXGRP | S_IROTH | S_IXOTH)
#define FILE_MODE 0555

struct image {
	const char *name;
	unsigned char *bytes;
	size_t size;
};

/* FNV-1a: names the folder, and protects nothing. */
static uint64_t
folder_sum(uint64_t hash, const unsigned char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3;
	return hash;
}

/* ---- one file ---- */

static bool
folder_is_written(int folder, const struct image *image)
{
	const int fd = openat(folder, image->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	unsigned char *there = malloc(image->size + 1);
	struct stat st;
	const bool same = fd >= 0 && there && !fstat(fd, &st) &&
			  (st.st_mode & 07777) == FILE_MODE &&
			  pread(fd, there, image->size + 1, 0) == (ssize_t)image->size &&
			  !memcmp(there, image->bytes, image->size);

	free(there);
	if (fd >= 0)
		close(fd);
	return same;
}

/* Under another name first, so that no program sees a part of it: 0 or -errno. */
static int
folder_write_image(int folder, const struct image *image)
{
	char name[64];
	int fd, r = 0;
	ssize_t written;

	if (folder_is_written(folder, image))
		return 0;
	snprintf(name, sizeof name, ".%s.%ld", image->name, (long)getpid());
	(void)unlinkat(folder, name, 0);
	fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
	if (fd < 0)
		return -errno;
	written = write(fd, image->bytes, image->size);
	if (written != (ssize_t)image->size)
		r = written < 0 ? -errno : -ENOSPC;
	/* Whatever the umask takes. */
	if (!r && fchmod(fd, FILE_MODE))
		r = -errno;
	if (close(fd) && !r)
		r = -errno;
	if (!r && renameat(folder, name, folder, image->name))
		r = -errno;
	if (r)
		(void)unlinkat(folder, name, 0);
	return r;
}

/* The name that dlopen() is called with, too. */
static int
folder_link_image(int folder, const struct image *image)
{
	char name[64];

	snprintf(name, sizeof name, "%.*s", (int)(strlen(image->name) - strlen(".1")), image->name);
	return symlinkat(image->name, folder, name) && errno != EEXIST ? -errno : 0;
}

/* ---- the folder ---- */

/*
 * A folder of this user that others cannot change, from which libraries can be mapped: 0, or -errno
 * and why.
 */
static int
folder_open_own(int parent, const char *name, const char **why)
{
	struct statvfs system;
	struct stat st;
	int fd;

	*why = NULL;
	if (mkdirat(parent, name, FOLDER_MODE) && errno != EEXIST)
		return -errno;
	fd = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		(void)soft_mode_give(fd, S_IFDIR, FOLDER_MODE);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || fstatvfs(fd, &system))
		*why = strerror(errno);
	else if (st.st_uid != geteuid())
		*why = "belongs to another user";
	else if (st.st_mode & (S_IWGRP | S_IWOTH))
		*why = "can be changed by others";
	else if (system.f_flag & ST_NOEXEC)
		*why = "is mounted with noexec, so no library can be loaded from there";
	if (!*why)
		return fd;
	close(fd);
	return -EACCES;
}

/* Makes the folder in `parent`: its path, or NULL and why. */
static char *
folder_make_in(const char *parent, const struct image images[LIBRARIES], const char **why)
{
	const int top = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	uint64_t hash = 0xcbf29ce484222325;
	char own[64], name[32], *path = NULL;
	int user = -1, folder = -1, r;

	for (int i = 0; i < LIBRARIES; i++)
		hash = folder_sum(hash, images[i].bytes, images[i].size);
	snprintf(own, sizeof own, "softverbs-libraries-%u", (unsigned int)geteuid());
	snprintf(name, sizeof name, "%016llx", (unsigned long long)hash);
	*why = NULL;
	r = top < 0 ? -errno : (user = folder_open_own(top, own, why));
	if (user >= 0)
		r = folder = folder_open_own(user, name, why);
	for (int i = 0; i < LIBRARIES && r >= 0; i++) {
		r = folder_write_image(folder, &images[i]);
		if (!r)
			r = folder_link_image(folder, &images[i]);
	}
	if (r >= 0 && asprintf(&path, "%s/%s/%s", parent, own, name) < 0) {
		path = NULL;
		r = -ENOMEM;
	}
	if (r < 0 && !*why)
		*why = strerror(-r);
	if (folder >= 0)
		close(folder);
	if (user >= 0)
		close(user);
	if (top >= 0)
		close(top);
	return path;
}

/* Children of root may be of other users, who do not reach its own directory. */
static const char *
folder_runtime(void)
{
	const char *path = getenv("XDG_RUNTIME_DIR");
	struct stat there;

	return path && !geteuid() && !stat(path, &there) && !(there.st_mode & S_IXOTH) ? NULL :
											 path;
}

/* In the first of these that can have it; the message names all. */
static char *
folder_make(const struct image images[LIBRARIES])
{
	const char *places[] = { folder_runtime(), getenv("TMPDIR"), "/tmp", "/var/tmp",
		getenv("HOME") };
	const char *why[sizeof places / sizeof *places] = { 0 };
	char *path, *reasons = NULL;
	size_t size;
	FILE *stream;

	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		if (!places[i] || *places[i] != '/' || !soft_reach_can_name(places[i]))
			continue;
		path = folder_make_in(places[i], images, &why[i]);
		if (path)
			return path;
	}
	stream = open_memstream(&reasons, &size);
	for (size_t i = 0; stream && i < sizeof places / sizeof *places; i++)
		if (why[i])
			fprintf(stream, " %s: %s;", places[i], why[i]);
	if (stream && !fclose(stream))
		soft_say("softverbs-run: no folder for its libraries:%s set TMPDIR to one that can "
			 "be written, without noexec",
		    reasons);
	free(reasons);
	return NULL;
}

char *
soft_folder_make(const char *library, const char *program)
{
	struct soft_interface interfaces[LIBRARIES] = { { .soname = "libibverbs.so.1" },
		{ .soname = "librdmacm.so.1" } };
	struct image images[LIBRARIES];
	char *path = NULL;
	bool made = soft_host_read(interfaces, LIBRARIES, library, program);

	for (int i = 0; i < LIBRARIES; i++) {
		const struct soft_stub stub = { .soname = interfaces[i].soname,
			.needed = library,
			.versions = interfaces[i].versions,
			.version_count = interfaces[i].version_count,
			.symbols = interfaces[i].symbols,
			.symbol_count = interfaces[i].symbol_count };

		images[i].name = stub.soname;
		images[i].bytes = soft_stub_image(&stub, &images[i].size);
		made = made && images[i].bytes;
	}
	if (made)
		path = folder_make(images);
	else
		soft_say("softverbs-run: %s: %s", library, strerror(errno));
	for (int i = 0; i < LIBRARIES; i++) {
		free(images[i].bytes);
		soft_interface_free(&interfaces[i]);
	}
	return path;
}

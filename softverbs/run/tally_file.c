/* SPDX-License-Identifier: BSD-3-Clause */
#include "tally_file.h"
#include "parent.h"
#include "softverbs/device/size.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "softverbs-check-"
#define NAME_OF_FOLDER "softverbs-sweep-"
#define UNIQUE "XXXXXX"

static int
file_remove_one(const char *path, const struct stat *status, int type, struct FTW *place)
{
	(void)status, (void)type, (void)place;
	(void)remove(path);
	return 0;
}

void
soft_tally_folder_remove(const char *path)
{
	nftw(path, file_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/*
 * A file or a folder with such a name of this user that no run has locked.  The lock is held when
 * it is removed, so no run takes it.
 */
static void
file_remove_left(int folder, const char *parent, const char *name)
{
	const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	const bool is_folder = !strncmp(name, NAME_OF_FOLDER, strlen(NAME_OF_FOLDER));
	struct stat file;
	char *path = NULL;

	if (fd < 0)
		return;
	if (!fstat(fd, &file) && (file.st_mode & S_IFMT) == (is_folder ? S_IFDIR : S_IFREG) &&
	    file.st_uid == geteuid() && !flock(fd, LOCK_EX | LOCK_NB)) {
		if (!is_folder)
			unlinkat(folder, name, 0);
		else if (asprintf(&path, "%s/%s", parent, name) > 0)
			soft_tally_folder_remove(path);
	}
	free(path);
	close(fd);
}

static void
file_remove_all_left(const char *folder)
{
	DIR *files = opendir(folder);
	const struct dirent *entry;

	if (!files)
		return;
	while ((entry = readdir(files)))
		if ((!strncmp(entry->d_name, NAME, strlen(NAME)) ||
			!strncmp(entry->d_name, NAME_OF_FOLDER, strlen(NAME_OF_FOLDER))) &&
		    strlen(entry->d_name) == strlen(NAME UNIQUE))
			file_remove_left(dirfd(files), folder, entry->d_name);
	closedir(files);
}

/* A new file or folder: a descriptor, or -1 with errno. */
static int
file_open_new(char *path, bool is_folder)
{
	if (!is_folder)
		return mkostemp(path, O_CLOEXEC);
	return mkdtemp(path) ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW) : -1;
}

/* Another run may have removed it before it was locked. */
static int
file_make(char *path, bool is_folder)
{
	const mode_t mode = is_folder ? S_IRWXU : S_IRUSR | S_IWUSR;
	struct stat file;
	int fd;

	for (;;) {
		fd = file_open_new(path, is_folder);
		/* The processes of the run open it by its name, whatever their umask. */
		if (fd < 0 || fchmod(fd, mode) || flock(fd, LOCK_EX) || fstat(fd, &file))
			soft_parent_fail(path);
		if (file.st_nlink)
			return fd;
		close(fd);
		memcpy(path + strlen(path) - strlen(UNIQUE), UNIQUE, strlen(UNIQUE));
	}
}

void
soft_tally_file_remove_left(void)
{
	char *folder = soft_parent_temporary();

	file_remove_all_left(folder);
	free(folder);
}

char *
soft_tally_folder_create(void)
{
	char *parent = soft_parent_temporary(), *path;

	file_remove_all_left(parent);
	if (asprintf(&path, "%s/" NAME_OF_FOLDER UNIQUE, parent) < 0)
		soft_parent_fail("TMPDIR");
	free(parent);
	(void)file_make(path, true);
	return path;
}

/* It stays open, for the lock. */
static void *
file_create(size_t size, const char *variable, char **path)
{
	char *folder = soft_parent_temporary();
	void *memory;
	int fd;

	file_remove_all_left(folder);
	if (asprintf(path, "%s/" NAME UNIQUE, folder) < 0)
		soft_parent_fail("TMPDIR");
	free(folder);
	fd = file_make(*path, false);
	/* Reserved, or a process that writes where no room is would be ended by SIGBUS. */
	errno = -soft_size_check(size);
	if (!errno)
		errno = posix_fallocate(fd, 0, (off_t)size);
	if (errno) {
		unlink(*path);
		soft_parent_fail(*path);
	}
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		soft_parent_fail(*path);
	soft_parent_set(variable, *path);
	return memory;
}

struct soft_tally *
soft_tally_file_create(char **path)
{
	return file_create(sizeof(struct soft_tally), "SOFTVERBS_CHECK_TALLY", path);
}

struct soft_record *
soft_record_file_create(char **path)
{
	struct soft_record *record = file_create(sizeof *record, "SOFTVERBS_FAULTS_RECORD", path);

	record->layout = SOFT_RECORD_LAYOUT;
	return record;
}

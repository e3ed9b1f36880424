/* SPDX-License-Identifier: BSD-3-Clause */
#include "process.h"

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What /proc has in a small file, with a zero at the end; false if it has no such file. */
static bool
read_proc(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	size_t n;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, name);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	n = fread(text, 1, size - 1, file);
	fclose(file);
	text[n] = '\0';
	return n != 0;
}

/* Field 22; the second one is in parentheses and may have anything in it. */
static uint64_t
find_start(const char *stat)
{
	const char *at = strrchr(stat, ')');
	unsigned long long started = 0;

	for (int field = 2; at != NULL && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (at != NULL && sscanf(at, " %llu", &started) != 1)
		return 0;
	return started;
}

/*
 * Whether /proc is that of this process's PID namespace.  In another one it has other processes
 * under the same numbers.
 */
static bool
proc_is_own(void)
{
	char link[32];
	const ssize_t n = readlink("/proc/self", link, sizeof link - 1);

	if (n <= 0)
		return false;
	link[n] = '\0';
	return strtol(link, NULL, 10) == (long)getpid();
}

/* The PID namespace of this process; 0: not known. */
static uint64_t
own_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) != 0 ? 0 : st.st_ino;
}

static bool
find_users(const char *status, unsigned int uid[4])
{
	const char *line = strstr(status, "\nUid:");

	return line != NULL &&
	       sscanf(line, "\nUid: %u %u %u %u", &uid[0], &uid[1], &uid[2], &uid[3]) == 4;
}

bool
process_find(pid_t pid, struct process *process)
{
	char text[4096];
	size_t i;

	*process = (struct process){ .pid = pid, .command = "?" };
	if (kill(pid, 0) != 0 && errno == ESRCH)
		return false;
	if (!proc_is_own())
		return true;
	if (read_proc(pid, "stat", text, sizeof text))
		process->started = find_start(text);
	if (read_proc(pid, "status", text, sizeof text))
		process->in_proc = find_users(text, process->uid);
	if (!read_proc(pid, "comm", process->command, sizeof process->command))
		snprintf(process->command, sizeof process->command, "?");
	process->command[strcspn(process->command, "\n")] = '\0';
	for (i = 0; process->command[i] != '\0'; i++)
		if (process->command[i] < ' ' || process->command[i] > '~')
			process->command[i] = '?';
	return true;
}

/* ---- whose a page is ---- */

enum owner {
	OWNER_LIVES, /* the process with number *pid */
	OWNER_HIDDEN,
	OWNER_STRANGE,
	OWNER_ENDED,
	OWNER_UNKNOWN /* of no process that is to be seen, and not to be removed either */
};

/* Only the user of a process, and root, may say what it does. */
static bool
may_speak_for(uid_t user, const struct process *process)
{
	int i;

	if (user == 0 || user == geteuid())
		return true;
	for (i = 0; process->in_proc && i < 4; i++)
		if (process->uid[i] == user)
			return true;
	return false;
}

/*
 * No process has the lock.  The process of that number, if it is the one that made the page, has
 * closed its descriptors.  Only a page that was made in this namespace, by a process that is known
 * not to live any more, is left over.
 */
static enum owner
find_owner_without_lock(int fd, pid_t named, struct process *process)
{
	struct evd_stats_head head;
	const enum page_state state = page_read_head(fd, &head);
	const bool lives = process_find(named, process);

	if (state != PAGE_READ)
		return lives && state == PAGE_OTHER ? OWNER_LIVES : OWNER_UNKNOWN;
	if (!proc_is_own() || head.pid_namespace == 0 || head.pid_namespace != own_namespace())
		return OWNER_HIDDEN;
	if (head.pid != (uint64_t)named)
		return OWNER_UNKNOWN;
	if (!lives)
		return OWNER_ENDED;
	if (process->started == 0 || head.started == 0)
		return OWNER_UNKNOWN;
	return process->started == head.started ? OWNER_LIVES : OWNER_ENDED;
}

static enum owner
find_owner(int fd, pid_t named, struct process *process)
{
	const pid_t holder = page_holder(fd);
	enum owner owner = OWNER_LIVES;
	struct stat st;

	*process = (struct process){ .pid = named };
	if (holder == 0)
		return OWNER_HIDDEN;
	if (holder < 0)
		owner = find_owner_without_lock(fd, named, process);
	else if (!process_find(holder, process))
		owner = OWNER_UNKNOWN; /* it has just ended */
	if (owner == OWNER_LIVES && (fstat(fd, &st) != 0 || !may_speak_for(st.st_uid, process)))
		owner = OWNER_STRANGE;
	return owner;
}

/* ---- the folder ---- */

/* The number in the name of a file, or 0. */
static pid_t
pid_of_name(const char *name)
{
	char again[64];
	long pid;
	int n;

	if (sscanf(name, EVD_STATS_PREFIX "-%ld-%d", &pid, &n) != 2 || pid <= 0 || pid > INT_MAX ||
	    n < 0 || n >= EVD_STATS_PAGES)
		return 0;
	snprintf(again, sizeof again, EVD_STATS_PREFIX "-%ld-%d", pid, n);
	return strcmp(name, again) == 0 ? (pid_t)pid : 0;
}

/* The next file that may be a page; its name is printable.  NULL after the last. */
static const char *
next_page(DIR *folder, pid_t *named)
{
	struct dirent *entry;

	while ((entry = readdir(folder)) != NULL) {
		*named = pid_of_name(entry->d_name);
		if (*named != 0)
			return entry->d_name;
	}
	return NULL;
}

/*
 * The file was left by a process that has ended: removes it if it is this user's, and still the
 * same.
 */
static void
remove_left(int folder, const char *name, int fd)
{
	struct stat st, named;

	if (fstat(fd, &st) == 0 && fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	    st.st_dev == named.st_dev && st.st_ino == named.st_ino && st.st_uid == geteuid() &&
	    page_holder(fd) < 0)
		(void)unlinkat(folder, name, 0);
}

static int
compare(const void *a, const void *b)
{
	const struct page_file *x = a, *y = b;

	if (x->process.pid != y->process.pid)
		return x->process.pid < y->process.pid ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* What is to be done with one; false: nothing. */
static bool
examine(int folder, const char *name, pid_t named, struct page_file *file)
{
	const int fd = page_open(folder, name);
	enum owner owner;

	*file = (struct page_file){ .process = { .pid = named }, .state = PAGE_READ };
	snprintf(file->name, sizeof file->name, "%.47s", name); /* it is shorter */
	if (fd < 0) {
		file->state = PAGE_FAILED;
		file->error = errno;
		return errno != ENOENT;
	}
	owner = find_owner(fd, named, &file->process);
	if (owner == OWNER_ENDED)
		remove_left(folder, name, fd);
	else if (owner == OWNER_HIDDEN)
		file->state = PAGE_HIDDEN;
	else if (owner == OWNER_STRANGE)
		file->state = PAGE_STRANGE;
	if (owner != OWNER_LIVES)
		file->process.pid = named;
	close(fd);
	return owner != OWNER_ENDED && owner != OWNER_UNKNOWN;
}

bool
page_folder_read(struct page_folder *folder)
{
	DIR *directory = opendir(EVD_STATS_FOLDER);
	struct page_file file;
	const char *name;
	size_t room = 0;
	pid_t named;

	*folder = (struct page_folder){ .files = NULL };
	if (directory == NULL)
		return false;
	while ((name = next_page(directory, &named)) != NULL) {
		if (!examine(dirfd(directory), name, named, &file))
			continue;
		if (folder->count == room) {
			room = room != 0 ? 2 * room : 64;
			folder->files = realloc(folder->files, room * sizeof file);
			if (folder->files == NULL)
				err(1, "no memory");
		}
		folder->files[folder->count++] = file;
	}
	closedir(directory);
	if (folder->count != 0)
		qsort(folder->files, folder->count, sizeof file, compare);
	return true;
}

void
page_folder_free(struct page_folder *folder)
{
	free(folder->files);
	*folder = (struct page_folder){ .files = NULL };
}

const struct page_file *
page_folder_of(const struct page_folder *folder, pid_t pid, size_t *count)
{
	size_t low = 0, high = folder->count, end;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (folder->files[middle].process.pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < folder->count && folder->files[end].process.pid == pid; end++)
		;
	*count = end - low;
	return folder->files + low;
}

/* The file may have become another one since it was examined. */
static enum page_state
read_file(const struct page_file *file, struct page *page, const char *path, int *patience)
{
	enum page_state state = file->state;
	struct process owner;
	int fd;

	*page = (struct page){ .rows = NULL };
	errno = file->error;
	if (state != PAGE_READ)
		return state;
	fd = page_open(AT_FDCWD, path);
	if (fd < 0)
		return PAGE_FAILED;
	if (find_owner(fd, file->process.pid, &owner) != OWNER_LIVES ||
	    owner.pid != file->process.pid)
		state = PAGE_STRANGE;
	else if (!page_is_whole(fd))
		state = PAGE_BROKEN;
	else
		state = page_read(fd, page, patience);
	close(fd);
	return state;
}

int
process_read(const struct page_file *files, size_t count, struct page pages[EVD_STATS_PAGES],
    enum page_state *state, struct page *failed, char *path, size_t size, int *patience)
{
	char full[sizeof EVD_STATS_FOLDER + sizeof files->name];
	enum page_state now;
	struct page page;
	int found = 0, error = 0;

	path[0] = '\0';
	*state = PAGE_FAILED;
	for (size_t i = 0; i < count && found < EVD_STATS_PAGES; i++) {
		snprintf(full, sizeof full, EVD_STATS_FOLDER "/%s", files[i].name);
		now = read_file(&files[i], &page, full, patience);
		if (now == PAGE_READ) {
			pages[found++] = page;
		} else {
			error = errno;
			*state = now;
			*failed = page;
			snprintf(path, size, "%.63s", full);
		}
	}
	errno = error; /* of the last that failed, in state PAGE_FAILED */
	return found;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "process.h"

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
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

bool
process_find(pid_t pid, struct process *process)
{
	char stat[1024];
	size_t i;

	*process = (struct process){ .pid = pid };
	if (kill(pid, 0) != 0 && errno == ESRCH)
		return false;
	if (read_proc(pid, "stat", stat, sizeof stat))
		process->started = find_start(stat);
	if (!read_proc(pid, "comm", process->command, sizeof process->command))
		snprintf(process->command, sizeof process->command, "?");
	process->command[strcspn(process->command, "\n")] = '\0';
	for (i = 0; process->command[i] != '\0'; i++)
		if (process->command[i] < ' ' || process->command[i] > '~')
			process->command[i] = '?';
	return true;
}

/* Whether an earlier process with this number has left the page. */
static bool
is_stale(const struct process *process, const struct page *page)
{
	return process->started != 0 && page->head.started != 0 &&
	       page->head.started != process->started;
}

int
process_read(const struct process *process, struct page pages[DAPL_STATS_PAGES],
    enum page_state *state, struct page *failed, char *path, size_t size)
{
	char name[64];
	struct page page;
	enum page_state now;
	int fd, n, found = 0, error = 0;

	path[0] = '\0';
	*state = PAGE_FAILED;
	for (n = 0; n < DAPL_STATS_PAGES; n++) {
		snprintf(name, sizeof name, DAPL_STATS_FOLDER "/" DAPL_STATS_PREFIX "-%ld-%d",
		    (long)process->pid, n);
		page = (struct page){ .rows = NULL };
		fd = page_open(name);
		if (fd < 0 && errno == ENOENT)
			continue;
		now = fd < 0 ? PAGE_FAILED : page_read(fd, &page);
		if (fd >= 0)
			close(fd);
		if (now == PAGE_READ && !is_stale(process, &page)) {
			pages[found++] = page;
		} else if (now == PAGE_READ) {
			page_free(&page);
		} else {
			error = errno;
			*state = now;
			*failed = page;
			snprintf(path, size, "%s", name);
		}
	}
	errno = error; /* of the last that failed, in state PAGE_FAILED */
	return found;
}

/* The process of the file of this name, or 0. */
static pid_t
pid_of_name(const char *name)
{
	char again[64];
	long pid;
	int n;

	if (sscanf(name, DAPL_STATS_PREFIX "-%ld-%d", &pid, &n) != 2 || pid <= 0)
		return 0;
	snprintf(again, sizeof again, DAPL_STATS_PREFIX "-%ld-%d", pid, n);
	return strcmp(name, again) == 0 ? (pid_t)pid : 0;
}

/* The file was left by a process that has ended: removes it if it is this user's. */
static void
remove_stale(int folder, const char *name)
{
	struct stat st;

	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	    st.st_uid == geteuid())
		(void)unlinkat(folder, name, 0);
}

static int
compare(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

struct process *
process_list(size_t *count)
{
	struct process *list = NULL, *more, process;
	DIR *folder = opendir(DAPL_STATS_FOLDER);
	struct dirent *entry;
	size_t n = 0, i;
	pid_t pid;

	if (folder == NULL)
		return NULL;
	while ((entry = readdir(folder)) != NULL) {
		pid = pid_of_name(entry->d_name);
		if (pid == 0)
			continue;
		if (!process_find(pid, &process)) {
			remove_stale(dirfd(folder), entry->d_name);
			continue;
		}
		for (i = 0; i < n && list[i].pid != pid; i++)
			;
		if (i < n || faccessat(dirfd(folder), entry->d_name, R_OK, AT_EACCESS) != 0)
			continue;
		more = realloc(list, (n + 1) * sizeof *list);
		if (more == NULL)
			err(1, "no memory");
		list = more;
		list[n++] = process;
	}
	closedir(folder);
	if (n != 0)
		qsort(list, n, sizeof *list, compare);
	*count = n;
	return list != NULL ? list : calloc(1, sizeof *list);
}

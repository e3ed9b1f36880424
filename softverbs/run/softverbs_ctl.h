/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * softverbs_ctl -- commands the processes of softverbs-run --control, from a test
 *
 *	#include <softverbs_ctl.h>
 *
 *	softverbs_ctl(NULL, "do event.port_err", NULL);			all processes
 *	softverbs_ctl("rping", "do ibv_reg_mr:errno=ENOMEM", &text);	the next call of it
 *	softverbs_ctl("4711", "dump", &text);				its state, as lines of JSON
 *
 * There is nothing to link; C needs POSIX.1-2008, as with -std=gnu11.  softverbs-ctl(1)
 * describes the rules and the state.
 */
#ifndef SOFTVERBS_CTL_H
#define SOFTVERBS_CTL_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/un.h>
#include <unistd.h>

/* How long a process may take to answer, in seconds. */
#define SOFTVERBS_CTL_PATIENCE 10

#define SOFTVERBS_CTL_SOCKET "softverbs.1.control."

/* The directory in which the processes of the user meet: a descriptor, or -1 with errno. */
static inline int
softverbs_ctl_directory(void)
{
	const char *path = getenv("XDG_RUNTIME_DIR"), *temporary = getenv("TMPDIR");
	char name[4096];
	struct stat st;

	if (path && *path == '/' && !stat(path, &st) && st.st_uid == geteuid() &&
	    !(st.st_mode & (S_IWGRP | S_IWOTH)))
		snprintf(name, sizeof name, "%s/softverbs", path);
	else
		snprintf(name, sizeof name, "%s/softverbs-%u",
		    temporary && *temporary == '/' ? temporary : "/tmp", (unsigned int)geteuid());
	return open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* A connection to a process of this user: a descriptor, or -1 with errno. */
static inline int
softverbs_ctl_connect(int directory, const char *name)
{
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	const struct timeval patience = { SOFTVERBS_CTL_PATIENCE, 0 };
	struct {
		int pid;
		uid_t uid;
		gid_t gid;
	} peer; /* struct ucred */
	socklen_t length = sizeof peer;
	struct sockaddr_un to;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	memset(&to, 0, sizeof to);
	to.sun_family = AF_UNIX;
	/* The path of the directory can be longer than the address. */
	snprintf(to.sun_path, sizeof to.sun_path, "/proc/self/fd/%d/%.64s", directory, name);
	if (!connect(fd, (struct sockaddr *)&to, sizeof to) &&
	    !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length)) {
		if (peer.uid == geteuid())
			return fd;
		errno = EACCES;
	}
	close(fd);
	return -1;
}

/* Sends the request and reads all of the answer: allocated, or NULL with errno. */
static inline char *
softverbs_ctl_exchange(int fd, const char *process, const char *request)
{
	char packet[4096], *text = NULL, *more;
	size_t size = 0, used = 0;
	ssize_t n;

	n = snprintf(packet, sizeof packet, "%s\n%s", process ? process : "", request);
	if ((size_t)n >= sizeof packet) {
		errno = EMSGSIZE;
		return NULL;
	}
	if (send(fd, packet, (size_t)n, MSG_NOSIGNAL) < 0)
		return NULL;
	for (;;) {
		if (size - used < 65536) {
			more = (char *)realloc(text, size += 131072);
			if (!more)
				break;
			text = more;
		}
		n = read(fd, text + used, size - used - 1);
		if (n > 0) {
			used += (size_t)n;
			continue;
		}
		text[used] = '\0';
		/* The whole of it: the second word of the first line is how much follows. */
		more = n < 0 ? NULL : strchr(text, '\n');
		if (more && strtoul(text + 1, NULL, 10) == (size_t)(text + used - more - 1))
			return text;
		errno = n < 0 ? errno : ECONNRESET;
		break;
	}
	free(text);
	return NULL;
}

/* The same for the process at one socket: what softverbs_ctl() counts, or -1 with errno. */
static inline int
softverbs_ctl_ask(
    int directory, const char *name, const char *process, const char *request, FILE *answers)
{
	const int fd = softverbs_ctl_connect(directory, name);
	char *text = fd < 0 ? NULL : softverbs_ctl_exchange(fd, process, request);
	const char letter = text ? *text : '\0';

	/* It has ended, long ago or just now. */
	if (!text &&
	    (errno == ECONNREFUSED || errno == ENOENT || errno == ECONNRESET || errno == EPIPE))
		errno = 0;
	if (text && letter != '=')
		fputs(strchr(text, '\n') + 1, answers);
	if (letter == '-')
		errno = EINVAL;
	else if (errno == EAGAIN)
		errno = ETIMEDOUT;
	free(text);
	if (fd >= 0)
		close(fd);
	return letter == '+' ? 1 : letter == '=' || !errno ? 0 : -1;
}

/*
 * Sends a request to each process that it names: a number, a name of the run, the command of the
 * program; NULL is all.  Returns how many have done it, or -1 with errno: ESRCH: there is no such
 * process; EINVAL: one has refused it; another: one has not answered.  `answer`, unless it is NULL,
 * gets what they say, which the caller frees: the dumps, or why it was refused.
 */
static inline int
softverbs_ctl(const char *process, const char *request, char **answer)
{
	const int directory = softverbs_ctl_directory();
	DIR *entries = directory < 0 ? NULL : fdopendir(directory);
	int r, done = 0, error = 0;
	struct dirent *entry;
	char *all = NULL;
	size_t size = 0;
	FILE *answers = open_memstream(&all, &size);

	while (answers && entries && (entry = readdir(entries))) {
		if (strncmp(entry->d_name, SOFTVERBS_CTL_SOCKET, strlen(SOFTVERBS_CTL_SOCKET)))
			continue;
		r = softverbs_ctl_ask(directory, entry->d_name, process, request, answers);
		if (r < 0)
			error = errno;
		else
			done += r;
	}
	if (entries)
		closedir(entries);
	else if (directory >= 0)
		close(directory);
	if (!answers || fclose(answers))
		error = ENOMEM;
	if (answer)
		*answer = all;
	else
		free(all);
	errno = error ? error : ESRCH;
	return error || !done ? -1 : done;
}

#endif

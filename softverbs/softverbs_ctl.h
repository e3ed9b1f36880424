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
#include <time.h>
#include <unistd.h>

/*
 * A process of the user may mean harm.  How long one may take to answer, in seconds; how long its
 * packets and all answers together may be.
 */
#ifndef SOFTVERBS_CTL_PATIENCE
#define SOFTVERBS_CTL_PATIENCE 10
#endif
#ifndef SOFTVERBS_CTL_MOST
#define SOFTVERBS_CTL_MOST ((size_t)64 << 20)
#endif
#define SOFTVERBS_CTL_PACKET 65536

#define SOFTVERBS_CTL_SOCKET "softverbs.1.control."

/*
 * Whether this user, and no other, can write to a directory.  The file system may be mounted
 * read-only.  A sandbox may refuse the call that knows the effective user.
 */
static inline int
softverbs_ctl_usable(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH)) &&
	       (!faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) ||
		   (errno == EPERM && !access(path, W_OK | X_OK)));
}

/*
 * Where the processes of the user meet, for both the device and who commands it: "softverbs" in
 * $XDG_RUNTIME_DIR, else "softverbs-UID" in $TMPDIR or /tmp.  Returns the second of these; the
 * arguments are the values of the variables, or NULL.  A runtime directory that does not exist,
 * belongs to another user or cannot be written to counts as not set.
 */
static inline const char *
softverbs_ctl_parent(const char *runtime, const char *temporary, char name[32])
{
	if (runtime && *runtime == '/' && softverbs_ctl_usable(runtime)) {
		snprintf(name, 32, "softverbs");
		return runtime;
	}
	snprintf(name, 32, "softverbs-%u", (unsigned int)geteuid());
	return temporary && *temporary == '/' ? temporary : "/tmp";
}

/* That directory: a descriptor, or -1 with errno. */
static inline int
softverbs_ctl_directory(void)
{
	char name[32], path[4096];
	const char *parent =
	    softverbs_ctl_parent(getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), name);

	errno = ENAMETOOLONG;
	if (snprintf(path, sizeof path, "%s/%s", parent, name) >= (int)sizeof path)
		return -1;
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Microseconds. */
static inline long long
softverbs_ctl_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

/* The next call with the socket waits until the deadline at most; -1 with errno if that is over. */
static inline int
softverbs_ctl_hurry(int fd, long long deadline)
{
	const long long left = deadline - softverbs_ctl_now();
	struct timeval most;

	errno = ETIMEDOUT;
	if (left <= 0)
		return -1;
	most.tv_sec = left / 1000000;
	most.tv_usec = left % 1000000;
	return setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most) ||
		       setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most) ?
		   -1 :
		   0;
}

/* A call has failed: whether to make it again, if there is time. */
static inline int
softverbs_ctl_again(void)
{
	return errno == EINTR || errno == EAGAIN;
}

/* A connection to a process of this user: a descriptor, or -1 with errno. */
static inline int
softverbs_ctl_connect(int directory, const char *name, long long deadline)
{
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct {
		int pid;
		uid_t uid;
		gid_t gid;
	} peer; /* struct ucred */
	socklen_t length = sizeof peer;
	struct sockaddr_un to;
	int r;

	if (fd < 0)
		return -1;
	memset(&to, 0, sizeof to);
	to.sun_family = AF_UNIX;
	/* The path of the directory can be longer than the address. */
	snprintf(to.sun_path, sizeof to.sun_path, "/proc/self/fd/%d/%.64s", directory, name);
	do
		r = softverbs_ctl_hurry(fd, deadline) ?
			-1 :
			connect(fd, (struct sockaddr *)&to, sizeof to);
	while (r && softverbs_ctl_again());
	if (!r && !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length)) {
		if (peer.uid == geteuid())
			return fd;
		errno = EACCES;
	}
	close(fd);
	return -1;
}

/* 0, or -1 with errno. */
static inline int
softverbs_ctl_send(int fd, const char *process, const char *request, long long deadline)
{
	char packet[4096];
	ssize_t n;
	const int size = snprintf(packet, sizeof packet, "%s\n%s", process ? process : "", request);

	errno = EMSGSIZE;
	if ((size_t)size >= sizeof packet)
		return -1;
	do
		n = softverbs_ctl_hurry(fd, deadline) ?
			-1 :
			send(fd, packet, (size_t)size, MSG_NOSIGNAL);
	while (n < 0 && softverbs_ctl_again());
	return n < 0 ? -1 : 0;
}

/* A packet, which has to fit and is not empty: its length, or 0 with errno. */
static inline size_t
softverbs_ctl_receive(int fd, char *to, size_t size, long long deadline)
{
	ssize_t n;

	do
		n = softverbs_ctl_hurry(fd, deadline) ? -1 : recv(fd, to, size, MSG_TRUNC);
	while (n < 0 && softverbs_ctl_again());
	if (n > 0 && (size_t)n <= size)
		return (size_t)n;
	if (n >= 0)
		errno = n ? EPROTO : ECONNRESET;
	return 0;
}

/*
 * Reads an answer, of which no more than `room` is taken: its letter and its text, allocated; or
 * NULL with errno.  The first line, in the first packet, has the letter and the length of the text.
 */
static inline char *
softverbs_ctl_read(int fd, size_t room, long long deadline)
{
	char *text = (char *)malloc(SOFTVERBS_CTL_PACKET + 1), *end = NULL, *more;
	size_t used = text ? softverbs_ctl_receive(fd, text, SOFTVERBS_CTL_PACKET, deadline) : 0;
	size_t size = 0;

	if (!used)
		goto fail;
	text[used] = '\0';
	if (text[1] >= '0' && text[1] <= '9')
		size = strtoul(text + 1, &end, 10);
	errno = EPROTO;
	if (!end || *end != '\n' || size > room)
		goto fail;
	/* The letter stays in front of the text. */
	used -= (size_t)(end - text);
	memmove(text + 1, end + 1, used - 1);
	size++;
	if (size > SOFTVERBS_CTL_PACKET) {
		more = (char *)realloc(text, size + 1);
		if (!more)
			goto fail;
		text = more;
	}
	while (used < size) {
		const size_t n = softverbs_ctl_receive(fd, text + used, size - used, deadline);

		if (!n)
			goto fail;
		used += n;
	}
	text[used] = '\0';
	errno = EPROTO;
	if (strlen(text) == size)
		return text;
fail:
	free(text);
	return NULL;
}

/* Behind a string of JSON in printable ASCII, or NULL if that is none. */
static inline const char *
softverbs_ctl_string(const char *c)
{
	if (*c != '"')
		return NULL;
	for (c++; *c != '"'; c++) {
		if (*c < ' ' || *c > '~')
			return NULL;
		if (*c != '\\')
			continue;
		c++;
		if (*c == 'u' && strspn(c + 1, "0123456789abcdefABCDEF") >= 4)
			c += 4;
		else if (!*c || !strchr("\"\\/bfnrt", *c))
			return NULL;
	}
	return c + 1;
}

/* The same of a number, which is whole, a word or a string. */
static inline const char *
softverbs_ctl_value(const char *c)
{
	static const char *const words[] = { "true", "false", "null" };
	size_t length;

	for (int i = 0; i < 3; i++)
		if (!strncmp(c, words[i], strlen(words[i])))
			return c + strlen(words[i]);
	if (*c == '"')
		return softverbs_ctl_string(c);
	c += *c == '-';
	length = strspn(c, "0123456789");
	return !length || (*c == '0' && length > 1) ? NULL : c + length;
}

/* Whether a text is lines of JSON, each an object without another one in it. */
static inline int
softverbs_ctl_is_state(const char *text)
{
	if (!*text)
		return 0;
	while (*text == '{') {
		do {
			text = softverbs_ctl_string(text + 1);
			if (text && *text == ':')
				text = softverbs_ctl_value(text + 1);
			else
				return 0;
		} while (text && *text == ',');
		if (!text || text[0] != '}' || text[1] != '\n')
			return 0;
		text += 2;
	}
	return !*text;
}

/* Only "dump" gets a text with '+', which is the state, and only another request is refused. */
static inline int
softverbs_ctl_fits(const char *answer, const char *request)
{
	const int dump = !strcmp(request, "dump");

	switch (*answer) {
	case '+':
		return dump ? softverbs_ctl_is_state(answer + 1) : !answer[1];
	case '-':
		return !dump && answer[1];
	default:
		return *answer == '=' && !answer[1];
	}
}

/* The same for the process at one socket: what softverbs_ctl() counts, or -1 with errno. */
static inline int
softverbs_ctl_ask(int directory, const char *name, const char *process, const char *request,
    size_t *room, FILE *answers)
{
	const long long deadline =
	    softverbs_ctl_now() + (long long)(SOFTVERBS_CTL_PATIENCE * 1000000.);
	const int fd = softverbs_ctl_connect(directory, name, deadline);
	char *text = NULL, letter = '\0';
	int error;

	if (fd >= 0 && !softverbs_ctl_send(fd, process, request, deadline))
		text = softverbs_ctl_read(fd, *room, deadline);
	if (text && softverbs_ctl_fits(text, request)) {
		letter = *text;
		*room -= strlen(text + 1);
		fputs(text + 1, answers);
	}
	error = text ? EPROTO : errno;
	if (letter)
		error = letter == '-' ? EINVAL : 0;
	/* It has ended, long ago or just now. */
	if (error == ECONNREFUSED || error == ENOENT || error == ECONNRESET || error == EPIPE)
		error = 0;
	free(text);
	if (fd >= 0)
		close(fd);
	errno = error;
	return error ? -1 : letter == '+';
}

/*
 * Sends a request to each process that it names: a number, a name of the run, the command of the
 * program; NULL is all.  Returns how many have done it, or -1 with errno: ESRCH: there is no such
 * process; EINVAL: one has refused it; ETIMEDOUT: one has not answered for SOFTVERBS_CTL_PATIENCE;
 * EPROTO: the answer of one is none, or too long.  `answer`, unless it is NULL, gets what the
 * others say, which the caller frees: the dumps, or why it was refused.
 */
static inline int
softverbs_ctl(const char *process, const char *request, char **answer)
{
	const int directory = softverbs_ctl_directory();
	DIR *entries = directory < 0 ? NULL : fdopendir(directory);
	int r, done = 0, error = 0;
	struct dirent *entry;
	char *all = NULL;
	size_t size = 0, room = SOFTVERBS_CTL_MOST;
	FILE *answers = open_memstream(&all, &size);

	while (answers && entries && (entry = readdir(entries))) {
		if (strncmp(entry->d_name, SOFTVERBS_CTL_SOCKET, strlen(SOFTVERBS_CTL_SOCKET)))
			continue;
		r = softverbs_ctl_ask(directory, entry->d_name, process, request, &room, answers);
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

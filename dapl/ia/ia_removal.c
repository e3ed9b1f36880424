/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/ia/ia_removal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "dapl/trace/debug.h"

static pthread_mutex_t removal_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct dapl_removal *removal_first;

void
dapl_removal_enter(struct dapl_removal *user, struct ibv_context *verbs)
{
	user->verbs = verbs;
	atomic_store_explicit(&user->begun, false, memory_order_relaxed);
	pthread_mutex_lock(&removal_mutex);
	user->next = removal_first;
	removal_first = user;
	pthread_mutex_unlock(&removal_mutex);
}

/*
 * Closes the file behind the descriptor, and leaves a file there that does nothing: librdmacm
 * closes the descriptor when it closes the context.
 */
static void
removal_take_file(int fd, int nothing)
{
	if (fd < 0)
		return;
	if (dup2(nothing, fd) < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC))
		dapl_debug_error("cannot close a removed device: %s", strerror(errno));
}

/* The software device has no files of the kernel: its cmd_fd is -1. */
static void
removal_take_files(const struct ibv_context *verbs)
{
	int nothing;

	if (verbs->cmd_fd < 0)
		return;
	nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (nothing < 0) {
		dapl_debug_error("cannot close a removed device: /dev/null: %s", strerror(errno));
		return;
	}
	removal_take_file(verbs->async_fd, nothing);
	removal_take_file(verbs->cmd_fd, nothing);
	close(nothing);
}

void
dapl_removal_leave(struct dapl_removal *user)
{
	bool others = false;

	pthread_mutex_lock(&removal_mutex);
	for (struct dapl_removal **at = &removal_first; *at;) {
		if (*at == user) {
			*at = user->next;
			continue;
		}
		others = others || (*at)->verbs == user->verbs;
		at = &(*at)->next;
	}
	if (!others && atomic_load_explicit(&user->begun, memory_order_acquire))
		removal_take_files(user->verbs);
	pthread_mutex_unlock(&removal_mutex);
}

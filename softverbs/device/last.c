/* SPDX-License-Identifier: BSD-3-Clause */
#include "last.h"
#include "timer.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INTERVAL (100 * SOFT_MILLISECOND)

static void last_tick(struct soft_timer *timer);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key;
static atomic_uint own;	       /* threads of this library */
static atomic_bool main_ended; /* or may have */
static atomic_bool leaving;    /* a thread is in exit() */
static struct soft_timer timer = { .fn = last_tick };

/* The main thread stays as a zombie until the process ends. */
static bool
last_main_has_ended(void)
{
	char path[64], text[256], *state;
	size_t length;
	FILE *file;

	snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
	file = fopen(path, "re");
	if (!file)
		return false;
	length = fread(text, 1, sizeof text - 1, file);
	fclose(file);
	text[length] = '\0';
	state = strrchr(text, ')');
	return state && state[1] == ' ' && state[2] == 'Z';
}

/* All but the main thread; 0 if that is not known. */
static unsigned int
last_count_threads(void)
{
	DIR *folder = opendir("/proc/self/task");
	const struct dirent *entry;
	unsigned int count = 0;

	if (!folder)
		return 0;
	while ((entry = readdir(folder)))
		count += entry->d_name[0] != '.';
	closedir(folder);
	return count ? count - 1 : 0;
}

/*
 * As the last thread of the program would have done; the device still works, for functions of
 * atexit().
 */
static void *
last_exit(void *unused)
{
	(void)unused;
	exit(EXIT_SUCCESS);
}

void
soft_last_look(void)
{
	sigset_t none, saved;
	pthread_t thread;
	unsigned int count;

	if (!main_ended || leaving || !last_main_has_ended())
		return;
	count = last_count_threads();
	/* One that begins or ends counts as one of the program for that moment. */
	if (!count || count > own)
		return;
	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, &saved);
	if (!pthread_create(&thread, NULL, last_exit, NULL)) {
		leaving = true;
		pthread_detach(thread);
	}
	pthread_sigmask(SIG_SETMASK, &saved, NULL);
}

static void
last_tick(struct soft_timer *unused)
{
	(void)unused;
	soft_last_look();
	if (!leaving && last_main_has_ended())
		soft_timer_start(&timer, soft_now() + INTERVAL);
}

/* The main thread is no zombie yet when this is called on it. */
static void
last_thread_ended(void *unused)
{
	(void)unused;
	main_ended = true;
	soft_timer_start(&timer, soft_now() + INTERVAL);
}

static void
last_create_key(void)
{
	has_key = !pthread_key_create(&key, last_thread_ended);
}

void
soft_last_watch(void)
{
	pthread_once(&once, last_create_key);
	if (has_key && !pthread_getspecific(key))
		pthread_setspecific(key, &key);
}

void
soft_last_enter(void)
{
	own++;
}

void
soft_last_leave(void)
{
	own--;
}

void
soft_last_reset(void)
{
	own = 0;
	main_ended = leaving = false;
}

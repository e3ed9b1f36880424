/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Four threads sleep on one channel and poll one queue; one of them sees the end and wakes the
 * others by a message.
 */
#include "softverbs/test/pair.h"

#define THREADS 4

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct end *server;
static atomic_bool done;

static void *
worker(void *unused)
{
	int found;

	(void)unused;
	while (!done) {
		next_event();
		arm(cq);
		do {
			pthread_mutex_lock(&lock);
			found = poll_and_serve(server, 2);
			if (served_all(server))
				done = true;
			pthread_mutex_unlock(&lock);
		} while (found > 0);
	}
	/* The next thread: it is woken by a completion of this one. */
	post_send(server, IBV_SEND_SIGNALED);
	return NULL;
}

int
main(void)
{
	pthread_t threads[THREADS];

	pair_open();
	arm(cq);
	pthread_mutex_lock(&lock);
	server = pair_start(cq);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < THREADS; i++)
		must(!pthread_create(&threads[i], NULL, worker, NULL), "pthread_create");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);

	pair_close();
	return 0;
}

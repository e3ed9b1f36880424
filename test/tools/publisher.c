/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * publisher NAME -- a program whose EVDs check-top watches: does what the lines of standard input
 * say
 *
 *     open        opens the adapter NAME, with an EVD that makes upcalls and one that nothing takes
 *                 from
 *     post N      posts N software events to the first EVD, and waits for the upcalls
 *     slow N      the same; each upcall takes 20 ms
 *     queue N     posts N software events to the second one
 *     threads     prints the number of threads
 *     fork        a child sleeps for two seconds and ends; the parent does not wait for it
 *     name        calls the process something that a terminal obeys
 *     stall       connects two endpoints of its own, and sends without a receive at the other end
 *     closefrom   closes all descriptors but the standard ones, as programs do that become daemons
 *     close       closes the adapter
 *     exit        ends with exit(), without a close
 *
 * It prints "opened FIRST SECOND", "stalled EVD" and for each other line "done".  At the end of its
 * input it ends with _exit(), without a close.
 */
#include <dirent.h>
#include <err.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <dat2/dat_upcall.h>
#include <dat2/udat.h>

static DAT_IA_HANDLE ia;
static DAT_EVD_HANDLE first, second, async;
static sem_t heard;
static useconds_t pause_us;

static void
must(const char *call, DAT_RETURN ret)
{
	const char *type = "", *detail = "";

	dat_strerror(ret, &type, &detail);
	if (ret != DAT_SUCCESS)
		errx(1, "%s: %s %s", call, type, detail);
}

static void
hear(DAT_PVOID arg, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	(void)arg;
	(void)event;
	(void)more;
	if (pause_us)
		usleep(pause_us);
	sem_post(&heard);
}

static void
post(DAT_EVD_HANDLE evd, int n, int await)
{
	DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };

	for (int i = 0; i < n; i++) {
		must("post", dat_evd_post_se(evd, &event));
		if (await)
			sem_wait(&heard);
	}
}

static void
open_adapter(const char *name)
{
	DAT_UPCALL_OBJECT upcall = { NULL, hear };

	async = DAT_HANDLE_NULL;
	must("open", dat_ia_open((char *)name, 8, &async, &ia));
	must("kcreate", dat_evd_kcreate(ia, 64, DAT_UPCALL_SINGLE_INSTANCE, &upcall,
			    DAT_EVD_SOFTWARE_FLAG, &first));
	must("create", dat_evd_create(ia, 64, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG, &second));
	printf("opened %p %p\n", (void *)first, (void *)second);
}

static void
expect(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number, DAT_EVENT *event)
{
	DAT_COUNT more;

	must("wait", dat_evd_wait(evd, 20000000, 1, event, &more));
	if (event->event_number != number)
		errx(1, "event 0x%x and not 0x%x", event->event_number, number);
}

static void
stall(void)
{
	static char bytes[64];
	const DAT_REGION_DESCRIPTION region = { .for_va = bytes };
	DAT_EVD_HANDLE requests, connections, completions;
	DAT_EP_HANDLE from, to;
	DAT_LMR_TRIPLET piece = { .virtual_address = (DAT_VADDR)(uintptr_t)bytes,
		.segment_length = sizeof bytes };
	DAT_LMR_HANDLE lmr;
	DAT_CONN_QUAL port;
	DAT_PSP_HANDLE psp;
	DAT_PZ_HANDLE pz;
	DAT_IA_ATTR attr;
	DAT_EVENT event;

	must("query", dat_ia_query(ia, NULL, DAT_IA_FIELD_ALL, &attr, 0, NULL));
	must("pz", dat_pz_create(ia, &pz));
	must("lmr",
	    dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof bytes, pz,
		DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &lmr, &piece.lmr_context, NULL, NULL, NULL));
	must("evd", dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &requests));
	must("evd", dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG, &connections));
	must("evd", dat_evd_create(ia, 64, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &completions));
	must("ep", dat_ep_create(ia, pz, completions, completions, connections, NULL, &from));
	must("ep", dat_ep_create(ia, pz, completions, completions, connections, NULL, &to));
	must("psp", dat_psp_create_any(ia, &port, requests, DAT_PSP_CONSUMER_FLAG, &psp));
	must("connect", dat_ep_connect(from, attr.ia_address_ptr, port, 20000000, 0, NULL,
			    DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
	expect(requests, DAT_CONNECTION_REQUEST_EVENT, &event);
	must(
	    "accept", dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, to, 0, NULL));
	expect(connections, DAT_CONNECTION_EVENT_ESTABLISHED, &event);
	expect(connections, DAT_CONNECTION_EVENT_ESTABLISHED, &event);
	must("send", dat_ep_post_send(from, 1, &piece, (DAT_DTO_COOKIE){ .as_64 = 1 },
			 DAT_COMPLETION_DEFAULT_FLAG));
	printf("stalled %p\n", (void *)completions);
}

static int
count_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	int n = 0;

	while (tasks && (entry = readdir(tasks)))
		n += entry->d_name[0] != '.';
	if (tasks)
		closedir(tasks);
	return n;
}

static void
fork_child(void)
{
	const pid_t child = fork();

	if (child < 0)
		err(1, "fork");
	if (child == 0) {
		sleep(2);
		exit(0);
	}
}

static void
run(const char *name, const char *line)
{
	int n = 0;

	if (strcmp(line, "open\n") == 0) {
		open_adapter(name);
		return;
	}
	if (strcmp(line, "stall\n") == 0) {
		stall();
		return;
	}
	if (strcmp(line, "threads\n") == 0) {
		printf("%d\n", count_threads());
		return;
	}
	if (sscanf(line, "post %d", &n) == 1 || sscanf(line, "slow %d", &n) == 1) {
		pause_us = line[0] == 's' ? 20000 : 0;
		post(first, n, 1);
	} else if (sscanf(line, "queue %d", &n) == 1) {
		post(second, n, 0);
	} else if (strcmp(line, "fork\n") == 0) {
		fork_child();
	} else if (strcmp(line, "closefrom\n") == 0) {
		for (int fd = 3; fd < 1024; fd++)
			close(fd);
	} else if (strcmp(line, "name\n") == 0) {
		prctl(PR_SET_NAME, "\033[2J) S 1\r\n\"\\\xc2\x9b");
	} else if (strcmp(line, "exit\n") == 0) {
		exit(0);
	} else if (strcmp(line, "close\n") == 0) {
		must("close", dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG));
	} else {
		errx(1, "what is %s", line);
	}
	printf("done\n");
}

int
main(int argc, char **argv)
{
	char line[64];

	if (argc != 2)
		errx(2, "usage: publisher NAME");
	sem_init(&heard, 0, 0);
	while (fgets(line, sizeof line, stdin)) {
		run(argv[1], line);
		fflush(stdout);
	}
	_exit(0);
}

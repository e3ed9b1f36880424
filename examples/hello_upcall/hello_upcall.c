/* SPDX-License-Identifier: BSD-3-Clause */
#include <dat2/dat_upcall.h>
#include <err.h>
#include <semaphore.h>
#include <stdio.h>
static void
hello(DAT_PVOID heard, const DAT_EVENT *event, DAT_BOOLEAN more_events)
{
	printf("upcall: %s%s\n", (char *)event->event_data.software_event_data.pointer,
	    more_events ? ", and more to come" : "");
	sem_post(heard);
}

static void
must(const char *call, DAT_RETURN ret)
{
	const char *type = "", *detail = "";
	dat_strerror(ret, &type, &detail);
	if (ret != DAT_SUCCESS)
		errx(1, "%s: %s %s", call, type, detail);
}

int
main(int argc, char **argv)
{
	sem_t heard;
	DAT_UPCALL_OBJECT upcall = { &heard, hello };
	DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };
	DAT_HANDLE ia, evd, async = DAT_HANDLE_NULL;
	sem_init(&heard, 0, 0);
	must("open", dat_ia_open(argv[1], 8, &async, &ia));
	must("create", dat_evd_kcreate(ia, 8, DAT_UPCALL_SINGLE_INSTANCE, &upcall,
			   DAT_EVD_SOFTWARE_FLAG, &evd));
	for (int i = 2; i < argc; i++) {
		event.event_data.software_event_data.pointer = argv[i];
		must("post", dat_evd_post_se(evd, &event));
		sem_wait(&heard);
	}
	must("free", dat_evd_free(evd)); /* returns after the last upcall has */
	must("close", dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * common -- what the examples share: an adapter, registered memory, endpoints
 *
 * A function here that fails ends the program with the name of the call and the reason.  The end of
 * a process frees all that it has on a device, so an example frees nothing before such an end.
 */
#ifndef LESSONS_COMMON_H
#define LESSONS_COMMON_H

#include <dat2/udat.h>
#include <dat2/dat_event_str.h>
#include <dat2/dat_upcall.h>
#include <semaphore.h>
#include <stddef.h>

struct adapter {
	DAT_IA_HANDLE ia;
	DAT_PZ_HANDLE pz;
	DAT_IA_ADDRESS_PTR address; /* to connect to endpoints of this adapter */
};

/* Memory that the adapter may read and write. */
struct buffer {
	char *bytes;
	DAT_LMR_HANDLE lmr;
	DAT_LMR_CONTEXT lmr_context;
};

/*
 * Answers --help and --version.  Ends the program with its usage if it has fewer or more arguments.
 */
void take_arguments(int argc, char **argv, int least, int most, const char *usage);

/* Ends the program unless `ret` is DAT_SUCCESS. */
void must(const char *call, DAT_RETURN ret);

/* Waits for sem_post(), whatever signals come meanwhile. */
void wait_for(sem_t *semaphore);

/* `name` is a name of dat.conf(5), or rearm-soft. */
void adapter_open(struct adapter *adapter, const char *name);
/* Ends the program if an object of the adapter was not freed. */
void adapter_close(struct adapter *adapter);

void buffer_create(struct buffer *buffer, const struct adapter *adapter, size_t length);
void buffer_free(struct buffer *buffer);

/* Post one part of a buffer; the completion returns the cookie. */
void post_recv(
    DAT_EP_HANDLE ep, const struct buffer *buffer, size_t offset, size_t length, DAT_UINT64 cookie);
void post_send(
    DAT_EP_HANDLE ep, const struct buffer *buffer, size_t offset, size_t length, DAT_UINT64 cookie);

/* Creates an EVD without an upcall, for the events of endpoints. */
DAT_EVD_HANDLE evd_create(const struct adapter *adapter, DAT_CNO_HANDLE cno);
/* Creates an endpoint; all its events go to `evd`. */
DAT_EP_HANDLE ep_create(const struct adapter *adapter, DAT_EVD_HANDLE evd);
/*
 * Connects two endpoints of this process.  It waits on their EVDs, which must have no upcall yet.
 */
void ep_connect(const struct adapter *adapter, DAT_EP_HANDLE client, DAT_EP_HANDLE server);

/*
 * The data of a completion.  Ends the program if the event is no completion, or one of a failure.
 */
const DAT_DTO_COMPLETION_EVENT_DATA *completion(const DAT_EVENT *event);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device_errno -- what an errno of libibverbs or librdmacm means
 *
 * One table, for every call of theirs that makes or changes something for a call of DAT.  err.c
 * makes a DAT_RETURN of the meaning.  doc/errno.md is printed from both.
 */
#ifndef REARM_DAPL_DEVICE_ERRNO_H
#define REARM_DAPL_DEVICE_ERRNO_H

#include <stddef.h>

struct dapl_device_errno {
	const char *call;
	int error;	   /* the errno of the call */
	int meaning;	   /* the one that the provider uses for it: DAPL_MEANS_... */
	const char *where; /* who returns it: the file and the function, and when */
};

/* What a failure means, as the numbers that all functions of dapl/ return. */
#define DAPL_MEANS_FULL ENOSPC		/* the device, or the kernel for it, has no more */
#define DAPL_MEANS_NO_MEMORY ENOMEM	/* of the process */
#define DAPL_MEANS_NO_DESCRIPTOR EMFILE /* of the process */
#define DAPL_MEANS_NO_FILE ENFILE	/* a descriptor of the host */
#define DAPL_MEANS_NO_THREAD EAGAIN
#define DAPL_MEANS_FORBIDDEN EACCES /* to this user */
#define DAPL_MEANS_PORT_TAKEN EADDRINUSE
#define DAPL_MEANS_NO_ADDRESS EADDRNOTAVAIL /* the address is not one of this host */
#define DAPL_MEANS_NO_DEVICE ENODEV	    /* no device has the address, or there is no driver */
#define DAPL_MEANS_WRONG_FAMILY EAFNOSUPPORT
#define DAPL_MEANS_WRONG_MEMORY EFAULT /* the memory of the program is not there, or not writable */
#define DAPL_MEANS_NOT_ABLE EOPNOTSUPP /* the device does not have it */
#define DAPL_MEANS_QUEUE_FULL ENOBUFS  /* of the queue pair, or of the shared receive queue */
#define DAPL_MEANS_WRONG_REQUEST EBADMSG
#define DAPL_MEANS_FAILED \
	EIO /* the device was removed or is broken, or the provider did something wrong */

/* The table, which ends with an entry without a call. */
extern const struct dapl_device_errno dapl_device_errnos[];

/* The entry of an errno of the call, or NULL for one that is not in the table. */
const struct dapl_device_errno *dapl_device_errno_find(const char *call, int error);

#endif

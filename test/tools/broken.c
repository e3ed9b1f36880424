/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * broken -- a provider for dat.conf whose device has one fault, which REARM_TEST_FAULT names
 *
 * The functions of a provider are those of libfault.so, with which this library is linked.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault/fault.h"

static const struct {
	const char *name;
	void (*refuse)(int error);
	int error;
} refusals[] = {
	{ "no-cm", fault_cm_refuse_channels, ENOENT },
	{ "cm-forbidden", fault_cm_refuse_channels, EACCES },
	{ "no-device", fault_cm_refuse_addresses, ENODEV },
	{ "no-address", fault_cm_refuse_addresses, EADDRNOTAVAIL },
	{ "device-forbidden", fault_cm_refuse_addresses, EACCES },
	{ "no-memory", fault_cm_refuse_addresses, ENOMEM },
	{ "no-threads", fault_refuse_threads, EAGAIN },
};

static const struct {
	const char *name;
	unsigned int abilities;
} lacks[] = {
	{ "windows", FAULT_WINDOWS_1 | FAULT_WINDOWS_2 },
	{ "invalidate", FAULT_INVALIDATE },
	{ "srq", FAULT_SRQ },
	{ "srq-resize", FAULT_SRQ_RESIZE },
	{ "atomics", FAULT_ATOMICS },
	{ "infiniband", FAULT_INFINIBAND },
	{ "zero-based", FAULT_ZERO_BASED },
};

static void
fail(struct ibv_wc *wc)
{
	wc->status = IBV_WC_RETRY_EXC_ERR;
}

static void __attribute__((constructor)) begin(void)
{
	const char *fault = getenv("REARM_TEST_FAULT");
	size_t i;

	if (fault == NULL)
		return;
	for (i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
		if (strcmp(fault, refusals[i].name) == 0)
			refusals[i].refuse(refusals[i].error);
	for (i = 0; i < sizeof lacks / sizeof lacks[0]; i++)
		if (strcmp(fault, lacks[i].name) == 0)
			fault_lack(lacks[i].abilities);
	if (strcmp(fault, "crash") == 0)
		abort();
	if (strcmp(fault, "port-down") == 0)
		fault_port_state(IBV_PORT_DOWN);
	if (strcmp(fault, "transfer") == 0)
		fault_cq_change(fail);
}

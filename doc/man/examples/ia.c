/* SPDX-License-Identifier: BSD-3-Clause */
#include <dat2/udat.h>
#include <err.h>
#include <stdio.h>

/* Ends the program if a call has failed, and prints why. */
static void
must(const char *call, DAT_RETURN ret)
{
	const char *type = "", *detail = "";

	dat_strerror(ret, &type, &detail);
	if (ret != DAT_SUCCESS)
		errx(1, "%s: %s %s", call, type, detail);
}

static DAT_IA_HANDLE
open_adapter(const char *name)
{
	DAT_EVD_HANDLE async_evd = DAT_HANDLE_NULL;
	DAT_PROVIDER_ATTR provider = { 0 };
	DAT_IA_ATTR adapter;
	DAT_IA_HANDLE ia;

	must("dat_ia_open", dat_ia_open(name, 8, &async_evd, &ia));
	must("dat_ia_query",
	    dat_ia_query(ia, NULL, DAT_IA_FIELD_ALL, &adapter,
		DAT_PROVIDER_FIELD_ALL, &provider));
	printf("%s: device %s, messages of up to %u bytes, %d bytes of "
	       "private data\n",
	    name, adapter.adapter_name, adapter.max_message_size,
	    provider.max_private_data_size);
	return ia;
}

static void
close_adapter(DAT_IA_HANDLE ia)
{
	/* Fails if an object is left; DAT_CLOSE_ABRUPT_FLAG would free it. */
	must("dat_ia_close", dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/datamover/adapter.h"

#include "iser/datamover/bell.h"
#include "iser/say.h"

#include <stdlib.h>

#define ASYNC_QLEN 64

/*
 * True if only connection requests found an EVD full.  The provider refused them and the EVD stays
 * usable, so a program cannot be ended by sending it many requests.
 */
static bool
adapter_only_refused(const DAT_EVENT *event)
{
	DAT_EVD_PARAM param;

	return event->event_number == DAT_ASYNC_ERROR_EVD_OVERFLOW &&
	       dat_evd_query(event->event_data.asynch_error_event_data.dat_handle,
		   DAT_EVD_FIELD_ALL, &param) == DAT_SUCCESS &&
	       param.evd_flags == DAT_EVD_CR_FLAG;
}

/*
 * Whether the adapter goes on.  A connection that breaks is reported once more, as BROKEN, to its
 * own EVD, whether its endpoint has failed or the port has lost its link; and the provider tries
 * again what was an error of its own.
 */
static bool
adapter_goes_on(const DAT_EVENT *event)
{
	switch (event->event_number) {
	case DAT_ASYNC_ERROR_EVD_OVERFLOW:
		return false;
	case DAT_ASYNC_ERROR_IA_CATASTROPHIC:
		return event->event_data.asynch_error_event_data.reason == DAT_IA_OTHER_ERROR;
	default:
		return true;
	}
}

/* Upcall of the asynchronous EVD: nothing in it is expected. */
static void
adapter_async_event(void *context, const DAT_EVENT *event)
{
	const int reason = (int)event->event_data.asynch_error_event_data.reason;
	struct adapter *adapter = context;

	if (adapter_only_refused(event)) {
		say_of_peer("too many connection requests at once: some were refused");
	} else if (!adapter_goes_on(event)) {
		say("asynchronous error: %s (reason %d)", say_event_name(event->event_number),
		    reason);
		atomic_store(&adapter->catastrophe, true);
		bell_ring(adapter->bell);
	} else if (event->event_number == DAT_ASYNC_ERROR_IA_CATASTROPHIC) {
		say("the port of the adapter is down");
	} else {
		say_of_peer("asynchronous error: %s (reason %d)",
		    say_event_name(event->event_number), reason);
	}
}

static void
adapter_say_unopened(const char *name, DAT_RETURN ret)
{
	const char *override = getenv("DAT_OVERRIDE");

	say_dat("dat_ia_open", ret, "cannot open the adapter \"%s\"", name);
	if (DAT_GET_TYPE(ret) != DAT_PROVIDER_NOT_FOUND)
		return;
	say("use --provider LIBRARY, for example libdaplsoft.so.2 for the software device,");
	if (!override)
		say("or --ia NAME, an adapter of dat.conf or of the file in $DAT_OVERRIDE");
	else
		say("or --ia NAME, an adapter of %s", override);
}

int
adapter_open(struct adapter *adapter, const char *name, struct bell *bell)
{
	DAT_EVD_HANDLE async_evd = DAT_HANDLE_NULL;
	DAT_RETURN ret;

	*adapter = (struct adapter){ .bell = bell };
	ret = dat_ia_open((char *)name, ASYNC_QLEN, &async_evd, &adapter->ia);
	if (ret != DAT_SUCCESS) {
		adapter_say_unopened(name, ret);
		adapter->ia = DAT_HANDLE_NULL;
		return -1;
	}
	ret = dat_ia_query(adapter->ia, NULL, DAT_IA_FIELD_ALL, &adapter->attr, 0, NULL);
	if (ret != DAT_SUCCESS) {
		say_dat("dat_ia_query", ret, "\"%s\" does not report its limits", name);
		goto close_ia;
	}
	ret = watch_adopt(&adapter->async, async_evd, adapter_async_event, adapter);
	if (ret != DAT_SUCCESS) {
		say_dat("dat_evd_modify_upcall", ret, "\"%s\" makes no upcalls", name);
		if (DAT_GET_TYPE(ret) == DAT_NOT_IMPLEMENTED)
			say("its provider has plain uDAPL only; libdaplrearm.so.2 and "
			    "libdaplsoft.so.2 have upcalls");
		goto close_ia;
	}
	ret = dat_pz_create(adapter->ia, &adapter->pz);
	if (ret != DAT_SUCCESS) {
		say_dat("dat_pz_create", ret, "no protection zone");
		goto stop_async;
	}
	return 0;

stop_async:
	watch_release(&adapter->async, &adapter->tally);
close_ia:
	dat_ia_close(adapter->ia, DAT_CLOSE_ABRUPT_FLAG);
	adapter->ia = DAT_HANDLE_NULL;
	return -1;
}

int
adapter_close(struct adapter *adapter)
{
	int failures = 0;
	DAT_RETURN ret;

	if (adapter->ia == DAT_HANDLE_NULL)
		return 0;
	ret = dat_pz_free(adapter->pz);
	if (ret != DAT_SUCCESS) {
		say_dat("dat_pz_free", ret, "the protection zone was not freed");
		failures++;
	}
	failures += watch_release(&adapter->async, &adapter->tally);
	/* Graceful: refuses when anything of ours still exists, and so finds leaks. */
	ret = dat_ia_close(adapter->ia, DAT_CLOSE_GRACEFUL_FLAG);
	if (ret != DAT_SUCCESS) {
		say_dat("dat_ia_close", ret, "the adapter was not closed");
		failures++;
		dat_ia_close(adapter->ia, DAT_CLOSE_ABRUPT_FLAG);
	}
	adapter->ia = DAT_HANDLE_NULL;
	return failures;
}

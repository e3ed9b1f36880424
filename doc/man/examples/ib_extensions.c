/* SPDX-License-Identifier: BSD-3-Clause */
#include <dat2/dat_ib_extensions.h>
#include <string.h>

static int
has_atomics(const DAT_PROVIDER_ATTR *provider)
{
	for (DAT_COUNT i = 0; i < provider->num_provider_specific_attr;
	     i++) {
		const DAT_NAMED_ATTR *attr =
		    &provider->provider_specific_attr[i];

		if (strcmp(attr->name, DAT_IB_ATTR_FETCH_AND_ADD) == 0)
			return strcmp(attr->value, "TRUE") == 0;
	}
	return 0;
}

/*
 * Adds 1 to a counter of the other side.  When the request has completed, `old`
 * has what the counter was.
 */
static DAT_RETURN
add_one(DAT_EP_HANDLE ep, DAT_LMR_TRIPLET *old, DAT_RMR_TRIPLET *counter)
{
	const DAT_DTO_COOKIE cookie = { .as_64 = 3 };

	return dat_ib_post_fetch_and_add(
	    ep, 1, old, cookie, counter, DAT_COMPLETION_DEFAULT_FLAG);
}

/* How many sends the program has posted on an endpoint. */
static DAT_UINT64
posted_sends(DAT_EP_HANDLE ep)
{
	DAT_UINT64 all[DCNT_EP_ALL_COUNTERS];

	if (dat_ib_query_counters(ep, DCNT_EP_ALL_COUNTERS, all, 0) !=
	    DAT_SUCCESS)
		return 0;
	return all[DCNT_EP_POST_SEND];
}

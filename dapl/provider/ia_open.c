/* SPDX-License-Identifier: BSD-3-Clause */
/* ia_open -- opening an adapter */
#include "dapl/api.h"
#include "dapl/object/cancel.h"
#include "dapl/cm/cm.h"
#include "dapl/cm/cr.h"
#include "dapl/cm/sp.h"
#include "dapl/ep/completion.h"
#include "dapl/ep/ep.h"
#include "dapl/evd/evd_object.h"
#include "dapl/ia/ia_count.h"
#include "dapl/provider/provider.h"
#include "dapl/stats/publish.h"
#include "dapl/trace/debug.h"
#include "dapl/trace/err.h"

/* The functions of higher folders that lower folders call. */
static const struct dapl_ia_ops ia_ops = {
	.read_cm = dapl_cm_read,
	.read_async = dapl_async_read,
	.completions = &dapl_completion_ops,
	.refuse = dapl_cr_free_by_handle,
	.hear_datagrams = dapl_sp_hear_all_datagrams,
	.lost_channel = dapl_ia_lost_channel,
};

static DAT_RETURN
ia_open(struct dapl_provider *provider, DAT_COUNT qlen, DAT_EVD_HANDLE *async_evd,
    DAT_IA_HANDLE *ia_handle)
{
	char params[DAPL_PROVIDER_PARAMS_MAX];
	struct dapl_ia_options options;
	DAT_RETURN ret;
	struct dapl_ia *ia;
	int r;

	if (!async_evd)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	if (!ia_handle)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
	if (*async_evd == DAT_HANDLE_NULL && qlen <= 0)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	dapl_provider_params(provider, params);
	r = dapl_ia_options_parse(params, &options);
	if (r)
		return dapl_err_ia_open(r);

	ia = dapl_ia_alloc();
	if (!ia)
		return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
	ia->provider = provider;
	ia->ops = &ia_ops;
	for (int kind = 0; kind < DAPL_KIND_COUNT; kind++)
		ia->parent.children[kind] = NULL;
	dapl_ia_counts_clear(ia);
	atomic_store_explicit(&ia->datagrams, false, memory_order_relaxed);
	r = dapl_ia_device_open(ia, &options);
	if (r) {
		ret = dapl_err_ia_open(r);
		goto free_slot;
	}
	atomic_store_explicit(&ia->parent.bases, 1, memory_order_relaxed);
	atomic_store_explicit(&ia->parent.deciding, 0, memory_order_relaxed);
	dapl_ia_lock(ia);
	atomic_store_explicit(&ia->parent.closing, false, memory_order_relaxed);
	ia->parent.inside = ia->parent.borrowers = 0;
	ia->parent.closers = (struct park_list){ NULL };
	dapl_ia_unlock(ia);
	r = dapl_object_create(&ia->obj, NULL, &provider->table);
	if (r) {
		ret = dapl_err_resource(NULL, r, DAT_RESOURCE_MEMORY);
		goto close_device;
	}
	dapl_ia_lock(ia);
	ia->self = ia->obj.handle;
	dapl_ia_unlock(ia);
	ret = dapl_ia_attach_async(ia, qlen, *async_evd);
	if (ret != DAT_SUCCESS)
		goto free_handle;
	ia->published = !options.stepped && dapl_stats_start(options.stats_ms);
	dapl_ia_list_add(ia);
	if (ia->async_ours)
		*async_evd = ia->async->obj.handle;
	*ia_handle = ia->self;
	return DAT_SUCCESS;

free_handle:
	dapl_object_free_unattached(&ia->obj);
close_device:
	dapl_ia_device_stop(ia);
	dapl_parent_put(&ia->parent);
	return ret;
free_slot:
	dapl_ia_free(ia);
	return ret;
}

DAT_RETURN
dapl_ia_open(struct dapl_provider *provider, DAT_COUNT qlen, DAT_EVD_HANDLE *async_evd,
    DAT_IA_HANDLE *ia_handle)
{
	DAPL_UNCANCELLED;
	DAT_RETURN ret;

	dapl_debug_open(provider->info.ia_name);
	ret = ia_open(provider, qlen, async_evd, ia_handle);
	dapl_debug_open(NULL);
	return ret;
}

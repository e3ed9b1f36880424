/* SPDX-License-Identifier: BSD-3-Clause */
/* ia_open -- opening an adapter */
#include "dapl/api.h"
#include "dapl/cm/cm.h"
#include "dapl/cm/cr.h"
#include "dapl/ep/completion.h"
#include "dapl/ep/ep.h"
#include "dapl/evd/evd.h"
#include "dapl/ia/ia.h"
#include "dapl/provider/provider.h"
#include "dapl/trace/err.h"

/* What the folders below take from those above them. */
static const struct ia_ops ops = {
	.read_cm = cm_read,
	.read_async = async_read,
	.completions = &completion_ops,
	.refuse = cr_destroy,
};

DAT_RETURN
dapl_ia_open(struct provider *provider, DAT_COUNT qlen, DAT_EVD_HANDLE *async_evd,
    DAT_IA_HANDLE *ia_handle)
{
	char params[PROVIDER_PARAMS_MAX];
	struct ia_options options;
	DAT_RETURN ret;
	struct ia *ia;
	int r;

	if (!async_evd)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	if (!ia_handle)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
	if (*async_evd == DAT_HANDLE_NULL && qlen <= 0)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	provider_params(provider, params);
	r = ia_options_parse(params, &options);
	if (r)
		return err_ia_open(r);

	ia = ia_alloc();
	if (!ia)
		return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
	ia->provider = provider;
	ia->ops = &ops;
	for (int kind = 0; kind < KINDS; kind++)
		ia->parent.children[kind] = NULL;
	r = ia_device_open(ia, &options);
	if (r) {
		ret = err_ia_open(r);
		goto free_slot;
	}
	atomic_store_explicit(&ia->parent.bases, 1, memory_order_relaxed);
	atomic_store_explicit(&ia->parent.deciding, 0, memory_order_relaxed);
	r = object_open(&ia->obj, NULL, &provider->table);
	if (r) {
		ret = err_resource(r, DAT_RESOURCE_MEMORY);
		goto close_device;
	}
	os_lock(&ia->obj.lock);
	ia->self = ia->obj.handle;
	ia->parent.closing = false;
	ia->parent.inside = ia->parent.borrowers = 0;
	ia->parent.closers = (struct park_list){ NULL };
	os_unlock(&ia->obj.lock);
	ret = ia_attach_async(ia, qlen, *async_evd);
	if (ret != DAT_SUCCESS)
		goto abandon;
	ia_list(ia);
	if (ia->async_ours)
		*async_evd = ia->async->obj.handle;
	*ia_handle = ia->self;
	return DAT_SUCCESS;

abandon:
	object_abandon(&ia->obj);
close_device:
	ia_device_quiet(ia);
	parent_put(&ia->parent);
	return ret;
free_slot:
	ia_free(ia);
	return ret;
}

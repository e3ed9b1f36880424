/* SPDX-License-Identifier: BSD-3-Clause */
#include <dat2/dat_registry.h>

/*
 * A provider without an adapter.  One with adapters fills in the whole table.
 */
static DAT_RETURN
open_nothing(const DAT_NAME_PTR name, DAT_COUNT qlen,
    DAT_EVD_HANDLE *async_evd, DAT_IA_HANDLE *ia)
{
	(void)name, (void)qlen, (void)async_evd, (void)ia;
	return DAT_ERROR(
	    DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNSUPPORTED);
}

static DAT_RETURN
no_operation(DAT_HANDLE handle, DAT_EXTENDED_OP op, va_list args)
{
	(void)handle, (void)op, (void)args;
	return DAT_ERROR(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
}

static const DAT_PROVIDER table = {
	.device_name = "nothing",
	.ia_open_func = open_nothing,
	.handle_extendedop_func = no_operation,
};

/* As dat_provider_init() and dat_provider_fini() of a provider do. */
static DAT_RETURN
begin_provider(const DAT_PROVIDER_INFO *info)
{
	return dat_registry_add_provider(&table, info);
}

static DAT_RETURN
end_provider(const DAT_PROVIDER_INFO *info)
{
	return dat_registry_remove_provider(&table, info);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layout_print -- prints what the headers it is compiled with make of every value and layout
 *
 * check-dat-headers compares what it prints with our headers and with the system's.
 */
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>

#include <dat2/udat.h>
#include <dat2/dat_registry.h>
#include <dat2/dat_ib_extensions.h>

#define VALUE(name, value) printf("%s %lld\n", #name, (long long)(name));
#define SIZE(type, size) printf("%s %zu\n", #type, sizeof(type));
#define AT(offset, type, member) printf("%s.%s %zu\n", #type, #member, offsetof(type, member));
#define SLOT(index, member) AT(index, DAT_PROVIDER, member)

/* Constants that are macros. */
#define MASKS \
	VALUE(DAT_IA_FIELD_ALL, 0) \
	VALUE(DAT_IA_ALL, 0) \
	VALUE(DAT_IA_FIELD_IA_EXTENSION, 0) \
	VALUE(DAT_IA_FIELD_IA_ZB_SUPPORTED, 0) \
	VALUE(DAT_IA_FIELD_IA_VENDOR_ATTR, 0) \
	VALUE(DAT_IA_FIELD_IA_MAX_MTU_SIZE, 0) \
	VALUE(DAT_PROVIDER_FIELD_ALL, 0) \
	VALUE(DAT_PROVIDER_FIELD_RDMA_READ_LMR_RMR_CONTEXT_EXPOSURE, 0) \
	VALUE(DAT_PROVIDER_FIELD_PROVIDER_SPECIFIC_ATTR, 0) \
	VALUE(DAT_EP_FIELD_ALL, 0) \
	VALUE(DAT_EP_FIELD_EP_ATTR_ALL, 0) \
	VALUE(DAT_EP_FIELD_SRQ_HANDLE, 0) \
	VALUE(DAT_EP_FIELD_EP_ATTR_PROVIDER_SPECIFIC_ATTR, 0) \
	VALUE(DAT_TIMEOUT_INFINITE, 0) \
	VALUE(DAT_WATERMARK_INFINITE, 0) \
	VALUE(DAT_HW_DEFAULT, 0) \
	VALUE(DAT_VALUE_UNKNOWN, 0) \
	VALUE(DAT_SRQ_LW_DEFAULT, 0) \
	VALUE(DAT_NAME_MAX_LENGTH, 0) \
	VALUE(DAT_LMR_COOKIE_SIZE, 0) \
	VALUE(DAT_OPTIMAL_ALIGNMENT, 0) \
	VALUE(DAT_VERSION_MAJOR, 0) \
	VALUE(DAT_VERSION_MINOR, 0) \
	VALUE(DAT_THREADSAFE, 0) \
	VALUE(DAT_EXTENSIONS, 0) \
	VALUE(DAT_IB_EXTENSION_VERSION, 0) \
	VALUE(DAT_HA_LB_INTRACOMM, 0) \
	VALUE(DAT_CLOSE_DEFAULT, 0) \
	VALUE(DAT_NAME_NOT_FOUND, 0) \
	VALUE(DAT_DTO_FAILURE, 0) \
	VALUE(DAT_EP_STATE_ERROR, 0) \
	VALUE(DAT_MEM_PRIV_READ_FLAG, 0) \
	VALUE(DAT_MEM_PRIV_WRITE_FLAG, 0) \
	VALUE(DAT_CLASS_ERROR, 0) \
	VALUE(DAT_CLASS_WARNING, 0) \
	VALUE(DAT_TYPE_MASK, 0) \
	VALUE(DAT_SUBTYPE_MASK, 0)

int
main(void)
{
#include "layout_values.h"
#include "layout_structs.h"
	MASKS
	printf("%s %s\n", DAT_PROVIDER_INIT_FUNC_STR, DAT_PROVIDER_FINI_FUNC_STR);
	printf("%s %s %s\n", DAT_IB_ATTR_COUNTERS, DAT_IB_ATTR_UD, DAT_IB_COLL_REDUCE_SCATTER);
	printf("%p %p\n", (void *)DAT_EVD_ASYNC_EXISTS, (void *)DAT_EVD_OUT_OF_SCOPE);
	return 0;
}

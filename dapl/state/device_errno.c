/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/state/device_errno.h"

#include <errno.h>
#include <string.h>

/* clang-format off */
/* Of every call that goes to the kernel through the file of the connection manager. */
#define CM_FILE(call) \
	{ call, EIO, DAPL_MEANS_FAILED, "ucma.c ucma_get_ctx(): the device was removed" }, \
	{ call, EINVAL, DAPL_MEANS_FAILED, "cma.c: the state of the id does not allow the call" }, \
	{ call, ENODATA, DAPL_MEANS_FAILED, "librdmacm cma.c: the kernel took a part of the command" }, \
	{ call, ENOMEM, DAPL_MEANS_FULL, "ucma.c, cma.c, librdmacm cma.c: no memory" }, \
	{ call, ENOSPC, DAPL_MEANS_FULL, "softverbs: the file system of its folder is full, or the user's limit of epoll" }

/* Of every call that makes an object of a device, or changes one. */
#define UVERBS(call) \
	{ call, EIO, DAPL_MEANS_FAILED, "uverbs_main.c: the device was removed" }, \
	{ call, EINVAL, DAPL_MEANS_FAILED, "uverbs_cmd.c, the driver: a value that the device does not take" }, \
	{ call, ENOMEM, DAPL_MEANS_FULL, "uverbs_cmd.c, the driver: no memory, or the device has no more" }, \
	{ call, ENOSPC, DAPL_MEANS_FULL, "the driver: its table is full" }, \
	{ call, EPERM, DAPL_MEANS_FORBIDDEN, "uverbs_cmd.c: the user may not" }, \
	{ call, EACCES, DAPL_MEANS_FORBIDDEN, "security.c, uverbs: the user may not" }

/* Of what not every device has. */
#define PERHAPS(call) \
	UVERBS(call), \
	{ call, EOPNOTSUPP, DAPL_MEANS_NOT_ABLE, "uverbs_ioctl.c, libibverbs: the driver does not have the call" }, \
	{ call, ENOSYS, DAPL_MEANS_NOT_ABLE, "libibverbs: the driver does not have the call" }

const struct dapl_device_errno dapl_device_errnos[] = {
	{ "rdma_create_event_channel", ENOENT, DAPL_MEANS_NO_DEVICE, "librdmacm: there is no /dev/infiniband/rdma_cm" },
	{ "rdma_create_event_channel", ENODEV, DAPL_MEANS_NO_DEVICE, "librdmacm cma.c ucma_init(): there is no device" },
	{ "rdma_create_event_channel", ENXIO, DAPL_MEANS_NO_DEVICE, "open(2): the module rdma_ucm is not loaded" },
	{ "rdma_create_event_channel", ENOSYS, DAPL_MEANS_NO_DEVICE, "librdmacm cma.c check_abi_version(): not loaded" },
	{ "rdma_create_event_channel", EACCES, DAPL_MEANS_FORBIDDEN, "open(2) of /dev/infiniband/rdma_cm" },
	{ "rdma_create_event_channel", EPERM, DAPL_MEANS_FORBIDDEN, "open(2) of /dev/infiniband/rdma_cm" },
	{ "rdma_create_event_channel", EMFILE, DAPL_MEANS_NO_DESCRIPTOR, "open(2) of /dev/infiniband/rdma_cm" },
	{ "rdma_create_event_channel", ENFILE, DAPL_MEANS_NO_FILE, "open(2) of /dev/infiniband/rdma_cm" },
	{ "rdma_create_event_channel", ENOMEM, DAPL_MEANS_FULL, "ucma.c ucma_open(), librdmacm cma.c" },
	{ "rdma_create_event_channel", EIO, DAPL_MEANS_FAILED, "librdmacm cma.c: the devices cannot be read" },
	{ "rdma_create_event_channel", EAGAIN, DAPL_MEANS_NO_THREAD, "softverbs: its thread" },

	CM_FILE("rdma_create_id"),
	{ "rdma_create_id", ENODEV, DAPL_MEANS_FAILED, "librdmacm cma.c ucma_init(): the devices went" },
	{ "rdma_create_id", EPERM, DAPL_MEANS_FORBIDDEN, "ucma.c ucma_create_id()" },

	CM_FILE("rdma_bind_addr"),
	{ "rdma_bind_addr", EADDRINUSE, DAPL_MEANS_PORT_TAKEN,
	    "cma.c cma_check_port(): another id has the port at this address" },
	{ "rdma_bind_addr", EADDRNOTAVAIL, DAPL_MEANS_NO_ADDRESS,
	    "cma.c cma_check_port(): another id has the port at the wildcard address; cma_alloc_any_port(): no port is free; "
	    "addr.c rdma_translate_ip(): no such address" },
	{ "rdma_bind_addr", EACCES, DAPL_MEANS_FORBIDDEN, "cma.c cma_use_port(): a port below 1024" },
	{ "rdma_bind_addr", EPERM, DAPL_MEANS_FORBIDDEN, "ucma.c" },
	{ "rdma_bind_addr", ENODEV, DAPL_MEANS_NO_DEVICE,
	    "cma.c cma_acquire_dev_by_src_ip(): no device has the address" },
	{ "rdma_bind_addr", EAFNOSUPPORT, DAPL_MEANS_WRONG_FAMILY, "cma.c rdma_bind_addr()" },
	{ "rdma_bind_addr", EPROTONOSUPPORT, DAPL_MEANS_FAILED, "cma.c cma_get_port(): the port space" },
	{ "rdma_bind_addr", EFBIG, DAPL_MEANS_FULL, "softverbs: the limit of the size of a file" },
	{ "rdma_bind_addr", EAGAIN, DAPL_MEANS_NO_THREAD, "softverbs: its thread" },
	{ "rdma_bind_addr", EMFILE, DAPL_MEANS_NO_DESCRIPTOR, "librdmacm cma.c: it opens the device" },
	{ "rdma_bind_addr", ENFILE, DAPL_MEANS_NO_FILE, "librdmacm cma.c: it opens the device" },

	CM_FILE("rdma_listen"),
	{ "rdma_listen", EADDRINUSE, DAPL_MEANS_PORT_TAKEN, "cma.c cma_check_port(), iwcm.c: the port of an id that may share it" },
	{ "rdma_listen", EADDRNOTAVAIL, DAPL_MEANS_NO_ADDRESS, "cma.c cma_check_port()" },
	{ "rdma_listen", EBUSY, DAPL_MEANS_PORT_TAKEN, "cm.c cm_insert_listen(): another listener has the service id" },
	{ "rdma_listen", EACCES, DAPL_MEANS_FORBIDDEN, "cma.c cma_use_port(), of an id that is not bound" },
	{ "rdma_listen", ENOSYS, DAPL_MEANS_NOT_ABLE, "cma.c rdma_listen(): a device without a connection manager" },

	{ "ibv_create_comp_channel", EIO, DAPL_MEANS_FAILED, "uverbs_main.c: the device was removed" },
	{ "ibv_create_comp_channel", EMFILE, DAPL_MEANS_NO_DESCRIPTOR, "rdma_core.c alloc_begin_fd_uobject()" },
	{ "ibv_create_comp_channel", ENFILE, DAPL_MEANS_NO_FILE, "rdma_core.c alloc_begin_fd_uobject()" },
	{ "ibv_create_comp_channel", ENOMEM, DAPL_MEANS_FULL, "rdma_core.c, libibverbs verbs.c" },

	UVERBS("ibv_query_device"),
	UVERBS("ibv_query_port"),
	UVERBS("ibv_create_cq"),
	{ "ibv_resize_cq", ENOMEM, DAPL_MEANS_FULL, "uverbs_cmd.c, the driver: no memory" },
	{ "ibv_resize_cq", EAGAIN, DAPL_MEANS_FULL, "the driver: a resize is at work" },
	UVERBS("ibv_alloc_pd"),
	UVERBS("ibv_create_qp"),
	UVERBS("ibv_modify_qp"),
	{ "ibv_modify_qp", ENODEV, DAPL_MEANS_FAILED, "verbs.c: the port or its interface went" },
	PERHAPS("ibv_create_srq"),
	PERHAPS("ibv_modify_srq"),
	PERHAPS("ibv_alloc_mw"),
	PERHAPS("ibv_create_ah"),
	{ "ibv_create_ah", ENODEV, DAPL_MEANS_FAILED, "verbs.c: the interface of the address went" },
	{ "ibv_create_ah", EHOSTUNREACH, DAPL_MEANS_FAILED, "addr.c: the address does not answer" },
	{ "ibv_create_ah", ETIMEDOUT, DAPL_MEANS_FAILED, "addr.c: the address does not answer" },

	{ "ibv_reg_mr", ENOMEM, DAPL_MEANS_FULL,
	    "umem.c ib_umem_get(): RLIMIT_MEMLOCK; the driver: no more regions" },
	{ "ibv_reg_mr", ENOSPC, DAPL_MEANS_FULL, "the driver: its table is full" },
	{ "ibv_reg_mr", EAGAIN, DAPL_MEANS_FULL, "gup.c: pages that cannot be pinned at the moment" },
	{ "ibv_reg_mr", EFAULT, DAPL_MEANS_WRONG_MEMORY, "gup.c: no memory there, or not writable" },
	{ "ibv_reg_mr", EINVAL, DAPL_MEANS_WRONG_MEMORY, "umem.c: the range wraps; uverbs_cmd.c: the rights" },
	{ "ibv_reg_mr", EPERM, DAPL_MEANS_FORBIDDEN, "umem.c: the process may lock no memory" },
	{ "ibv_reg_mr", EACCES, DAPL_MEANS_FORBIDDEN, "uverbs" },
	{ "ibv_reg_mr", EOPNOTSUPP, DAPL_MEANS_NOT_ABLE, "the driver: files, or regions on demand" },
	{ "ibv_reg_mr", EIO, DAPL_MEANS_FAILED, "uverbs_main.c: the device was removed" },

	{ "ibv_post_send", ENOMEM, DAPL_MEANS_QUEUE_FULL, "the library of the device: the queue is full" },
	{ "ibv_post_send", ENOSPC, DAPL_MEANS_QUEUE_FULL, "the library of the device: the queue is full" },
	{ "ibv_post_send", EAGAIN, DAPL_MEANS_QUEUE_FULL, "the library of the device: the queue is full" },
	{ "ibv_post_send", EINVAL, DAPL_MEANS_WRONG_REQUEST, "the library of the device: the request or the state" },
	{ "ibv_post_send", EFAULT, DAPL_MEANS_WRONG_REQUEST, "the library of the device: the segments" },
	{ "ibv_post_send", EMSGSIZE, EMSGSIZE, "the library of the device: the length" },
	{ "ibv_post_send", EIO, DAPL_MEANS_FAILED, "the library of the device: it is gone" },
	{ "ibv_post_recv", ENOMEM, DAPL_MEANS_QUEUE_FULL, "the library of the device: the queue is full" },
	{ "ibv_post_recv", ENOSPC, DAPL_MEANS_QUEUE_FULL, "the library of the device: the queue is full" },
	{ "ibv_post_recv", EAGAIN, DAPL_MEANS_QUEUE_FULL, "the library of the device: the queue is full" },
	{ "ibv_post_recv", EINVAL, DAPL_MEANS_WRONG_REQUEST, "the library of the device: the request or the state" },
	{ "ibv_post_recv", EFAULT, DAPL_MEANS_WRONG_REQUEST, "the library of the device: the segments" },
	{ "ibv_post_recv", EIO, DAPL_MEANS_FAILED, "the library of the device: it is gone" },
	{ NULL, 0, 0, NULL },
};
/* clang-format on */

const struct dapl_device_errno *
dapl_device_errno_find(const char *call, int error)
{
	for (const struct dapl_device_errno *e = dapl_device_errnos; e->call; e++)
		if (e->error == error && strcmp(e->call, call) == 0)
			return e;
	return NULL;
}

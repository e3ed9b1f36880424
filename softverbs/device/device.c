/* SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"
#include "cancel.h"
#include "changes.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Libraries for particular adapters read the words after an ibv_device to see whether it is
 * theirs; with zeroes there it is not.
 */
struct shown_device {
	struct ibv_device ibv;
	uint64_t behind[8];
};
static struct shown_device shown[SOFT_DEVICES_MAX];

#define CLASS_FOLDER "/sys/class/infiniband/"
#define VERBS_FOLDER "/sys/class/infiniband_verbs/"
#define NOWHERE "/nonexistent/softverbs/"

/* Where the files of the device are, if softverbs-run shows any; see run/files.h. */
static void
device_show(struct ibv_device *ibv, const struct soft_device *device, bool with_files)
{
	ibv->node_type = IBV_NODE_CA;
	ibv->transport_type = IBV_TRANSPORT_IB;
	(void)snprintf(ibv->name, sizeof ibv->name, "%s", device->name);
	(void)snprintf(ibv->dev_name, sizeof ibv->dev_name, "uverbs-%s", device->name);
	(void)snprintf(ibv->dev_path, sizeof ibv->dev_path, "%suverbs-%s",
	    with_files ? VERBS_FOLDER : NOWHERE, device->name);
	(void)snprintf(ibv->ibdev_path, sizeof ibv->ibdev_path, "%s%s",
	    with_files ? CLASS_FOLDER : NOWHERE, device->name);
}

static void
device_show_all(void)
{
	const struct soft_topology *topology = soft_topology();

	for (unsigned int i = 0; i < topology->count; i++)
		device_show(&shown[i].ibv, &topology->devices[i], !topology->plain);
}

static struct shown_device *
device_shown(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, device_show_all);
	return shown;
}

struct ibv_device *
soft_device_at(unsigned int index)
{
	return &device_shown()[index].ibv;
}

const struct soft_device *
soft_device_find(const struct ibv_device *ibv)
{
	const struct soft_topology *topology = soft_topology();

	for (unsigned int i = 0; i < topology->count; i++)
		if (ibv == &shown[i].ibv)
			return &topology->devices[i];
	return NULL;
}

const struct soft_device_port *
soft_device_port(const struct ibv_context *context, uint32_t port)
{
	const struct soft_device *device = soft_device_of(context);

	return port && port <= device->attr.phys_port_cnt ? &device->ports[port - 1] : NULL;
}

/* The port, if it has a GID with that index. */
static const struct soft_device_port *
device_port_of_gid(const struct ibv_context *context, uint32_t port, uint32_t index)
{
	const struct soft_device_port *own = soft_device_port(context, port);

	return own && index < (uint32_t)own->attr.gid_tbl_len ? own : NULL;
}

static int
device_gid_entry(const struct ibv_context *context, uint32_t port, uint32_t index,
    struct ibv_gid_entry *out, size_t size)
{
	const struct soft_device_port *own = device_port_of_gid(context, port, index);
	struct ibv_gid_entry entry = { .gid_index = index, .port_num = port };

	if (!own)
		return EINVAL;
	entry.gid = soft_device_port_gid(own, index);
	entry.gid_type = own->gids[index].type;
	entry.ndev_ifindex = own->gids[index].interface;
	memcpy(out, &entry, size < sizeof entry ? size : sizeof entry);
	return 0;
}

struct ibv_device **
soft_ibv_get_device_list(int *num_devices)
{
	SOFT_UNCANCELLED;
	const unsigned int count = soft_topology()->count;
	struct ibv_device **list;
	unsigned int there = 0;

	if (num_devices)
		*num_devices = 0;
	if (!count) {
		errno = EINVAL; /* it was reported */
		return NULL;
	}
	list = calloc(count + 1, sizeof *list);
	if (!list)
		return NULL;
	for (unsigned int i = 0; i < count; i++)
		if (!soft_device_is_away(i))
			list[there++] = soft_device_at(i);
	if (num_devices)
		*num_devices = (int)there;
	return list;
}

void
ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

const char *
ibv_get_device_name(struct ibv_device *dev)
{
	return dev->name;
}

int
ibv_get_device_index(struct ibv_device *dev)
{
	(void)dev;
	return -1; /* no kernel device */
}

__be64
ibv_get_device_guid(struct ibv_device *dev)
{
	const struct soft_device *device = soft_device_find(dev);

	return device ? device->attr.node_guid : 0;
}

/* What is left out, the device does not have. */
void
soft_device_query_ex(const struct ibv_context *context, struct ibv_device_attr_ex *attr)
{
	const struct soft_device *device = soft_device_of(context);

	*attr = (struct ibv_device_attr_ex){
		.completion_timestamp_mask = UINT64_MAX,
		.hca_core_clock = SOFT_SECOND / 1000, /* kHz of a clock of nanoseconds */
		.cq_mod_caps = { .max_cq_count = UINT16_MAX, .max_cq_period = UINT16_MAX },
		.phys_port_cnt_ex = device->attr.phys_port_cnt,
		.orig_attr = device->attr,
	};
	attr->device_cap_flags_ex = attr->orig_attr.device_cap_flags;
}

int
soft_ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	*attr = soft_device_of(context)->attr;
	return 0;
}

int
soft_port_query(
    const struct ibv_context *context, uint8_t port, struct ibv_port_attr *out, size_t length)
{
	const struct soft_device_port *own = soft_device_port(context, port);
	struct ibv_port_attr attr;

	if (!own)
		return EINVAL;
	attr = soft_port_now(own);
	memcpy(out, &attr, length < sizeof attr ? length : sizeof attr);
	return 0;
}

/*
 * Programs that were built for an older, shorter structure pass one that ends before
 * port_cap_flags2.
 */
int
soft_ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attr)
{
	return soft_port_query(context, port, (struct ibv_port_attr *)attr,
	    offsetof(struct ibv_port_attr, port_cap_flags2));
}

int
soft_ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
	const struct soft_device_port *own = device_port_of_gid(context, port, (uint32_t)index);

	if (!own) {
		errno = EINVAL;
		return -1;
	}
	*gid = soft_device_port_gid(own, (unsigned int)index);
	return 0;
}

int
soft__ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index,
    struct ibv_gid_entry *entry, uint32_t flags, size_t entry_size)
{
	SOFT_UNCANCELLED;

	return flags ? EOPNOTSUPP : device_gid_entry(context, port, index, entry, entry_size);
}

/* Of all ports, one after the other. */
ssize_t
soft__ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t max,
    uint32_t flags, size_t entry_size)
{
	SOFT_UNCANCELLED;
	const struct soft_device *device = soft_device_of(context);
	size_t count = 0, next = 0;

	if (flags)
		return -EOPNOTSUPP;
	for (unsigned int port = 0; port < device->attr.phys_port_cnt; port++)
		count += (size_t)device->ports[port].attr.gid_tbl_len;
	if (max < count)
		return -EINVAL;
	for (unsigned int port = 0; port < device->attr.phys_port_cnt; port++)
		for (int i = 0; i < device->ports[port].attr.gid_tbl_len; i++)
			(void)device_gid_entry(context, port + 1, (uint32_t)i,
			    (struct ibv_gid_entry *)((char *)entries + next++ * entry_size),
			    entry_size);
	return (ssize_t)count;
}

int
soft_ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey)
{
	const struct soft_device_port *own = soft_device_port(context, port);

	if (!own || index) {
		errno = EINVAL;
		return -1;
	}
	*pkey = htobe16(soft_pkey_now(own));
	return 0;
}

int
soft_ibv_get_pkey_index(struct ibv_context *context, uint8_t port, __be16 pkey)
{
	const struct soft_device_port *own = soft_device_port(context, port);

	if (own && pkey == htobe16(soft_pkey_now(own)))
		return 0;
	errno = EINVAL;
	return -1;
}

/* The device pins no pages, so a copy-on-write after fork() does no harm. */
int
soft_ibv_fork_init(void)
{
	return 0;
}

int
ibv_dontfork_range(void *base, size_t size)
{
	(void)base, (void)size;
	return 0;
}

int
ibv_dofork_range(void *base, size_t size)
{
	(void)base, (void)size;
	return 0;
}

enum ibv_fork_status
ibv_is_fork_initialized(void)
{
	return IBV_FORK_UNNEEDED;
}

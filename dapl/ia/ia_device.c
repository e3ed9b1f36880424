/* SPDX-License-Identifier: BSD-3-Clause */
/* The device under an adapter, and the loops that watch its channels */
#include <string.h>

#include "dapl/object/cancel.h"
#include "dapl/state/device_errno.h"
#include "dapl/trace/debug.h"
#include "dapl/trace/shortage.h"
#include "dapl/ia/channel.h"
#include "dapl/ia/cq_arm.h"
#include "dapl/ia/ia.h"

static void
ia_close_loop(struct dapl_ia_loop *l)
{
	ibv_destroy_comp_channel(l->channel);
	loop_free(l->loop);
}

static int
ia_open_loop(struct dapl_ia *ia, struct dapl_ia_loop *l)
{
	int r;

	l->ia = ia;
	l->lost = false;
	r = loop_create(ia->stepped ? LOOP_STEPPED : LOOP_THREAD, 1, &l->loop);
	if (r)
		return r;
	errno = 0;
	l->channel = ibv_create_comp_channel(ia->verbs);
	if (!l->channel) {
		r = dapl_shortage_of_device("ibv_create_comp_channel");
		goto free_loop;
	}
	r = dapl_channel_prepare_fd(&l->channel->fd);
	if (!r)
		r = loop_add(l->loop, l->channel->fd, dapl_channel_read_shared, l, 0, &l->ticket);
	if (r)
		goto destroy_channel;
	return 0;

destroy_channel:
	ibv_destroy_comp_channel(l->channel);
free_loop:
	loop_free(l->loop);
	return r;
}

static void
ia_open_lead(struct dapl_ia_loop *l, struct lead *lead)
{
	if (!lead)
		return;
	*lead = (struct lead){ .loop = l->loop,
		.ticket = &l->ticket,
		.fd = l->channel->fd,
		.read = dapl_channel_read,
		.arg = l };
	lead_open(lead);
}

/* Errors for which there is something to be done to a device of the host. */
static bool
ia_is_of_host(int error)
{
	return error == ENOENT || error == ENOSYS || error == ENODEV || error == ENXIO ||
	       error == EACCES || error == EPERM;
}

/* Whether it is the software device that cannot be used, after a line. */
static bool
ia_no_soft_device(int error)
{
	const char *complaint = dapl_cq_arm_complaint();

	if (dapl_shortage_is_explained(error) ||
	    (!complaint && !(dapl_cq_arm_is_soft() && ia_is_of_host(error))))
		return false;
	dapl_debug_error(
	    "the software device cannot be used: %s", complaint ? complaint : strerror(error));
	return true;
}

/* Without a connection manager there is no device. */
static int
ia_no_cm(int error)
{
	if (ia_no_soft_device(error))
		return error == ENOENT || error == ENOSYS ? -ENODEV : -error;
	switch (error) {
	case ENOENT:
	case ENOSYS:
	case ENODEV:
	case ENXIO:
		dapl_debug_error(
		    "this host has no RDMA connection manager: modprobe rdma_ucm, and see "
		    "that `rdma link` lists a device; rearm(7)");
		return -ENODEV;
	case EACCES:
	case EPERM:
		dapl_debug_error(
		    "this user may not open /dev/infiniband/rdma_cm: allow it with a rule of "
		    "udev; rearm(7)");
		return -EACCES;
	default:
		errno = error;
		return dapl_shortage_of_device("rdma_create_event_channel");
	}
}

/* The device is found by binding an id to the address. */
static int
ia_find_device(struct dapl_ia *ia)
{
	int r;

	dapl_cq_arm_prepare();
	errno = EIO; /* some calls of the CM fail without setting it */
	ia->events = rdma_create_event_channel();
	if (!ia->events)
		return ia_no_cm(errno);
	errno = EIO;
	if (rdma_create_id(ia->events, &ia->id, NULL, RDMA_PS_TCP)) {
		r = dapl_cq_arm_complaint() ? ia_no_cm(errno) :
					      dapl_shortage_of_device("rdma_create_id");
		rdma_destroy_event_channel(ia->events);
		return r;
	}
	return 0;
}

static int
ia_query_device(struct dapl_ia *ia)
{
	const uint8_t port = ia->id->port_num ? ia->id->port_num : 1;

	/* These calls return the error and may not set errno. */
	errno = ibv_query_device(ia->verbs, &ia->device);
	if (errno)
		return dapl_shortage_of_device("ibv_query_device");
	dapl_cancel_expect(ia->device.vendor_id);
	errno = ibv_query_port(ia->verbs, port, &ia->port);
	return errno ? dapl_shortage_of_device("ibv_query_port") : 0;
}

static int
ia_no_address(const char *where, int error)
{
	switch (-error) {
	case ENOENT:
		dapl_debug_error(
		    "%s is neither an interface of this host, nor an address, nor a known host "
		    "name: `ip link` lists the interfaces",
		    where);
		break;
	case ENETDOWN:
		dapl_debug_error("the interface %s is down: ip link set %s up", where, where);
		break;
	case EADDRNOTAVAIL:
		dapl_debug_error(
		    "the interface %s has no address: ip address add ADDRESS/LENGTH dev %s", where,
		    where);
		break;
	case EMFILE:
	case ENFILE:
	case ENOMEM:
		break; /* dapl_err_ia_open() has a line for these */
	default:
		dapl_debug_error("cannot look up %s: %s", where, strerror(-error));
		break;
	}
	return error;
}

/*
 * A program may be started before its link is up: so this is no failure, but connections would be a
 * riddle.
 */
static void
ia_check_port(const struct dapl_ia *ia, const char *where)
{
	static const char *const states[] = {
		[IBV_PORT_DOWN] = "down",
		[IBV_PORT_INIT] = "initializing",
		[IBV_PORT_ARMED] = "armed",
	};
	const uint8_t port = ia->id->port_num ? ia->id->port_num : 1;
	const unsigned int state = ia->port.state;
	const char *mend;

	if (state == IBV_PORT_ACTIVE || state == IBV_PORT_ACTIVE_DEFER)
		return;
	mend = ia->port.link_layer == IBV_LINK_LAYER_ETHERNET ?
		   "set its interface up (ip link set INTERFACE up), and look at the cable" :
		   "look at the cable, and start a subnet manager in the fabric (opensm)";
	dapl_debug_error(
	    "port %u of the device %s, for %s, is %s and not active, so connections will "
	    "fail: %s",
	    port, ia->verbs->device->name, where,
	    state < sizeof states / sizeof states[0] && states[state] ? states[state] : "unknown",
	    mend);
}

/* The reason that rdma_bind_addr() left in errno. */
static int
ia_no_device(const char *where, int error)
{
	/* The software device has every address of the host. */
	const struct dapl_device_errno *known;
	const bool no_address =
	    error == EADDRNOTAVAIL || (error == ENODEV && dapl_cq_arm_is_soft());

	if ((!no_address || dapl_cq_arm_complaint()) && ia_no_soft_device(error)) {
		known = dapl_device_errno_find("rdma_bind_addr", error);
		return known && known->meaning == DAPL_MEANS_FULL ? -known->meaning : -error;
	}
	switch (no_address ? EADDRNOTAVAIL : error) {
	case EADDRNOTAVAIL:
		dapl_debug_error(
		    "%s is no address of this host: `ip address` shows those that it has", where);
		return -error;
	case ENODEV:
		dapl_debug_error(
		    "no RDMA device has the address of %s: `rdma link` lists the devices and "
		    "their interfaces, and `rdma link add rxe0 type rxe netdev INTERFACE` "
		    "makes one; rearm(7)",
		    where);
		return -error;
	case EACCES:
	case EPERM:
		dapl_debug_error(
		    "this user may not open the RDMA device of %s, /dev/infiniband/uverbs*: "
		    "allow it with a rule of udev; rearm(7)",
		    where);
		return -error;
	default:
		errno = error;
		return dapl_shortage_of_device("rdma_bind_addr");
	}
}

static int
ia_bind_device(struct dapl_ia *ia, const char *where)
{
	int r;

	errno = EIO;
	if (rdma_bind_addr(ia->id, (struct sockaddr *)&ia->address))
		return ia_no_device(where, errno);
	if (!ia->id->verbs)
		return ia_no_device(where, ENODEV);
	ia->verbs = ia->id->verbs;
	r = ia_query_device(ia);
	if (r)
		return r;
	ia_check_port(ia, where);
	r = dapl_channel_prepare_fd(&ia->events->fd);
	return r ? r : dapl_channel_prepare_shared_fd(ia->verbs->async_fd);
}

int
dapl_ia_moderate(const struct dapl_ia *ia, struct ibv_cq *cq)
{
	struct ibv_modify_cq_attr attr = {
		.attr_mask = IBV_CQ_ATTR_MODERATE,
		.moderate = ia->moderation,
	};
	int r;

	if (!ia->moderation.cq_count)
		return 0;
	r = ibv_modify_cq(cq, &attr);
	return r < 0 ? -errno : -r;
}

/*
 * A device that does not moderate only notifies more often.  So the adapter is opened without, and
 * the reason is printed once, and not for each EVD.  The queue is any that exists.
 */
static void
ia_set_moderation(struct dapl_ia *ia, const struct dapl_ia_options *options)
{
	int r;

	ia->moderation = (struct ibv_moderate_cq){ .cq_count = (uint16_t)options->moderation_count,
		.cq_period = (uint16_t)options->moderation_us };
	r = dapl_ia_moderate(ia, ia->idle_cq);
	if (!r)
		return;
	if (r == -EOPNOTSUPP || r == -ENOSYS)
		dapl_debug_error("moderation=%u,%u has no effect: the device %s does not moderate "
				 "completion queues",
		    options->moderation_count, options->moderation_us, ia->verbs->device->name);
	else
		dapl_debug_error("moderation=%u,%u has no effect: the device %s refuses it: %s",
		    options->moderation_count, options->moderation_us, ia->verbs->device->name,
		    strerror(-r));
	ia->moderation.cq_count = 0;
}

int
dapl_ia_device_open(struct dapl_ia *ia, const struct dapl_ia_options *options)
{
	int r;

	ia->stepped = options->stepped;
	ia->spin_ns = (uint64_t)options->spin_us * OS_NS_PER_US;
	ia->slow_ns = (uint64_t)options->slow_us * OS_NS_PER_US;
	ia->pool = NULL;
	ia->next_vector = 0;
	ia->idle_cq = NULL;
	ia->catastrophe = false;
	r = dapl_address_resolve(options->where, &ia->address);
	if (r)
		return ia_no_address(options->where, r);
	if (!dapl_address_is_of_one(&ia->address)) {
		dapl_debug_error(
		    "%s is a multicast or broadcast address, which no adapter can have: name an "
		    "interface, its address or a host name",
		    options->where);
		return -EADDRNOTAVAIL;
	}
	r = ia_find_device(ia);
	if (r)
		return r;
	r = ia_bind_device(ia, options->where);
	if (r)
		goto destroy_id;
	for (ia->loop_count = 0; ia->loop_count < options->loops; ia->loop_count++) {
		r = ia_open_loop(ia, &ia->loops[ia->loop_count]);
		if (r)
			goto close_loops;
	}
	ia_open_lead(&ia->loops[0], dapl_ia_lead(ia));
	/* Any depth will do: a send or receive queue without an EVD gets no completions. */
	errno = 0;
	ia->idle_cq = ibv_create_cq(ia->verbs, 1, NULL, NULL, 0);
	if (!ia->idle_cq) {
		r = dapl_shortage_of_device("ibv_create_cq");
		goto close_loops;
	}
	/* No attribute of the device shows whether it can resize: try it. */
	ia->fixed_cqs = ibv_resize_cq(ia->idle_cq, 2) != 0;
	ia_set_moderation(ia, options);
	r = dapl_ia_names_create(ia);
	if (r)
		goto destroy_cq;
	r = loop_add(ia->loops[0].loop, ia->events->fd, ia->ops->read_cm, ia, 0, &ia->cm_ticket);
	if (r)
		goto free_names;
	r = loop_add(
	    ia->loops[0].loop, ia->verbs->async_fd, ia->ops->read_async, ia, 0, &ia->async_ticket);
	if (r)
		goto remove_cm;
	dapl_removal_enter(&ia->removal, ia->verbs);
	return 0;

remove_cm:
	loop_remove(ia->loops[0].loop, &ia->cm_ticket);
free_names:
	dapl_ia_names_free(ia);
destroy_cq:
	ibv_destroy_cq(ia->idle_cq);
close_loops:
	while (ia->loop_count > 0) {
		struct dapl_ia_loop *l = &ia->loops[--ia->loop_count];

		loop_remove(l->loop, &l->ticket);
		ia_close_loop(l);
	}
destroy_id:
	rdma_destroy_id(ia->id);
	rdma_destroy_event_channel(ia->events);
	return r;
}

void
dapl_ia_device_stop(struct dapl_ia *ia)
{
	loop_remove(ia->loops[0].loop, &ia->cm_ticket);
	loop_remove(ia->loops[0].loop, &ia->async_ticket);
	for (unsigned int i = 0; i < ia->loop_count; i++)
		loop_remove(ia->loops[i].loop, &ia->loops[i].ticket);
}

void
dapl_ia_device_close(struct dapl_ia *ia)
{
	dapl_ia_names_free(ia);
	ibv_destroy_cq(ia->idle_cq);
	for (unsigned int i = 0; i < ia->loop_count; i++)
		ia_close_loop(&ia->loops[i]);
	if (ia->pool && !ia->stepped)
		loop_free(ia->pool);
	dapl_removal_leave(&ia->removal);
	rdma_destroy_id(ia->id);
	rdma_destroy_event_channel(ia->events);
}

struct dapl_ia_loop *
dapl_ia_pick_loop(struct dapl_ia *ia, int *vector)
{
	int vectors = ia->verbs->num_comp_vectors;
	unsigned int n;

	dapl_ia_lock(ia);
	n = ia->next_vector++;
	dapl_ia_unlock(ia);
	*vector = vectors > 0 ? (int)(n % (unsigned int)vectors) : 0;
	return &ia->loops[n % ia->loop_count];
}

int
dapl_ia_pool(struct dapl_ia *ia, struct loop **pool)
{
	int r = 0;

	dapl_ia_lock(ia);
	if (!ia->pool) {
		r = loop_create(LOOP_POOL, DAPL_IA_POOL_THREADS, &ia->pool);
		if (r)
			ia->pool = NULL;
	}
	*pool = ia->pool;
	dapl_ia_unlock(ia);
	return r;
}

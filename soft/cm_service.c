/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm.h"
#include "peer.h"
#include "ports.h"
#include "runtime.h"
#include "timer.h"

#include <stdlib.h>
#include <sys/epoll.h>

/*
 * A service is a port number of one port space that this process holds.  A port that the
 * consumer named, or listens at, has the abstract unix socket "softverbs.1.port.SPACE.PORT":
 * that makes it unique on the host and is where other processes ask for its owner.  A port
 * of the consumer's indifference comes out of a block; see ports.h.
 */
struct soft_service {
	LIST_ENTRY(soft_service) link;
	LIST_HEAD(, soft_id) ids;
	uint16_t port_space;
	uint16_t port;
	struct soft_watch watch; /* its descriptor is -1 if there is no socket */
	struct soft_id *listener;
	struct soft_timer burial;
};

#define BUCKETS 1024
static LIST_HEAD(, soft_service) buckets[BUCKETS];

/*
 * Ended, but the progress thread may have an event of it at hand: it does the freeing.  The
 * name is given back at once.
 */
static LIST_HEAD(, soft_service) ended = LIST_HEAD_INITIALIZER(ended);

static void say_hello(struct soft_watch *watch, uint32_t events);
static void bury(struct soft_timer *timer);

static struct soft_service *
find(uint16_t port_space, uint16_t port)
{
	struct soft_service *service;

	LIST_FOREACH(service, &buckets[port % BUCKETS], link)
		if (service->port == port && service->port_space == port_space)
			return service;
	return NULL;
}

static int
create(struct soft_service **out, uint16_t port_space, uint16_t port)
{
	struct soft_service *service;
	int fd;

	service = calloc(1, sizeof *service);
	if (!service)
		return -ENOMEM;
	if (port)
		fd = soft_port_take(port_space, port);
	else
		fd = soft_port_any(port_space, &port);
	if (fd < 0 && fd != SOFT_PORT_LENT) {
		free(service);
		return fd;
	}
	service->port_space = port_space;
	service->port = port;
	service->watch = (struct soft_watch){ fd == SOFT_PORT_LENT ? -1 : fd, say_hello };
	soft_timer_init(&service->burial, bury);
	LIST_INIT(&service->ids);
	LIST_INSERT_HEAD(&buckets[port % BUCKETS], service, link);
	*out = service;
	return 0;
}

/* Ids of this process share a port if all of them asked to. */
static bool
shareable(const struct soft_service *service, const struct soft_id *id)
{
	const struct soft_id *other;

	if (!id->reuse_address || service->listener)
		return false;
	LIST_FOREACH(other, &service->ids, service_link)
		if (!other->reuse_address)
			return false;
	return true;
}

int
soft_service_bind(struct soft_id *id, uint16_t *port)
{
	const uint16_t port_space = (uint16_t)id->public.ps;
	struct soft_service *service = *port ? find(port_space, *port) : NULL;
	int r;

	if (service) {
		if (!shareable(service, id))
			return -EADDRINUSE;
	} else {
		r = create(&service, port_space, *port);
		if (r)
			return r;
	}
	LIST_INSERT_HEAD(&service->ids, id, service_link);
	id->service = service;
	*port = service->port;
	return 0;
}

void
soft_service_release(struct soft_id *id)
{
	struct soft_service *service = id->service;

	if (!service)
		return;
	id->service = NULL;
	LIST_REMOVE(id, service_link);
	if (service->listener == id)
		service->listener = NULL;
	if (!LIST_EMPTY(&service->ids))
		return;
	LIST_REMOVE(service, link);
	if (service->watch.fd >= 0) {
		/* Out of the set first: a process just forked may hold the descriptor, too. */
		soft_watch_remove(&service->watch);
		soft_close(service->watch.fd);
		service->watch.fd = -1;
	}
	soft_port_return(service->port_space, service->port);
	LIST_INSERT_HEAD(&ended, service, link);
	soft_timer_set(&service->burial, 0);
}

static void
bury(struct soft_timer *timer)
{
	struct soft_service *service = soft_container_of(timer, struct soft_service, burial);

	pthread_mutex_lock(&soft_cm_lock);
	LIST_REMOVE(service, link);
	pthread_mutex_unlock(&soft_cm_lock);
	free(service);
}

void
soft_services_stop(void)
{
	struct soft_service *service;

	while ((service = LIST_FIRST(&ended))) {
		soft_timer_cancel(&service->burial);
		LIST_REMOVE(service, link);
		free(service);
	}
}

/* Another process asks who listens here. */
static void
say_hello(struct soft_watch *watch, uint32_t events)
{
	struct soft_hello_frame hello;
	int fd = -1;

	(void)events;
	pthread_mutex_lock(&soft_cm_lock);
	if (watch->fd >= 0)
		fd = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	pthread_mutex_unlock(&soft_cm_lock);
	if (fd < 0)
		return;
	soft_peer_hello(&hello);
	if (soft_peer_trusted(fd))
		(void)send(fd, &hello, sizeof hello, MSG_NOSIGNAL | MSG_DONTWAIT);
	soft_close(fd);
}

int
soft_service_listen(struct soft_id *id)
{
	struct soft_service *service = id->service;
	int fd, r;

	if (service->listener)
		return -EADDRINUSE;
	if (service->watch.fd < 0) {
		fd = soft_port_socket(service->port_space, service->port);
		if (fd < 0)
			return fd;
		service->watch.fd = fd;
	}
	if (listen(service->watch.fd, SOMAXCONN))
		return -errno;
	/* A port listened at before is watched already. */
	r = soft_watch_add(&service->watch, EPOLLIN);
	if (r && r != -EEXIST)
		return r;
	service->listener = id;
	return 0;
}

bool
soft_service_here(uint16_t port_space, uint16_t port)
{
	return find(port_space, port) != NULL;
}

/* "Any address" of IPv6 takes callers of IPv4, too. */
struct soft_id *
soft_service_find(uint16_t port_space, uint16_t port, const struct sockaddr *target)
{
	struct soft_service *service = find(port_space, port);
	struct soft_id *listener = service ? service->listener : NULL;
	const struct sockaddr *bound;
	bool meant;

	if (!listener)
		return NULL;
	bound = rdma_get_local_addr(&listener->public);
	if (soft_address_wild(bound))
		meant = bound->sa_family == AF_INET6 || target->sa_family == AF_INET;
	else
		meant = soft_address_same_host(bound, target);
	return meant ? listener : NULL;
}

/* The parent's sockets must not hold their names when it is gone. */
void
soft_services_reset(void)
{
	struct soft_service *service;

	for (int i = 0; i < BUCKETS; i++) {
		LIST_FOREACH(service, &buckets[i], link)
			if (service->watch.fd >= 0)
				soft_close(service->watch.fd);
		LIST_INIT(&buckets[i]); /* each is its ids' as well */
	}
	soft_runtime_abandon(LIST_FIRST(&ended));
	LIST_INIT(&ended);
	soft_ports_reset();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* rdma_set_option(): the options of an id, and when each may be set */
#include "get_event.h"
#include "path.h"
#include "softverbs/device/cancel.h"

#include <string.h>

#define ACK_TIMEOUT_MAX 31

static int
option_set_reuse_address(struct soft_id *id, const void *value) REQUIRES(soft_locks.cm)
{
	int on;

	memcpy(&on, value, sizeof on);
	if (id->state != SOFT_ID_IDLE && (!on || id->state == SOFT_ID_LISTENING))
		return -EINVAL;
	id->reuse_address = on;
	return 0;
}

static int
option_set_family_only(struct soft_id *id, const void *value) REQUIRES(soft_locks.cm)
{
	int on;

	memcpy(&on, value, sizeof on);
	if (id->state > SOFT_ID_BOUND)
		return -EINVAL;
	id->family_only = on;
	return 0;
}

static int
option_set_ack_timeout(struct soft_id *id, const void *value) REQUIRES(soft_locks.cm)
{
	const uint8_t timeout = *(const uint8_t *)value;

	if (timeout > ACK_TIMEOUT_MAX || id->public.qp_type != IBV_QPT_RC)
		return -EINVAL;
	id->ack_timeout = timeout;
	return 0;
}

static const size_t lengths[] = {
	[RDMA_OPTION_ID_TOS] = sizeof(uint8_t),
	[RDMA_OPTION_ID_REUSEADDR] = sizeof(int),
	[RDMA_OPTION_ID_AFONLY] = sizeof(int),
	[RDMA_OPTION_ID_ACK_TIMEOUT] = sizeof(uint8_t),
};

static int
option_set_locked(struct soft_id *id, int name, const void *value) REQUIRES(soft_locks.cm)
{
	switch (name) {
	case RDMA_OPTION_ID_REUSEADDR:
		return option_set_reuse_address(id, value);
	case RDMA_OPTION_ID_AFONLY:
		return option_set_family_only(id, value);
	case RDMA_OPTION_ID_ACK_TIMEOUT:
		return option_set_ack_timeout(id, value);
	default:
		return 0; /* there are no classes of service */
	}
}

static int
option_set(struct soft_id *id, int name, const void *value, size_t length) SOFT_NO_CM_LOCK
{
	int r;

	if (name < 0 || (size_t)name >= sizeof lengths / sizeof lengths[0])
		return -ENOSYS;
	if (length != lengths[name])
		return -EINVAL;
	soft_cm_lock();
	r = option_set_locked(id, name, value);
	soft_cm_unlock();
	return r;
}

/* The path for messages of the connection manager and for data, or NULL. */
static const struct ibv_path_data *
option_find_path(const struct ibv_path_data *paths, size_t count)
{
	const uint32_t wanted =
	    IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL;

	for (size_t i = 0; i < count; i++)
		if (paths[i].flags == wanted)
			return &paths[i];
	return NULL;
}

/* A path stands for the resolution of the route, and so has its event. */
static int
option_set_path(
    struct soft_id *id, const struct ibv_path_data *paths, size_t length) SOFT_NO_CM_LOCK
{
	const struct ibv_path_data *given = option_find_path(paths, length / sizeof *paths);

	if (length % sizeof *paths || !given)
		return -EINVAL;
	return soft_path_resolve(id, soft_path_copy(id, given));
}

int
soft_rdma_set_option(
    struct rdma_cm_id *public, int level, int name, void *value, size_t length) SOFT_NO_CM_LOCK
{
	SOFT_UNCANCELLED;
	struct soft_id *id = soft_id_of(public);

	if (soft_id_refuses(id))
		return -1;
	if (!value && length)
		return soft_cm_result(EFAULT);
	if (level == RDMA_OPTION_ID)
		return soft_cm_result(option_set(id, name, value, length));
	if (level == RDMA_OPTION_IB && name == RDMA_OPTION_IB_PATH)
		return soft_cm_result(option_set_path(id, value, length));
	return soft_cm_result(ENOSYS);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/ep/ah.h"

#include <errno.h>
#include <string.h>

#include "evd/os.h"

#define ADDRESS_SHIFT 6 /* allocated memory differs from there on */

struct dapl_ah *
dapl_ah_create(struct ibv_pd *pd, struct ibv_ah_attr *attr, uint32_t qpn, uint32_t qkey,
    const struct sockaddr *peer)
{
	struct dapl_ah *ah = os_alloc(1, sizeof *ah);

	if (!ah) {
		errno = ENOMEM;
		return NULL;
	}
	errno = 0;
	ah->ibv = ibv_create_ah(pd, attr);
	if (!ah->ibv) {
		if (!errno)
			errno = ENOMEM;
		os_free(ah);
		return NULL;
	}
	ah->next = NULL;
	ah->qkey = qkey;
	ah->size = 0;
	ah->public = (DAT_IB_ADDR_HANDLE){ .ah = ah->ibv, .qpn = qpn };
	memcpy(&ah->public.ia_addr, peer,
	    peer->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof ah->public.ia_addr);
	return ah;
}

void
dapl_ah_free(struct dapl_ah *ah)
{
	(void)ibv_destroy_ah(ah->ibv);
	os_free(ah);
}

static unsigned int
ah_bucket(const struct ibv_ah *ibv)
{
	return (unsigned int)((uintptr_t)ibv >> ADDRESS_SHIFT) % DAPL_AH_BUCKETS;
}

void
dapl_ah_add(struct dapl_ah_list *list, struct dapl_ah *ah)
{
	struct dapl_ah **bucket = &list->buckets[ah_bucket(ah->ibv)];

	ah->next = *bucket;
	*bucket = ah;
}

struct dapl_ah *
dapl_ah_find(const struct dapl_ah_list *list, const struct ibv_ah *ibv)
{
	struct dapl_ah *ah = list->buckets[ah_bucket(ibv)];

	while (ah && ah->ibv != ibv)
		ah = ah->next;
	return ah;
}

struct dapl_ah *
dapl_ah_remove(struct dapl_ah_list *list, const struct ibv_ah *ibv)
{
	struct dapl_ah **at = &list->buckets[ah_bucket(ibv)], *ah;

	while (*at && (*at)->ibv != ibv)
		at = &(*at)->next;
	ah = *at;
	if (ah)
		*at = ah->next;
	return ah;
}

void
dapl_ah_move(struct dapl_ah_list *list, struct dapl_ah_list *to)
{
	*to = *list;
	memset(list, 0, sizeof *list);
}

void
dapl_ah_free_all(struct dapl_ah_list *list)
{
	struct dapl_ah *ah, *next;

	for (int i = 0; i < DAPL_AH_BUCKETS; i++)
		for (ah = list->buckets[i]; ah; ah = next) {
			next = ah->next;
			dapl_ah_free(ah);
		}
}

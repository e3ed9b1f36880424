/* SPDX-License-Identifier: BSD-3-Clause */
/* The rates of links, as numbers. */
#include "softverbs/device/cancel.h"
#include "softverbs/device/device.h"

#include <infiniband/verbs.h>

/* The multiples of 2.5 Gbit/s, and Mbit/s; a multiple of 0 has no number. */
static const struct {
	enum ibv_rate rate;
	int multiple, mbps;
} rates[] = {
	{ IBV_RATE_2_5_GBPS, 1, 2500 },
	{ IBV_RATE_5_GBPS, 2, 5000 },
	{ IBV_RATE_10_GBPS, 4, 10000 },
	{ IBV_RATE_14_GBPS, 0, 14062 },
	{ IBV_RATE_20_GBPS, 8, 20000 },
	{ IBV_RATE_25_GBPS, 0, 25781 },
	{ IBV_RATE_28_GBPS, 11, 28125 },
	{ IBV_RATE_30_GBPS, 12, 30000 },
	{ IBV_RATE_40_GBPS, 16, 40000 },
	{ IBV_RATE_50_GBPS, 20, 53125 },
	{ IBV_RATE_56_GBPS, 0, 56250 },
	{ IBV_RATE_60_GBPS, 24, 60000 },
	{ IBV_RATE_80_GBPS, 32, 80000 },
	{ IBV_RATE_100_GBPS, 0, 103125 },
	{ IBV_RATE_112_GBPS, 0, 112500 },
	{ IBV_RATE_120_GBPS, 48, 120000 },
	{ IBV_RATE_168_GBPS, 0, 168750 },
	{ IBV_RATE_200_GBPS, 0, 206250 },
	{ IBV_RATE_300_GBPS, 0, 309375 },
	{ IBV_RATE_400_GBPS, 160, 425000 },
	{ IBV_RATE_600_GBPS, 240, 637500 },
	{ IBV_RATE_800_GBPS, 320, 850000 },
	{ IBV_RATE_1200_GBPS, 480, 1275000 },
};

#define RATES (sizeof rates / sizeof *rates)

int
ibv_rate_to_mult(enum ibv_rate rate)
{
	for (size_t i = 0; i < RATES; i++)
		if (rates[i].rate == rate && rates[i].multiple)
			return rates[i].multiple;
	return -1;
}

enum ibv_rate
mult_to_ibv_rate(int multiple)
{
	for (size_t i = 0; i < RATES; i++)
		if (rates[i].multiple == multiple && multiple)
			return rates[i].rate;
	return IBV_RATE_MAX;
}

int
ibv_rate_to_mbps(enum ibv_rate rate)
{
	for (size_t i = 0; i < RATES; i++)
		if (rates[i].rate == rate)
			return rates[i].mbps;
	return -1;
}

enum ibv_rate
mbps_to_ibv_rate(int mbps)
{
	for (size_t i = 0; i < RATES; i++)
		if (rates[i].mbps == mbps)
			return rates[i].rate;
	return IBV_RATE_MAX;
}

/* Of libibverbs 1.16, in units of 100 Mbit/s. */
int soft_ibv_query_port_speed(struct ibv_context *context, uint32_t port_num, uint64_t *port_speed);

int
soft_ibv_query_port_speed(struct ibv_context *context, uint32_t port_num, uint64_t *port_speed)
{
	SOFT_UNCANCELLED;
	struct ibv_port_attr port;
	const int r = port_num > UINT8_MAX ?
			  EINVAL :
			  soft_port_query(context, (uint8_t)port_num, &port, sizeof port);

	if (r)
		return r;
	*port_speed = soft_port_speed(&port);
	return 0;
}

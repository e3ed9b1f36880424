/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * route -- which port an address is at, and which one an address vector leads to
 */
#include "story.h"

#include <arpa/inet.h>
#include <sys/un.h>

#include "softverbs/device/topology.h"
#include "softverbs/soft_arm.h"

/* Ports 1 and 2, 5, and 9. */
#define TEXT \
	"a/1 addr=10.0.0.1,fd00::1 lid=11; a/2 addr=10.0.0.2 lid=12 state=init; " \
	"b/1 link=ethernet addr=10.0.1.1,fd00::b; c/1 lid=14 addr=10.0.2.1"

static struct soft_topology topology;
static char line[512];

static void
hear(const char *text)
{
	snprintf(line, sizeof line, "%s", text);
}

static const struct sockaddr *
address_of(const char *text)
{
	static struct sockaddr_storage storage;
	struct sockaddr_in *in = (void *)&storage;
	struct sockaddr_in6 *in6 = (void *)&storage;
	const char *scope = strchr(text, '%');
	char host[64];

	memset(&storage, 0, sizeof storage);
	snprintf(host, sizeof host, "%.*s", (int)strcspn(text, "%"), text);
	if (inet_pton(AF_INET, host, &in->sin_addr) == 1)
		storage.ss_family = AF_INET;
	else if (inet_pton(AF_INET6, host, &in6->sin6_addr) == 1)
		storage.ss_family = AF_INET6;
	else
		storage.ss_family = AF_UNIX;
	if (scope)
		in6->sin6_scope_id = (uint32_t)atoi(scope + 1);
	return (const struct sockaddr *)&storage;
}

static const struct {
	const char *text, *address;
	unsigned int port; /* 0: it is at none */
	bool shared;	   /* it chooses no device */
} places[] = {
	{ TEXT, "10.0.0.1", 1, false },
	{ TEXT, "::ffff:10.0.0.1", 1, false },
	{ TEXT, "fd00::1", 1, false },
	{ TEXT, "10.0.0.2", 2, false },
	{ TEXT, "10.0.1.1", 5, false },
	{ TEXT, "fd00::b", 5, false },
	{ TEXT, "10.0.2.1", 9, false },
	{ TEXT, "10.0.2.2", 0, false },
	{ TEXT, "110.0.2.1", 0, false },
	{ TEXT, "fd00::", 0, false },
	{ TEXT, "::10.0.0.1", 0, false },
	{ TEXT, "127.0.0.1", 1, true },
	{ TEXT, "::1", 1, true },
	{ TEXT, "127.0.0.2", 0, false },
	{ TEXT, "::2", 0, false },
	{ TEXT, "/a", 0, false },
	{ TEXT "; a/1 state=down", "127.0.0.1", 5, true },
	{ TEXT "; */* state=down", "127.0.0.1", 0, false },
	{ TEXT "; c/1 addr=any", "10.9.9.9", 9, false },
	{ TEXT "; c/1 addr=any", "fd00::99", 9, false },
	{ TEXT "; c/1 addr=any", "127.0.0.1", 9, false },
	{ TEXT "; c/1 addr=any", "10.0.0.1", 1, false },
	{ TEXT "; a/1 addr=any", "127.0.0.1", 1, false },
	{ TEXT "; c/1 addr=127.0.0.1", "127.0.0.1", 9, false },
	{ TEXT "; c/1 addr=127.0.0.1", "::1", 1, true },
	{ TEXT "; a/1 addr=::1", "::1", 1, false },
	{ "a/1 addr=10.0.0.1", "127.0.0.1", 1, false },
	{ "a/1 addr=fe80::77%lo", "fe80::77%1", 1, false },
	{ "a/1 addr=fe80::77%lo", "fe80::77%2", 0, false },
	{ "a/1 addr=fd00::1", "fd00::1%3", 1, false },
};

CASE("soft-route:route");

/* origin: out33.U5 */
TEST(address__is_at_the_port_that_has_it__or_of_all_devices)
{
	const struct soft_device_port *port;
	struct soft_ip ip;
	char error[256];

	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		ck_assert_msg(soft_topology_read(places[i].text, &topology, error, sizeof error),
		    "%s", error);
		ck_assert_int_eq(
		    soft_ip_of(address_of(places[i].address), &ip), places[i].address[0] != '/');
		port = soft_topology_find(&topology, &ip);
		ck_assert_msg((port ? port->number : 0) == places[i].port, "%s: %s: %d",
		    places[i].text, places[i].address, port ? port->number : 0);
		ck_assert_msg(soft_topology_is_of_all(&topology, &ip) == places[i].shared, "%s: %s",
		    places[i].text, places[i].address);
	}
}

static void
topology_is(const char *text)
{
	setenv("SOFTVERBS_TOPOLOGY", text, 1);
	ck_assert_uint_gt(soft_topology()->count, 0);
}

/* origin: out33.U5 */
TEST(number__of_a_port__is_that_port_or_none)
{
	topology_is("a/1 addr=10.0.0.1; b ports=4; c ports=2");
	for (unsigned int number = 0; number < 200; number++) {
		const struct soft_device_port *port = soft_topology_port(number);
		const bool there =
		    number == 1 || (number >= 5 && number <= 8) || number == 9 || number == 10;

		ck_assert_int_eq(port != NULL, there);
		if (port)
			ck_assert_uint_eq(port->number, number);
	}
	ck_assert_ptr_null(soft_topology_port(UINT32_MAX));
	ck_assert_ptr_null(soft_topology_find_ip(address_of("/a")));
	ck_assert(!soft_topology_shares_ip(address_of("/a")));
	ck_assert(soft_topology_shares_ip(address_of("127.0.0.1")));
	ck_assert(!soft_topology_shares_ip(address_of("127.0.0.99")));
}

/* From, and by the LID, or by the first GID of that port; 0: it leads nowhere. */
static const struct {
	unsigned int from, lid, gid_of, to;
} ways[] = {
	{ 1, 11, 0, 1 },
	{ 1, 14, 0, 9 },
	{ 9, 11, 0, 1 },
	{ 1, 12, 0, 0 }, /* it is not active */
	{ 2, 11, 0, 0 },
	{ 1, 13, 0, 0 },
	{ 1, 0, 0, 0 },
	{ 5, 0, 0, 0 },
	{ 5, 11, 0, 0 },
	{ 1, 0, 1, 1 },
	{ 1, 0, 9, 9 },
	{ 1, 14, 1, 1 },
	{ 1, 0, 2, 0 },
	{ 1, 0, 5, 0 }, /* Ethernet */
	{ 5, 0, 5, 5 },
	{ 5, 0, 1, 0 },
};

/* origin: out33.U5 */
TEST(address_vector__leads_to_an_active_port_of_its_link_layer)
{
	topology_is(TEXT);
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		struct ibv_ah_attr attr = { .dlid = (uint16_t)ways[i].lid,
			.is_global = ways[i].gid_of != 0 };
		unsigned int to;

		if (attr.is_global)
			attr.grh.dgid = soft_device_port_gid(soft_topology_port(ways[i].gid_of), 0);
		to = soft_topology_route(soft_topology_port(ways[i].from), &attr);
		ck_assert_msg(
		    to == (ways[i].to ? ways[i].to : SOFT_PORT_NOWHERE), "%zu: %u", i, to);
	}
	/* What is behind the GIDs of a port is none of them. */
	for (unsigned int from = 1; from <= 5; from += 4)
		ck_assert_uint_eq(soft_topology_route(soft_topology_port(from),
				      &(struct ibv_ah_attr){ .is_global = 1 }),
		    SOFT_PORT_NOWHERE);
}

/* origin: out33.U5 */
TEST(gid__of_an_address__has_its_index)
{
	const struct soft_device_port *port;
	struct sockaddr_storage source;
	struct ibv_ah_attr attr;

	topology_is(TEXT);
	port = soft_topology_port(1);
	ck_assert_uint_eq(soft_device_port_gid_index(port, address_of("10.0.0.1")), 1);
	ck_assert_uint_eq(soft_device_port_gid_index(port, address_of("fd00::1")), 2);
	ck_assert_uint_eq(soft_device_port_gid_index(port, address_of("10.0.0.2")), 0);
	ck_assert_uint_eq(soft_device_port_gid_index(port, address_of("/a")), 0);
	memcpy(&source, address_of("10.0.0.1"), sizeof source);
	attr = soft_topology_address(
	    port, soft_topology_port(9), (const struct sockaddr *)&source, address_of("10.0.2.1"));
	ck_assert_uint_eq(attr.dlid, 14);
	ck_assert_uint_eq(attr.port_num, 1);
	ck_assert_int_eq(attr.is_global, 0);
	port = soft_topology_port(5);
	memcpy(&source, address_of("10.0.1.1"), sizeof source);
	attr = soft_topology_address(
	    port, port, (const struct sockaddr *)&source, address_of("fd00::b"));
	ck_assert_int_eq(attr.is_global, 1);
	ck_assert_uint_eq(attr.grh.hop_limit, 64);
	ck_assert_uint_eq(attr.grh.sgid_index,
	    soft_device_port_gid_index(port, (const struct sockaddr *)&source));
	ck_assert_uint_ne(attr.grh.sgid_index, 0);
	ck_assert_int_eq(
	    memcmp(&attr.grh.dgid,
		&((const struct sockaddr_in6 *)(const void *)address_of("fd00::b"))->sin6_addr, 16),
	    0);
}

/* Lanes of 2.5 Gbit/s for SDR up to 200 for XDR. */
/* origin: out33.U5 */
TEST(speed__is_that_of_the_lanes_of_the_width)
{
	static const unsigned int lanes[] = { 1, 4, 8, 12, 2 },
				  speeds[] = { 25, 50, 100, 100, 140, 250, 500, 1000, 2000 };

	for (unsigned int width = 0; width < 64; width++)
		for (unsigned int speed = 0; speed < 10; speed++) {
			const struct ibv_port_attr attr = { .active_width = (uint8_t)width,
				.active_speed = (uint8_t)(1u << speed) };
			unsigned int want = 0;

			for (unsigned int i = 0; i < 5; i++)
				if (width == 1u << i && attr.active_speed)
					want = lanes[i] * speeds[speed];
			ck_assert_uint_eq(soft_port_speed(&attr), want);
		}
}

/* origin: out33.U5 */
TEST_LOOP(text__of_the_environment__is_the_topology_or_none, 4)
{
	static const char *const texts[] = { "", "default", "2x2", "frob" };

	soft_complain_to(hear);
	setenv("SOFTVERBS_TOPOLOGY", texts[_i], 1);
	ck_assert_int_eq(soft_topology()->plain, _i < 2);
	ck_assert_uint_eq(soft_topology()->count, _i < 2 ? 1 : _i == 2 ? 2 : 1);
	ck_assert_str_eq(line, "");
}

TEST(text__of_the_environment_that_is_wrong__is_no_device)
{
	soft_complain_to(hear);
	setenv("SOFTVERBS_TOPOLOGY", "a mtu=3", 1);
	ck_assert_uint_eq(soft_topology()->count, 0);
	ck_assert_str_eq(line, "SOFTVERBS_TOPOLOGY: a: mtu: neither \"ports\" nor a field of "
			       "ibv_device_attr");
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * topology_text -- the numbers, words and names that a text of a topology may have
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/runner.h"
#include "softverbs/device/topology.h"

static struct soft_topology topology;
static char error[256];

static bool
reads(const char *text)
{
	return soft_topology_read(text, &topology, error, sizeof error);
}

static const struct {
	const char *key;
	uint64_t least, most;
} numbers[] = {
	{ " max_mr_size", 1, 1ull << 46 },
	{ " page_size_cap", 0x1000, UINT64_MAX },
	{ " vendor_id", 0, 0xffffff },
	{ " vendor_part_id", 0, UINT32_MAX },
	{ " hw_ver", 0, UINT32_MAX },
	{ " max_qp", 0, 16384 },
	{ " max_qp_wr", 1, 32768 },
	{ " max_sge", 1, 32 },
	{ " max_sge_rd", 1, 32 },
	{ " max_cq", 0, 65536 },
	{ " max_cqe", 1, 1048576 },
	{ " max_mr", 0, 1048576 },
	{ " max_pd", 0, 32768 },
	{ " max_qp_rd_atom", 0, 128 },
	{ " max_ee_rd_atom", 0, 0 },
	{ " max_res_rd_atom", 0, 2097152 },
	{ " max_qp_init_rd_atom", 0, 128 },
	{ " max_ee_init_rd_atom", 0, 0 },
	{ " max_ee", 0, 0 },
	{ " max_rdd", 0, 0 },
	{ " max_mw", 0, 1048576 },
	{ " max_raw_ipv6_qp", 0, 0 },
	{ " max_raw_ethy_qp", 0, 0 },
	{ " max_mcast_grp", 0, 0 },
	{ " max_mcast_qp_attach", 0, 0 },
	{ " max_total_mcast_qp_attach", 0, 0 },
	{ " max_ah", 0, 1048576 },
	{ " max_fmr", 0, 0 },
	{ " max_map_per_fmr", 0, 0 },
	{ " max_srq", 0, 8192 },
	{ " max_srq_wr", 1, 32768 },
	{ " max_srq_sge", 1, 32 },
	{ " max_pkeys", 1, 1 },
	{ " local_ca_ack_delay", 0, 31 },
	{ "/1 lid", 1, 0xbfff },
	{ "/1 sm_lid", 1, 0xbfff },
	{ " ports", 1, 4 },
};

CASE("soft-topology-text:text");

/* origin: out33.U5 */
TEST(number__from_the_least_to_the_most__and_none_beyond)
{
	char text[128], want[128];

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		const char *key = numbers[i].key;
		const uint64_t most = numbers[i].most, least = numbers[i].least;

		snprintf(text, sizeof text, "a%s=%" PRIu64, key, least);
		ck_assert_msg(reads(text), "%s", error);
		snprintf(text, sizeof text, "a%s=0x%" PRIx64, key, most);
		ck_assert_msg(reads(text), "%s", error);
		snprintf(text, sizeof text, "a%s=%" PRIu64 "%s", key, most + (most < UINT64_MAX),
		    most < UINT64_MAX ? "" : "0");
		ck_assert(!reads(text));
		snprintf(want, sizeof want, ": not a whole number from %" PRIu64 " to %" PRIu64,
		    least, most);
		ck_assert_msg(strstr(error, want) != NULL, "%s", error);
		if (!least)
			continue;
		snprintf(text, sizeof text, "a%s=%" PRIu64, key, least - 1);
		ck_assert(!reads(text));
	}
}

/* state, phys_state, active_width, active_speed, max_mtu, active_mtu, link_layer */
static const struct {
	const char *text, *port;
} words[] = {
	{ "state=active", "4 5 2 32 5 5 1" },
	{ "state=down", "1 2 2 32 5 5 1" },
	{ "state=init", "2 5 2 32 5 5 1" },
	{ "state=armed", "3 5 2 32 5 5 1" },
	{ "width=1x", "4 5 1 32 5 5 1" },
	{ "width=2x", "4 5 16 32 5 5 1" },
	{ "width=4x", "4 5 2 32 5 5 1" },
	{ "width=8x", "4 5 4 32 5 5 1" },
	{ "width=12x", "4 5 8 32 5 5 1" },
	{ "speed=sdr", "4 5 2 1 5 5 1" },
	{ "speed=ddr", "4 5 2 2 5 5 1" },
	{ "speed=qdr", "4 5 2 4 5 5 1" },
	{ "speed=fdr10", "4 5 2 8 5 5 1" },
	{ "speed=fdr", "4 5 2 16 5 5 1" },
	{ "speed=edr", "4 5 2 32 5 5 1" },
	{ "speed=hdr", "4 5 2 64 5 5 1" },
	{ "speed=ndr", "4 5 2 128 5 5 1" },
	{ "mtu=256", "4 5 2 32 5 1 1" },
	{ "mtu=512", "4 5 2 32 5 2 1" },
	{ "mtu=1024", "4 5 2 32 5 3 1" },
	{ "mtu=2048", "4 5 2 32 5 4 1" },
	{ "max_mtu=1024", "4 5 2 32 3 3 1" },
	{ "link=ethernet", "4 5 2 32 5 5 2" },
	{ "link=infiniband", "4 5 2 32 5 5 1" },
};

/* origin: out33.U5 */
TEST(word__of_a_port__is_this_value_and_changes_no_other)
{
	const struct ibv_port_attr *port = &topology.devices[0].ports[1].attr;
	char text[64], found[64];

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		snprintf(text, sizeof text, "a ports=2; a/2 %s", words[i].text);
		ck_assert_msg(reads(text), "%s", error);
		snprintf(found, sizeof found, "%d %u %u %u %d %d %u", port->state, port->phys_state,
		    port->active_width, port->active_speed, port->max_mtu, port->active_mtu,
		    port->link_layer);
		ck_assert_msg(!strcmp(found, words[i].port), "%s: %s", words[i].text, found);
	}
}

/* origin: out33.U5 */
TEST(name__of_up_to_31_letters_digits_and_marks__and_no_other)
{
	static const char *const good[] = { "a", "Z9_-.", "mlx5_0",
		"a234567890123456789012345678901" };
	static const char *const bad[] = { "_a", ".", "a+b", "a\xc3\xa4",
		"a2345678901234567890123456789012", "a23456789012345678901234567890123",
		"a234567890123456789012345678901234567890123456789012345678901234567890" };

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		ck_assert_msg(reads(good[i]), "%s", error);
		ck_assert_str_eq(topology.devices[0].name, good[i]);
		ck_assert_uint_eq(topology.count, 1);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ck_assert_msg(!reads(bad[i]), "%s", bad[i]);
}

/* origin: out33.U5 */
TEST(text__as_long_as_there_is_room_for__and_longer)
{
	static const size_t lengths[] = { 65535, 65536, 65537, 100000 };
	static char text[100001];

	for (int i = 0; i < 4; i++) {
		memset(text, ' ', lengths[i]);
		text[lengths[i]] = '\0';
		text[0] = '2';
		ck_assert_int_eq(reads(text), lengths[i] < 65536);
		if (lengths[i] < 65536)
			ck_assert_uint_eq(topology.count, 2);
		else
			ck_assert_str_eq(error, "no text of less than 64 KiB");
	}
}

/* origin: out33.U5 */
TEST(number__in_each_form__is_decimal_or_hexadecimal)
{
	static const struct {
		const char *text;
		int value; /* -1: it is none */
	} forms[] = {
		{ "7", 7 },
		{ "007", 7 },
		{ "010", 10 },
		{ "08", 8 },
		{ "0x1F", 31 },
		{ "0X1f", 31 },
		{ "0x07", 7 },
		{ "0", 0 },
		{ "0x", -1 },
		{ "0xg", -1 },
		{ "0b1", -1 },
		{ "1x", -1 },
		{ "+1", -1 },
		{ "1f", -1 },
		{ "18446744073709551617", -1 },
		{ "0x10000000000000001", -1 },
	};
	char text[64];

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		snprintf(text, sizeof text, "a max_qp=%s", forms[i].text);
		ck_assert_msg(reads(text) == (forms[i].value >= 0), "%s", text);
		if (forms[i].value >= 0)
			ck_assert_int_eq(topology.devices[0].attr.max_qp, forms[i].value);
	}
}

/* origin: out33.U5 */
TEST_LOOP(devices_addresses_and_gids__sixteen_and_no_more, 3)
{
	static const char *const ones[] = { "d%d/1 mtu=256;", "10.0.0.%d,", "::%x," };
	static const char *const errors[] = { "more than 16 devices", "a/1: more than 16 addresses",
		"a/1: more than 16 GIDs" };
	char text[1024] = "";

	if (_i)
		strcpy(text, _i == 1 ? "a/1 link=ethernet addr=" : "a/1 gid=");
	for (int i = 1; i <= 17; i++) {
		sprintf(text + strlen(text), ones[_i], i);
		if (_i)
			text[strlen(text) - 1] = '\0';
		ck_assert_msg(reads(text) == (i <= 16), "%s: %s", text, error);
		strcat(text, _i ? "," : "");
	}
	ck_assert_msg(strstr(error, errors[_i]), "%s", error);
}

/* origin: out33.U5 */
TEST(address__with_a_scope_and_from_an_interface)
{
	const struct soft_device_port *port = &topology.devices[0].ports[0];
	char text[512];

	ck_assert_msg(reads("a/1 addr=fe80::77%lo,10.0.0.1"), "%s", error);
	ck_assert_uint_eq(port->ip_count, 2);
	ck_assert_uint_eq(port->ips[0].scope, 1);
	ck_assert_uint_eq(port->ips[0].bytes[15], 0x77);
	ck_assert_uint_eq(port->ips[1].scope, 0);
	ck_assert_uint_eq(port->ips[1].bytes[11], 0xff);
	ck_assert_uint_eq(port->ips[1].bytes[12], 10);
	ck_assert(!reads("a/1 addr=fe80::77%nosuch"));
	ck_assert(!reads("a/1 addr=10.0.0.1%lo"));
	snprintf(text, sizeof text, "a/1 addr=fe80::77%%%0200d", 1);
	ck_assert(!reads(text));
	ck_assert_msg(reads("a/1 if=lo"), "%s", error);
	ck_assert_uint_ge(port->ip_count, 1);
	ck_assert_uint_eq(port->ips[0].bytes[12], 127);
	ck_assert(!reads("a/1 if=nosuch"));
}

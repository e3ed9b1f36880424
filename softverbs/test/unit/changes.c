/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * changes -- what incidents change of links, of ports and of devices, apart from what that does to
 * messages
 */
#include "story.h"

#include "softverbs/device/changes.h"
#include "softverbs/device/slot.h"

#include <endian.h>

/* Of two devices with two ports: soft0/1, soft0/2, soft1/1, soft1/2. */
#define PORTS ((soft_ports)0x33)
#define ALL 127u /* troubles */
#define SECOND ((uint64_t)SOFT_SECOND)

static const struct soft_device_port *
port_of(unsigned int device, unsigned int port)
{
	return &soft_topology()->devices[device].ports[port - 1];
}

static void
topology_is(const char *text)
{
	setenv("SOFTVERBS_TOPOLOGY", text, 1);
	ck_assert_uint_gt(soft_topology()->count, 0);
}

CASE("soft-changes:changes");

/* ---- links ---- */

/* origin: out33.U8 */
TEST(troubles__several_reasons_of_each__end_with_the_last)
{
	for (unsigned int of = SOFT_TROUBLE_RNR; of <= SOFT_TROUBLE_MOVED; of *= 2) {
		soft_trouble_begin(of);
		soft_trouble_begin(of);
		ck_assert_uint_eq(soft_troubles(ALL), of);
		ck_assert_uint_eq(soft_troubles(ALL & ~of), 0);
		soft_trouble_end(of);
		ck_assert_uint_eq(soft_troubles(ALL), of);
		soft_trouble_end(of);
		ck_assert_uint_eq(soft_troubles(ALL), 0);
		soft_trouble_end(of); /* of one that there is not */
		soft_trouble_begin(of);
		ck_assert_uint_eq(soft_troubles(ALL), of);
		soft_trouble_end(of);
		ck_assert_uint_eq(soft_troubles(ALL), 0);
	}
	soft_trouble_begin(SOFT_TROUBLE_SLOW);
	ck_assert_uint_eq(soft_troubles(ALL), SOFT_TROUBLE_SLOW);
	soft_trouble_end(SOFT_TROUBLE_DELAY);
	ck_assert_uint_eq(soft_troubles(ALL), SOFT_TROUBLE_RATE);
}

/* Which of the ways are cut to the slot: OUT is 2, and IN is 4. */
static unsigned int
cut_to(unsigned int slot)
{
	return (soft_is_cut(SOFT_TROUBLE_OUT, slot) ? SOFT_TROUBLE_OUT : 0) |
	       (soft_is_cut(SOFT_TROUBLE_IN, slot) ? SOFT_TROUBLE_IN : 0);
}

/* A process is not cut off from itself; it has the slot 0 here. */
/* origin: out33.U8 */
TEST(cuts__of_each_way__to_one_process_or_to_all)
{
	for (unsigned int ways = SOFT_TROUBLE_OUT; ways <= SOFT_TROUBLE_CUT; ways += 2) {
		soft_cut_begin(ways, 0);
		soft_cut_begin(ways, 0);
		ck_assert_uint_eq(cut_to(1), ways);
		ck_assert_uint_eq(cut_to(SOFT_SLOT_MAX), ways);
		ck_assert_uint_eq(cut_to(SOFT_SLOT_MAX + 1), 0);
		ck_assert_uint_eq(cut_to(soft_slot_number()), 0);
		soft_cut_end(ways, 0);
		ck_assert_uint_eq(cut_to(1), ways);
		soft_cut_end(ways, 0);
		ck_assert_uint_eq(cut_to(1), 0);

		soft_cut_begin(ways, SOFT_SLOT_MAX);
		soft_cut_begin(ways, SOFT_SLOT_MAX);
		soft_cut_begin(ways, 1);
		ck_assert_uint_eq(cut_to(1), ways);
		ck_assert_uint_eq(cut_to(2), 0);
		soft_cut_end(ways, 1);
		ck_assert_uint_eq(cut_to(1), 0);
		ck_assert_uint_eq(soft_troubles(ALL), ways);
		ck_assert_uint_eq(cut_to(SOFT_SLOT_MAX), ways);
		soft_cut_end(ways, SOFT_SLOT_MAX); /* these are not counted */
		ck_assert_uint_eq(cut_to(SOFT_SLOT_MAX), 0);
		ck_assert_uint_eq(soft_troubles(ALL), 0);
	}
	/* One way of both, and a cut of one beside that of all. */
	soft_cut_begin(SOFT_TROUBLE_CUT, 7);
	soft_cut_end(SOFT_TROUBLE_OUT, 7);
	ck_assert_uint_eq(cut_to(7), SOFT_TROUBLE_IN);
	soft_cut_begin(SOFT_TROUBLE_OUT, 0);
	ck_assert_uint_eq(cut_to(7), SOFT_TROUBLE_CUT);
	ck_assert_uint_eq(cut_to(8), SOFT_TROUBLE_OUT);
}

/* origin: out33.U8 */
TEST(heal__ends_what_links_have__and_nothing_of_ports)
{
	topology_is("2x2");
	for (int i = 0; i < 2; i++) {
		soft_trouble_begin(SOFT_TROUBLE_RNR | SOFT_TROUBLE_SLOW | SOFT_TROUBLE_MOVED);
		soft_cut_begin(SOFT_TROUBLE_CUT, 0);
	}
	soft_cut_begin(SOFT_TROUBLE_CUT, 1);
	soft_cut_begin(SOFT_TROUBLE_IN, SOFT_SLOT_MAX);
	soft_ports_set_down(1, true);
	ck_assert_uint_eq(soft_troubles(ALL), ALL);
	soft_links_heal();
	ck_assert_uint_eq(soft_troubles(ALL), SOFT_TROUBLE_DOWN | SOFT_TROUBLE_MOVED);
	ck_assert_uint_eq(cut_to(1), 0);
	ck_assert_uint_eq(cut_to(SOFT_SLOT_MAX), 0);
	soft_ports_set_down(1, false);
	soft_trouble_end(SOFT_TROUBLE_MOVED);
	ck_assert_uint_eq(soft_troubles(ALL), SOFT_TROUBLE_MOVED);
}

/* So much later than now, and than what a call before has taken. */
static void
expect_due(uint64_t length, uint64_t from, uint64_t later)
{
	const uint64_t before = soft_now(), due = soft_slow_due(length), after = soft_now();

	ck_assert_uint_ge(due, (from ? from : before) + later);
	ck_assert_uint_le(due, (from ? from : after) + later);
}

/* origin: out33.U8 */
TEST(message__takes_the_time_of_its_bytes_one_after_the_other__and_the_delay)
{
	uint64_t first;

	soft_delay_set(5 * SECOND);
	soft_rate_set(1000);
	expect_due(3000, 0, 0);
	soft_trouble_begin(SOFT_TROUBLE_DELAY);
	expect_due(3000, 0, 5 * SECOND);
	expect_due(3000, 0, 5 * SECOND);
	soft_trouble_begin(SOFT_TROUBLE_RATE);
	expect_due(3000, 0, 8 * SECOND);
	first = soft_slow_due(0);
	expect_due(500, first, SECOND / 2);
	expect_due(1, first, SECOND / 2 + SECOND / 1000);
	soft_trouble_end(SOFT_TROUBLE_DELAY);
	expect_due(0, first, SECOND / 2 + SECOND / 1000 - 5 * SECOND);
	/* No rate: none is kept that was set before. */
	soft_rate_set(0);
	expect_due(3000, 0, 0);
}

/* ---- ports ---- */

/* origin: out38.A1 */
TEST(ports__of_a_device_and_a_number__are_these)
{
	topology_is("2x2; soft1/* link=ethernet");
	ck_assert_uint_eq(soft_ports_of("", 0), PORTS);
	ck_assert_uint_eq(soft_ports_of("", 1), 0x11);
	ck_assert_uint_eq(soft_ports_of("", 2), 0x22);
	ck_assert_uint_eq(soft_ports_of("", 3), 0);
	ck_assert_uint_eq(soft_ports_of("soft0", 0), 0x03);
	ck_assert_uint_eq(soft_ports_of("soft1", 0), 0x30);
	ck_assert_uint_eq(soft_ports_of("soft1", 2), 0x20);
	ck_assert_uint_eq(soft_ports_of("soft2", 0), 0);
	ck_assert_uint_eq(soft_ports_of("soft", 0), 0);
	ck_assert_uint_eq(soft_ports_managed(PORTS), 0x03);
	ck_assert_uint_eq(soft_ports_managed(0x21), 0x01);
	ck_assert_uint_eq(soft_ports_managed(~(soft_ports)0), 0x03);
}

/* origin: out38.A1 */
TEST(port__that_is_down__says_so_and_no_other)
{
	topology_is("2x2");
	soft_ports_set_down(0x21, true);
	soft_ports_set_down(0x10, true);
	ck_assert_uint_eq(soft_troubles(ALL), SOFT_TROUBLE_DOWN);
	for (unsigned int i = 0; i < 4; i++) {
		const struct soft_device_port *port = port_of(i / 2, i % 2 + 1);
		const struct ibv_port_attr attr = soft_port_now(port);

		ck_assert_int_eq(soft_port_is_down(port), i != 1);
		ck_assert_int_eq(attr.state, i != 1 ? IBV_PORT_DOWN : IBV_PORT_ACTIVE);
		ck_assert_int_eq(attr.phys_state, i != 1 ? 2 : 5);
		ck_assert_int_eq(attr.max_mtu, IBV_MTU_4096);
	}
	soft_ports_set_down(0x11, false);
	ck_assert_uint_eq(soft_troubles(ALL), SOFT_TROUBLE_DOWN);
	ck_assert(soft_port_is_down(port_of(1, 2)));
	soft_ports_set_down(0x20, false);
	ck_assert_uint_eq(soft_troubles(ALL), 0);
}

/* The next one that no port has, from 1 again after the last one; Ethernet has none. */
/* origin: out38.A1 */
TEST(lid__that_changes__is_one_that_no_port_has)
{
	topology_is("2x2; soft0/1 lid=49151; soft0/2 lid=49150; soft1/2 link=ethernet; "
		    "soft1/1 lid=1");
	soft_trouble_begin(SOFT_TROUBLE_MOVED);
	ck_assert_uint_eq(soft_lid_now(port_of(0, 1)), 49151);
	soft_ports_change_lid(0x02); /* 49151 and 1 are taken */
	ck_assert_uint_eq(soft_lid_now(port_of(0, 2)), 2);
	soft_ports_change_lid(0x01);
	ck_assert_uint_eq(soft_lid_now(port_of(0, 1)), 3);
	soft_ports_change_lid(PORTS);
	ck_assert_uint_eq(soft_lid_now(port_of(0, 1)), 4);
	ck_assert_uint_eq(soft_lid_now(port_of(0, 2)), 3);
	ck_assert_uint_eq(soft_lid_now(port_of(1, 1)), 2);
	ck_assert_uint_eq(soft_lid_now(port_of(1, 2)), 0);
	ck_assert_uint_eq(soft_port_now(port_of(0, 2)).lid, 3);
	soft_trouble_end(SOFT_TROUBLE_MOVED); /* as before any change */
	ck_assert_uint_eq(soft_lid_now(port_of(0, 1)), 49151);
}

/* A LID of a subnet manager is none of multicast; a P_Key is of a partition, and not the first. */
/* origin: out33.U11 */
TEST(lid_of_the_subnet_manager_and_pkey__change_among_those_that_there_are)
{
	topology_is("2x2; soft0/2 sm_lid=49150; soft1/1 link=ethernet");
	soft_ports_change_sm(0x12);
	soft_ports_change_pkey(0x02);
	ck_assert_uint_eq(soft_port_now(port_of(0, 1)).sm_lid, 1);
	ck_assert_uint_eq(soft_port_now(port_of(0, 2)).sm_lid, 49151);
	ck_assert_uint_eq(soft_port_now(port_of(1, 1)).sm_lid, 0);
	ck_assert_uint_eq(soft_pkey_now(port_of(0, 1)), 0xffff);
	ck_assert_uint_eq(soft_pkey_now(port_of(0, 2)), 0x8001);
	soft_ports_change_sm(0x02);
	soft_ports_change_pkey(0x02);
	ck_assert_uint_eq(soft_port_now(port_of(0, 2)).sm_lid, 1);
	ck_assert_uint_eq(soft_pkey_now(port_of(0, 2)), 0x8002);
	for (int i = 2; i < 0x7ffe; i++)
		soft_ports_change_pkey(0x02);
	ck_assert_uint_eq(soft_pkey_now(port_of(0, 2)), 0xfffe);
	soft_ports_change_pkey(0x02);
	ck_assert_uint_eq(soft_pkey_now(port_of(0, 2)), 0x8001);
}

/* origin: out38.A1 */
TEST(gid__that_changes__is_the_first_one_of_the_port)
{
	union ibv_gid was, is;

	topology_is("2x2");
	soft_ports_change_gid(0x10);
	soft_ports_change_gid(0x10);
	for (unsigned int i = 0; i < 4; i++)
		for (unsigned int k = 0; k < 2; k++) {
			was = port_of(i / 2, i % 2 + 1)->gids[k].gid;
			is = soft_device_port_gid(port_of(i / 2, i % 2 + 1), k);
			ck_assert_uint_eq(is.global.interface_id, was.global.interface_id);
			ck_assert_uint_eq(be64toh(is.global.subnet_prefix),
			    i == 2 && !k ? 0xfec0000000000002 : be64toh(was.global.subnet_prefix));
		}
}

/* origin: out38.A1 */
TEST(connection__counts_the_changes_of_both_its_ports)
{
	topology_is("2x2");
	soft_ports_change_lid(0x03);
	soft_ports_change_lid(0x02);
	soft_ports_change_gid(0x21);
	soft_ports_change_gid(0x20);
	ck_assert_uint_eq(soft_ports_moved(port_of(0, 1), 1, false), 2);
	ck_assert_uint_eq(soft_ports_moved(port_of(0, 1), 2, false), 3);
	ck_assert_uint_eq(soft_ports_moved(port_of(0, 1), 2, true), 4);
	ck_assert_uint_eq(soft_ports_moved(port_of(0, 2), 6, true), 4);
	ck_assert_uint_eq(soft_ports_moved(port_of(0, 1), 0, true), 2);
	ck_assert_uint_eq(soft_ports_moved(NULL, 2, true), 2);
	ck_assert_uint_eq(soft_ports_moved(NULL, SOFT_PORT_NUMBERS, true), 0);
	ck_assert_uint_eq(soft_ports_moved(port_of(1, 1), SOFT_PORT_NOWHERE, true), 0);
}

/* ---- devices ---- */

/* Any port stands for its device; all of its ports are said to have gone, once. */
/* origin: out38.A1 */
TEST(device__that_is_removed_and_arrives__is_away_between)
{
	topology_is("2x2");
	ck_assert_uint_eq(soft_devices_add(PORTS), 0);
	ck_assert_uint_eq(soft_devices_remove(0), 0);
	ck_assert_uint_eq(soft_devices_remove(0x20), 0x30);
	ck_assert(!soft_device_is_away(0) && soft_device_is_away(1));
	ck_assert_uint_eq(soft_devices_remove(0x31), 0x03);
	ck_assert_uint_eq(soft_devices_remove(PORTS), 0);
	ck_assert_uint_eq(soft_devices_add(0x01), 0x03);
	ck_assert(!soft_device_is_away(0) && soft_device_is_away(1));
	ck_assert_uint_eq(soft_device_life(0), 2);
	ck_assert_uint_eq(soft_devices_add(PORTS), 0x30);
	ck_assert_uint_eq(soft_device_life(1), 2);
}

/* The device of a forked child has not changed. */
/* origin: out33.R3 */
TEST(reset__after_each_change__all_is_as_it_was)
{
	topology_is("16x4");
	soft_trouble_begin(ALL & ~SOFT_TROUBLE_DOWN);
	soft_cut_begin(SOFT_TROUBLE_CUT, 1);
	soft_cut_begin(SOFT_TROUBLE_CUT, SOFT_SLOT_MAX);
	soft_ports_set_down(~(soft_ports)0, true);
	soft_ports_change_lid(~(soft_ports)0);
	soft_ports_change_sm(~(soft_ports)0);
	soft_ports_change_pkey(~(soft_ports)0);
	soft_ports_change_gid(~(soft_ports)0);
	(void)soft_devices_remove(~(soft_ports)0);
	soft_delay_set(SOFT_SECOND);
	soft_rate_set(1);
	(void)soft_slow_due(1000);
	soft_changes_reset();
	ck_assert_uint_eq(soft_troubles(ALL), 0);
	soft_trouble_begin(ALL & ~SOFT_TROUBLE_DOWN);
	soft_trouble_end(ALL & ~SOFT_TROUBLE_DOWN);
	ck_assert_uint_eq(soft_troubles(ALL), 0);
	soft_trouble_begin(SOFT_TROUBLE_SLOW);
	expect_due(1000, 0, 0);
	soft_rate_set(SOFT_SECOND);
	expect_due(0, 0, 0);
	soft_links_heal();
	ck_assert_uint_eq(cut_to(1), 0);
	for (unsigned int i = 0; i < 16; i++) {
		ck_assert_uint_eq(soft_device_life(i), 0);
		for (unsigned int k = 1; k <= 4; k++) {
			const struct soft_device_port *port = port_of(i, k);

			ck_assert(!soft_port_is_down(port));
			ck_assert_uint_eq(soft_lid_moved(port), port->attr.lid);
			ck_assert_uint_eq(soft_port_now(port).sm_lid, 1);
			ck_assert_uint_eq(soft_pkey_now(port), 0xffff);
			ck_assert_uint_eq(soft_ports_moved(port, 0, true), 0);
		}
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * topology -- several devices with several ports: what programs see of them, what reaches which
 * port, and the limits of a device
 */
#include "other.h"
#include "story.h"

#include "softverbs/device/topology.h"

#include <arpa/inet.h>

CASE("soft-topology:topology");

/* Of this process, which has read none yet: each test is one. */
static void
topology_is(const char *text)
{
	setenv("SOFTVERBS_TOPOLOGY", text, 1);
	ck_assert(!soft_topology()->plain);
}

static struct ibv_context *
topology_open(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;

	ck_assert_ptr_nonnull(list);
	for (int i = 0; list[i] && !context; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			context = ibv_open_device(list[i]);
	ibv_free_device_list(list);
	ck_assert_ptr_nonnull(context);
	return context;
}

/* What ibv_query_port() does for a program; the headers of the device leave its macro out. */
static int
query_port(struct ibv_context *context, uint8_t number, struct ibv_port_attr *port)
{
	return verbs_get_ctx(context)->query_port(context, number, port, sizeof *port);
}

/* ---- the text ---- */

static struct soft_topology topology;

static const char *
topology_error(const char *text)
{
	static char error[256];

	return soft_topology_read(text, &topology, error, sizeof error) ? NULL : error;
}

static const struct {
	const char *text, *error;
} wrong[] = {
	{ "", "no device" },
	{ "# 2x2", "no device" },
	{ "17x1", "17x1: not DEVICESxPORTS with up to 16 devices of up to 4 ports" },
	{ "2x5", "2x5: not DEVICESxPORTS with up to 16 devices of up to 4 ports" },
	{ "2x", "2x: not DEVICESxPORTS with up to 16 devices of up to 4 ports" },
	{ "0", "0: not DEVICESxPORTS with up to 16 devices of up to 4 ports" },
	{ "2x2 soft0/1 state=down",
	    "2x2: soft0/1: what follows is another statement; put a semicolon before it" },
	{ "-a",
	    "-a: not a name of a device, which has up to 31 letters, digits, _, - and . after a "
	    "letter" },
	{ "a/5", "a/5: port=5: not a whole number from 1 to 4" },
	{ "a/x", "a/x: port=x: not a whole number from 1 to 4" },
	{ "*/1 mtu=256", "*/1: no device is named before this" },
	{ "a mtu", "a: mtu: not KEY=VALUE" },
	{ "a mtu=", "a: mtu=: not KEY=VALUE" },
	{ "a mtu=256", "a: mtu: neither \"ports\" nor a field of ibv_device_attr" },
	{ "a/1 max_qp=1", "a/1: max_qp: not one of state, speed, width, mtu, max_mtu, link, lid, "
			  "sm_lid, gid, addr, if, which a port has" },
	{ "a/1 state=up", "a/1: state=up: not one of down, init, armed, active" },
	{ "a/1 mtu=1500", "a/1: mtu=1500: not one of 256, 512, 1024, 2048, 4096" },
	{ "a/1 max_mtu=1024 mtu=2048", "a/1: mtu is more than max_mtu" },
	{ "a/1 mtu=2048 max_mtu=1024", "a/1: mtu is more than max_mtu" },
	{ "1;default", "default: it stands alone, and names no device" },
	{ "default mtu=256", "default: it stands alone, and names no device" },
	{ "1; default/1 state=down", "default/1: it stands alone, and names no device" },
	{ "a/1 speed=fast",
	    "a/1: speed=fast: not one of sdr, ddr, qdr, fdr10, fdr, edr, hdr, ndr" },
	{ "a/1 width=3x", "a/1: width=3x: not one of 1x, 2x, 4x, 8x, 12x" },
	{ "a/1 link=iwarp", "a/1: link=iwarp: not one of infiniband, ethernet" },
	{ "a/1 lid=0", "a/1: lid=0: not a whole number from 1 to 49151" },
	{ "a/1 gid=x", "a/1: gid=x: not a GID as fe80::1 or 10.0.0.1" },
	{ "a/1 gid=fe80::1@v3", "a/1: gid=fe80::1@v3: the version of RoCE is v1 or v2" },
	{ "a/1 addr=10.0.0", "a/1: addr=10.0.0: not an IP address of a host, nor any" },
	{ "a/1 addr=0.0.0.0", "a/1: addr=0.0.0.0: not an IP address of a host, nor any" },
	{ "a/1 addr=224.0.0.1", "a/1: addr=224.0.0.1: not an IP address of a host, nor any" },
	{ "a/1 addr=255.255.255.255",
	    "a/1: addr=255.255.255.255: not an IP address of a host, nor any" },
	{ "a/1 addr=::", "a/1: addr=::: not an IP address of a host, nor any" },
	{ "a/1 addr=ff02::1", "a/1: addr=ff02::1: not an IP address of a host, nor any" },
	{ "1; */1 lid=7 link=ethernet", "soft0/1: an Ethernet port has no LID" },
	{ "1; */1 link=ethernet sm_lid=7", "soft0/1: an Ethernet port has no LID" },
	{ "a/1 if=no-such-one", "a/1: if=no-such-one: no interface with an IP address" },
	{ "a max_cqe=1048577", "a: max_cqe=1048577: not a whole number from 1 to 1048576" },
	{ "a max_qp=-1", "a: max_qp=-1: not a whole number from 0 to 16384" },
	{ "a max_mcast_grp=1", "a: max_mcast_grp=1: not a whole number from 0 to 0" },
	{ "a atomic_cap=some", "a: atomic_cap=some: not one of none, hca, glob" },
	{ "a device_cap_flags=0x1", "a: device_cap_flags=0x1: softverbs has the flags " },
	{ "a node_guid=1:2", "a: node_guid=1:2: not a GUID" },
	{ "a node_guid=0:0:0:0", "a: node_guid=0:0:0:0: not a GUID" },
	{ "a sys_image_guid=1:2:3:4:5", "a: sys_image_guid=1:2:3:4:5: not a GUID" },
	{ "a fw_ver=1\x7f", "a: fw_ver: not printable" },
	{ "a fw_ver=1234567890123456789012345678901234567890123456789012345678901234",
	    "a: fw_ver: not 1 to 63 characters" },
	{ "-a/1 mtu=256", "-a/1: not a name of a device" },
	{ "a node_guid=0", "a: node_guid=0: not a whole number from 1 to 18446744073709551615" },
	{ "2; soft0/1 addr=any; soft1/1 addr=any", "addr=any is for one port" },
	{ "2; soft1/1 lid=1", "soft0/1 and soft1/1 have the same LID 1" },
	{ "2x2; */2 gid=fe80::1", "soft0/2 and soft1/2 have the same GID" },
	{ "1; */1 gid=::1,::2,::1", "soft0/1 has the same GID twice" },
	{ "1; */1 link=ethernet gid=::1@v1,::1,::1@v2", "soft0/1 has the same GID twice" },
	{ "1; */1 gid=::1@v2 link=infiniband",
	    "soft0/1: a GID of InfiniBand has no version of RoCE" },
	{ "2x2; */2 addr=10.0.0.1", "soft0/2 and soft1/2 have the same address" },
};

/* origin: out33.W15 */
/* origin: out33.BB4 */
TEST_LOOP(text__wrong__is_refused_in_one_line, sizeof wrong / sizeof *wrong)
{
	const char *error = topology_error(wrong[_i].text);

	ck_assert_ptr_nonnull(error);
	ck_assert_msg(!strncmp(error, wrong[_i].error, strlen(wrong[_i].error)), "%s", error);
	ck_assert_ptr_null(strchr(error, '\n'));
}

/* origin: out33.U16 */
TEST(text__longest_version_and_a_guid_of_the_system__are_those_of_the_device)
{
	static const char version[] =
	    "123456789012345678901234567890123456789012345678901234567890123";
	const struct ibv_device_attr *attr = &topology.devices[0].attr;
	char text[128];

	sprintf(text, "a fw_ver=%s sys_image_guid=1:20:300:4000", version);
	ck_assert_ptr_null(topology_error(text));
	ck_assert_str_eq(attr->fw_ver, version);
	ck_assert_uint_eq(be64toh(attr->sys_image_guid), 0x0001002003004000);
	ck_assert_uint_ne(be64toh(attr->node_guid), 0x0001002003004000);
	ck_assert_ptr_null(topology_error("a fw_ver=1 sys_image_guid=258"));
	ck_assert_str_eq(attr->fw_ver, "1");
	ck_assert_uint_eq(be64toh(attr->sys_image_guid), 0x102);
	/* A name is as long as the word "default", or begins so. */
	ck_assert_ptr_null(topology_error("devices ports=2; defaults ports=1"));
	ck_assert_str_eq(topology.devices[0].name, "devices");
	ck_assert_str_eq(topology.devices[1].name, "defaults");
}

TEST(text__default__is_the_plain_one)
{
	const struct soft_device *device = topology.devices;

	ck_assert_ptr_null(topology_error(" default \n"));
	ck_assert(topology.plain);
	ck_assert_ptr_null(topology_error("default"));
	ck_assert(topology.plain);
	ck_assert_uint_eq(topology.count, 1);
	ck_assert_str_eq(device->name, "soft0");
	ck_assert_uint_eq(device->attr.phys_port_cnt, 1);
	ck_assert_uint_ne(device->attr.vendor_id, 0);
	ck_assert_int_eq(device->attr.max_cqe, 1048576);
	ck_assert_int_eq(device->ports[0].attr.gid_tbl_len, 2);
}

TEST(text__largest__has_sixteen_devices_with_four_ports)
{
	ck_assert_ptr_null(topology_error("16x4"));
	ck_assert(!topology.plain);
	ck_assert_uint_eq(topology.count, 16);
	ck_assert_str_eq(topology.devices[15].name, "soft15");
	ck_assert_uint_eq(topology.devices[15].ports[3].number, 64);
	ck_assert_uint_eq(topology.devices[15].ports[3].attr.lid, 64);
}

TEST(text__values__are_those_of_the_device)
{
	const struct soft_device_port *port = topology.devices[0].ports;
	const struct ibv_device_attr *attr = &topology.devices[0].attr;

	ck_assert_ptr_null(topology_error(
	    "# a comment; with a semicolon\n"
	    "mlx5_0 ports=2 vendor_id=0x2c9 vendor_part_id=4129 fw_ver=22.1 max_qp=7 "
	    "node_guid=0002:c903:00a1:b2c3 max_mr_size=0x1000 atomic_cap=none max_pkeys=1\n"
	    "mlx5_0/1 state=armed speed=hdr width=2x mtu=1024 lid=77 sm_lid=3 addr=10.0.0.1,::5\n"
	    "mlx5_0/2 link=ethernet gid=fe80::9@v1,10.0.0.2\n"));
	ck_assert_uint_eq(attr->vendor_id, 0x2c9);
	ck_assert_uint_eq(attr->vendor_part_id, 4129);
	ck_assert_str_eq(attr->fw_ver, "22.1");
	ck_assert_int_eq(attr->max_qp, 7);
	ck_assert_int_eq(attr->max_qp_wr, SOFT_MAX_QP_WR);
	ck_assert_uint_eq(be64toh(attr->node_guid), 0x2c90300a1b2c3);
	ck_assert_uint_eq(attr->max_mr_size, 0x1000);
	ck_assert_int_eq(attr->atomic_cap, IBV_ATOMIC_NONE);
	ck_assert_int_eq(port[0].attr.state, IBV_PORT_ARMED);
	ck_assert_uint_eq(soft_port_speed(&port[0].attr), 1000);
	ck_assert_int_eq(port[0].attr.active_mtu, IBV_MTU_1024);
	ck_assert_uint_eq(port[0].attr.lid, 77);
	ck_assert_uint_eq(port[0].attr.sm_lid, 3);
	ck_assert_int_eq(port[0].attr.gid_tbl_len, 3);
	ck_assert_int_eq(port[1].attr.link_layer, IBV_LINK_LAYER_ETHERNET);
	ck_assert_uint_eq(port[1].attr.lid, 0);
	ck_assert_int_eq(port[1].attr.gid_tbl_len, 2);
	ck_assert_uint_eq(port[1].gids[0].type, IBV_GID_TYPE_ROCE_V1);
	ck_assert_uint_eq(port[1].gids[1].type, IBV_GID_TYPE_ROCE_V2);
}

TEST(text__star__is_every_device_and_port)
{
	ck_assert_ptr_null(
	    topology_error("2x2; * vendor_part_id=9; */* mtu=256; soft1/* speed=sdr"));
	for (int d = 0; d < 2; d++)
		for (int p = 0; p < 2; p++) {
			const struct soft_device *device = &topology.devices[d];

			ck_assert_uint_eq(device->attr.vendor_part_id, 9);
			ck_assert_int_eq(device->ports[p].attr.active_mtu, IBV_MTU_256);
			ck_assert_uint_eq(device->ports[p].attr.active_speed, d ? 1 : 32);
		}
}

TEST(variable__wrong__no_device_and_one_line)
{
	struct ibv_device **list;
	struct rdma_cm_id *id;
	int n = 5;

	setenv("SOFTVERBS_TOPOLOGY", "3x9", 1);
	list = ibv_get_device_list(&n);
	ck_assert_ptr_null(list);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(n, 0);
	ck_assert_ptr_null(rdma_get_devices(&n));
	ck_assert_int_eq(n, 0);
	ck_assert_int_eq(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP), -1);
	ck_assert_int_eq(errno, EINVAL);
}

/* ---- what programs see ---- */

TEST(devices_and_ports__every_query_agrees)
{
	struct ibv_context **contexts;
	struct ibv_device **list;
	int n = 0;

	topology_is("16x4");
	list = ibv_get_device_list(&n);
	ck_assert_int_eq(n, 16);
	contexts = rdma_get_devices(&n);
	ck_assert_int_eq(n, 16);
	for (int d = 0; d < 16; d++) {
		struct ibv_context *context = ibv_open_device(list[d]);
		struct ibv_gid_entry table[8], entry;
		struct ibv_device_attr attr;
		struct ibv_port_attr port;
		char name[16];

		snprintf(name, sizeof name, "soft%d", d);
		ck_assert_str_eq(ibv_get_device_name(list[d]), name);
		ck_assert_ptr_eq(contexts[d]->device, list[d]);
		ck_assert_int_eq(ibv_query_device(context, &attr), 0);
		ck_assert_uint_eq(attr.node_guid, ibv_get_device_guid(list[d]));
		ck_assert_uint_eq(attr.phys_port_cnt, 4);
		ck_assert_int_eq(ibv_query_gid_table(context, table, 8, 0), 8);
		for (uint8_t p = 1; p <= 4; p++) {
			union ibv_gid gid;

			ck_assert_int_eq(query_port(context, p, &port), 0);
			ck_assert_uint_eq(port.lid, d * 4 + p);
			ck_assert_int_eq(ibv_query_gid(context, p, 0, &gid), 0);
			ck_assert_uint_eq(
			    be64toh(gid.global.interface_id), be64toh(attr.node_guid) + p - 1u);
			ck_assert_int_eq(ibv_query_gid_ex(context, p, 1, &entry, 0), 0);
			ck_assert_mem_eq(&table[p * 2 - 1], &entry, sizeof entry);
			ck_assert_uint_eq(entry.port_num, p);
		}
		ck_assert_int_eq(query_port(context, 5, &port), EINVAL);
		ck_assert_int_eq(query_port(context, 0, &port), EINVAL);
		ibv_close_device(context);
	}
	rdma_free_devices(contexts);
	ibv_free_device_list(list);
}

/* ---- what reaches which port ---- */

struct end {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t port;
	char bytes[256];
};

static void
end_open(struct end *end, const char *device, uint8_t port, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {
		.cap = { 4, 4, 1, 1, 0 }, .qp_type = type, .sq_sig_all = 1
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT,
		.port_num = port,
		.qkey = 5,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE };

	end->context = topology_open(device);
	end->port = port;
	end->pd = ibv_alloc_pd(end->context);
	end->cq = ibv_create_cq(end->context, 8, NULL, NULL, 0);
	init.send_cq = init.recv_cq = end->cq;
	end->qp = ibv_create_qp(end->pd, &init);
	ck_assert_ptr_nonnull(end->qp);
	end->mr = ibv_reg_mr(end->pd, end->bytes, sizeof end->bytes, IBV_ACCESS_LOCAL_WRITE);
	ck_assert_int_eq(ibv_modify_qp(end->qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				 (type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)),
	    0);
}

static void
end_close(struct end *end)
{
	ibv_destroy_qp(end->qp);
	ibv_dereg_mr(end->mr);
	ibv_destroy_cq(end->cq);
	ibv_dealloc_pd(end->pd);
	ibv_close_device(end->context);
}

/* The way to a port: by its LID, or by one of its GIDs if `gid` is not negative. */
static struct ibv_ah_attr
end_address(struct end *from, struct end *to, int gid)
{
	struct ibv_ah_attr address = { .port_num = from->port };
	struct ibv_port_attr port;

	ck_assert_int_eq(query_port(to->context, to->port, &port), 0);
	address.dlid = port.lid;
	if (gid < 0)
		return address;
	address.is_global = 1;
	ck_assert_int_eq(ibv_query_gid(to->context, to->port, gid, &address.grh.dgid), 0);
	return address;
}

/* 0 or an error. */
static int
end_connect(struct end *end, uint32_t qpn, const struct ibv_ah_attr *address)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_256,
		.dest_qp_num = qpn,
		.ah_attr = *address,
		.timeout = 10,
		.retry_cnt = 1,
		.rnr_retry = 7 };
	int r = ibv_modify_qp(end->qp, &attr,
	    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);

	attr.qp_state = IBV_QPS_RTS;
	return r ? r :
		   ibv_modify_qp(end->qp, &attr,
		       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			   IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

static int
end_receive(struct end *end)
{
	struct ibv_sge sge = { (uintptr_t)end->bytes, sizeof end->bytes, end->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = 2, .sg_list = &sge, .num_sge = 1 }, *bad;

	return ibv_post_recv(end->qp, &wr, &bad);
}

static int
end_send(struct end *end, struct ibv_ah *ah, uint32_t qpn, uint32_t length)
{
	struct ibv_sge sge = { (uintptr_t)end->bytes, length, end->mr->lkey };
	struct ibv_send_wr wr = { .wr_id = 1,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND },
			   *bad;

	if (ah) {
		wr.wr.ud.ah = ah;
		wr.wr.ud.remote_qpn = qpn;
		wr.wr.ud.remote_qkey = 5;
	}
	return ibv_post_send(end->qp, &wr, &bad);
}

/* The GIDs of a port by which it is reached; -1 is its LID. */
static const int ways[] = { -1, 0, 1 };

TEST_LOOP(connected__by_lid_and_gids__a_port_of_the_second_device, 3)
{
	struct end a, b;
	struct ibv_ah_attr there, back;
	struct ibv_wc wc;

	topology_is("2x2");
	end_open(&a, "soft0", 1, IBV_QPT_RC);
	end_open(&b, "soft1", 2, IBV_QPT_RC);
	there = end_address(&a, &b, ways[_i]);
	back = end_address(&b, &a, ways[_i]);
	ck_assert_int_eq(end_connect(&b, a.qp->qp_num, &back), 0);
	ck_assert_int_eq(end_connect(&a, b.qp->qp_num, &there), 0);
	ck_assert_int_eq(end_receive(&b), 0);
	ck_assert_int_eq(end_send(&a, NULL, 0, 9), 0);
	ck_assert_int_eq(cq_next(a.cq).status, IBV_WC_SUCCESS);
	wc = cq_next(b.cq);
	ck_assert_int_eq(wc.status, IBV_WC_SUCCESS);
	ck_assert_uint_eq(wc.slid, 1);
	end_close(&a);
	end_close(&b);
}

static const struct {
	const char *text, *why;
	uint8_t other; /* the port whose address is taken for that of soft1/2 */
} unreachable[] = {
	{ "2x2", "the address of another port", 1 },
	{ "2x2; soft1/2 state=down", "the port of the peer is down", 2 },
	{ "2x2; soft0/1 state=init", "the own port is not active", 2 },
	{ "2x2; soft1/2 link=ethernet", "another link layer", 2 },
};

TEST_LOOP(connected__to_where_the_peer_is_not__ends_with_retries_exceeded, 4)
{
	struct end a, b;
	struct ibv_ah_attr there, back;

	setenv("SOFTVERBS_TIME_FACTOR", "0.01", 1);
	topology_is(unreachable[_i].text);
	end_open(&a, "soft0", 1, IBV_QPT_RC);
	end_open(&b, "soft1", 2, IBV_QPT_RC);
	back = end_address(&b, &a, 0);
	ck_assert_int_eq(end_connect(&b, a.qp->qp_num, &back), 0);
	b.port = unreachable[_i].other;
	there = end_address(&a, &b, 0);
	ck_assert_int_eq(end_connect(&a, b.qp->qp_num, &there), 0);
	ck_assert_int_eq(end_receive(&b), 0);
	ck_assert_int_eq(end_send(&a, NULL, 0, 9), 0);
	ck_assert_msg(cq_next(a.cq).status == IBV_WC_RETRY_EXC_ERR, "%s", unreachable[_i].why);
	cq_expect_empty(b.cq);
	end_close(&a);
	end_close(&b);
}

TEST(connected__an_ethernet_port__needs_a_gid)
{
	struct ibv_ah_attr address;
	struct end a, b;

	topology_is("2; */1 link=ethernet");
	end_open(&a, "soft0", 1, IBV_QPT_RC);
	end_open(&b, "soft1", 1, IBV_QPT_RC);
	address = end_address(&a, &b, -1);
	ck_assert_int_eq(end_connect(&a, b.qp->qp_num, &address), EINVAL);
	ck_assert_ptr_null(ibv_create_ah(a.pd, &address));
	ck_assert_int_eq(errno, EINVAL);
	address = end_address(&a, &b, 1);
	ck_assert_int_eq(end_connect(&a, b.qp->qp_num, &address), 0);
	end_close(&a);
	end_close(&b);
}

TEST(queue_pair__a_port_that_the_device_has_not__is_refused)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 2 };
	struct end a;

	topology_is("soft0; soft1 ports=2");
	end_open(&a, "soft0", 1, IBV_QPT_RC);
	ck_assert_int_eq(ibv_modify_qp(a.qp, &attr, IBV_QP_PORT), EINVAL);
	end_close(&a);
	end_open(&a, "soft1", 2, IBV_QPT_RC);
	ck_assert_int_eq(ibv_modify_qp(a.qp, &attr, IBV_QP_PORT), 0);
	end_close(&a);
}

static void
end_ready(struct end *end)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };

	ck_assert_int_eq(ibv_modify_qp(end->qp, &attr, IBV_QP_STATE), 0);
	attr.qp_state = IBV_QPS_RTS;
	ck_assert_int_eq(ibv_modify_qp(end->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
}

TEST_LOOP(datagram__by_lid_and_gids__its_header_names_both_ports, 3)
{
	struct end a, b;
	struct ibv_ah_attr address;
	union ibv_gid gid;
	struct ibv_grh grh;
	struct ibv_ah *ah;
	struct ibv_wc wc;

	topology_is("2x2");
	end_open(&a, "soft0", 2, IBV_QPT_UD);
	end_open(&b, "soft1", 2, IBV_QPT_UD);
	end_ready(&a);
	end_ready(&b);
	address = end_address(&a, &b, ways[_i]);
	address.grh.sgid_index = (uint8_t)(ways[_i] > 0);
	ah = ibv_create_ah(a.pd, &address);
	ck_assert_ptr_nonnull(ah);
	ck_assert_int_eq(end_receive(&b), 0);
	ck_assert_int_eq(end_send(&a, ah, b.qp->qp_num, 9), 0);
	ck_assert_int_eq(cq_next(a.cq).status, IBV_WC_SUCCESS);
	wc = cq_next(b.cq);
	ck_assert_uint_eq(wc.slid, 2);
	memcpy(&grh, b.bytes, sizeof grh);
	if (ways[_i] >= 0) {
		ibv_query_gid(a.context, 2, ways[_i], &gid);
		ck_assert_mem_eq(&grh.sgid, &gid, sizeof gid);
		ibv_query_gid(b.context, 2, ways[_i], &gid);
		ck_assert_mem_eq(&grh.dgid, &gid, sizeof gid);
	}
	ibv_destroy_ah(ah);
	/* The answer finds the way back. */
	ck_assert_int_eq(ibv_init_ah_from_wc(b.context, 2, &wc, &grh, &address), 0);
	ck_assert_uint_eq(address.grh.sgid_index, ways[_i] > 0);
	ah = ibv_create_ah_from_wc(b.pd, &wc, &grh, 2);
	ck_assert_ptr_nonnull(ah);
	ck_assert_int_eq(end_receive(&a), 0);
	ck_assert_int_eq(end_send(&b, ah, a.qp->qp_num, 9), 0);
	ck_assert_int_eq(cq_next(a.cq).opcode, IBV_WC_RECV);
	ibv_destroy_ah(ah);
	end_close(&a);
	end_close(&b);
}

TEST(datagram__to_another_port_of_the_device__is_lost)
{
	struct end a, b;
	struct ibv_ah_attr address;
	struct ibv_ah *ah;

	topology_is("2x2");
	end_open(&a, "soft0", 1, IBV_QPT_UD);
	end_open(&b, "soft1", 2, IBV_QPT_UD);
	end_ready(&a);
	end_ready(&b);
	b.port = 1;
	address = end_address(&a, &b, -1);
	ah = ibv_create_ah(a.pd, &address);
	ck_assert_int_eq(end_receive(&b), 0);
	ck_assert_int_eq(end_send(&a, ah, b.qp->qp_num, 9), 0);
	ck_assert_int_eq(cq_next(a.cq).status, IBV_WC_SUCCESS);
	cq_expect_empty(b.cq);
	ibv_destroy_ah(ah);
	end_close(&a);
	end_close(&b);
}

TEST(datagram__longer_than_the_mtu_of_the_port__is_refused)
{
	struct ibv_ah_attr address;
	struct ibv_ah *ah;
	struct end a;

	topology_is("soft0/1 mtu=256");
	end_open(&a, "soft0", 1, IBV_QPT_UD);
	end_ready(&a);
	address = end_address(&a, &a, -1);
	ah = ibv_create_ah(a.pd, &address);
	ck_assert_int_eq(end_send(&a, ah, 1, 256), 0);
	ck_assert_int_eq(end_send(&a, ah, 1, 257), EMSGSIZE);
	ibv_destroy_ah(ah);
	end_close(&a);
}

/* ---- two processes ---- */

struct told {
	uint32_t qpn;
	struct ibv_ah_attr address; /* that leads to the one who tells */
};

#define LID_OF_NONE 4000

/* One end of a connection of two processes on different devices, to the address that it gets. */
static enum ibv_wc_status
apart_run(const char *device, uint8_t port, const char *peer_device, uint8_t peer_port, bool sends)
{
	struct end own, peer = { .port = peer_port };
	enum ibv_wc_status status = IBV_WC_SUCCESS;
	struct ibv_ah_attr address = { .dlid = LID_OF_NONE, .port_num = port };
	uint32_t qpn;

	end_open(&own, device, port, IBV_QPT_RC);
	peer.context = topology_open(peer_device);
	if (peer_port)
		address = end_address(&own, &peer, -1);
	ibv_close_device(peer.context);
	other_tell(&own.qp->qp_num, sizeof qpn);
	other_hear(&qpn, sizeof qpn);
	ck_assert_int_eq(end_connect(&own, qpn, &address), 0);
	ck_assert_int_eq(end_receive(&own), 0);
	other_meet();
	if (sends) {
		ck_assert_int_eq(end_send(&own, NULL, 0, 9), 0);
		status = cq_next(own.cq).status;
	}
	other_meet();
	/* What was not for this end has not harmed it. */
	if (!sends)
		ck_assert_int_eq(qp_state(own.qp), IBV_QPS_RTS);
	end_close(&own);
	return status;
}

static void
apart_answer(void)
{
	apart_run("soft1", 2, "soft0", 1, false);
}

TEST(processes__on_different_devices__reach_each_other)
{
	topology_is("2x2");
	other_start(apart_answer);
	ck_assert_int_eq(apart_run("soft0", 1, "soft1", 2, true), IBV_WC_SUCCESS);
	other_finish();
}

TEST(processes__by_the_lid_of_another_port__do_not)
{
	setenv("SOFTVERBS_TIME_FACTOR", "0.01", 1);
	topology_is("2x2");
	other_start(apart_answer);
	ck_assert_int_eq(apart_run("soft0", 1, "soft0", 2, true), IBV_WC_RETRY_EXC_ERR);
	other_finish();
}

/* The link to the other process stays as it is. */
TEST(processes__by_a_lid_that_no_port_has__do_not)
{
	setenv("SOFTVERBS_TIME_FACTOR", "0.01", 1);
	topology_is("2x2");
	other_start(apart_answer);
	ck_assert_int_eq(apart_run("soft0", 1, "soft1", 0, true), IBV_WC_RETRY_EXC_ERR);
	other_finish();
}

/* ---- the connection manager ---- */

static struct sockaddr_in
in_of(const char *text, uint16_t port)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port) };

	ck_assert_int_eq(inet_pton(AF_INET, text, &in.sin_addr), 1);
	return in;
}

TEST(address__bound__has_the_device_and_port_of_it)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct sockaddr_in in = in_of("127.1.0.2", 0);

	topology_is("2x2");
	channel = cm_channel();
	ck_assert_int_eq(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_bind_addr(id, (struct sockaddr *)&in), 0);
	ck_assert_str_eq(ibv_get_device_name(id->verbs->device), "soft1");
	ck_assert_uint_eq(id->port_num, 2);
	ck_assert_ptr_eq(id->pd->context, id->verbs);
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
}

TEST(address__resolved_without_a_source__has_the_device_of_the_target)
{
	struct sockaddr_in in = in_of("127.1.0.2", 7);
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;

	topology_is("2x2");
	channel = cm_channel();
	ck_assert_int_eq(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_resolve_addr(id, NULL, (struct sockaddr *)&in, 1000), 0);
	cm_expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED, id);
	ck_assert_str_eq(ibv_get_device_name(id->verbs->device), "soft1");
	ck_assert_uint_eq(id->port_num, 2);
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
}

static const struct {
	const char *text, *device; /* of an id that is bound to 127.0.0.1, or NULL */
} loopbacks[] = {
	{ "2x2", "soft0" },
	{ "2; soft0/1 addr=127.0.0.3", NULL },
	{ "2; soft1/1 addr=127.0.0.1", "soft1" },
	{ "1x4", "soft0" },
	{ "1x2; soft0/1 addr=127.0.0.3", "soft0" },
};

TEST_LOOP(address__of_the_host__chooses_a_device_if_there_is_one, 5)
{
	struct sockaddr_in in = in_of("127.0.0.1", 0);
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;

	topology_is(loopbacks[_i].text);
	channel = cm_channel();
	ck_assert_int_eq(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_bind_addr(id, (struct sockaddr *)&in), 0);
	if (loopbacks[_i].device)
		ck_assert_str_eq(ibv_get_device_name(id->verbs->device), loopbacks[_i].device);
	else
		ck_assert_ptr_null(id->verbs);
	/* A target always has one. */
	in.sin_port = htons(7);
	ck_assert_int_eq(rdma_resolve_addr(id, NULL, (struct sockaddr *)&in, 1000), 0);
	cm_expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED, id);
	ck_assert_ptr_nonnull(id->verbs);
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
}

TEST(address__of_no_port__no_device)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct sockaddr_in in = in_of("127.0.0.5", 0);

	topology_is("soft0/1 addr=127.0.0.1");
	channel = cm_channel();
	ck_assert_int_eq(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_bind_addr(id, (struct sockaddr *)&in), -1);
	ck_assert_int_eq(errno, ENODEV);
	ck_assert_int_eq(rdma_resolve_addr(id, NULL, (struct sockaddr *)&in, 1000), 0);
	cm_expect(channel, RDMA_CM_EVENT_ADDR_ERROR, id);
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
}

/* Of the port that is down to itself, and between it and another. */
static const struct {
	const char *from, *to;
} ends_of_routes[] = { { "127.0.0.2", "127.0.0.2" }, { "127.0.0.1", "127.0.0.2" },
	{ "127.0.0.2", "127.0.0.1" } };

TEST_LOOP(route__a_port_that_is_down__is_an_error, 3)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct sockaddr_in from = in_of(ends_of_routes[_i].from, 0),
			   in = in_of(ends_of_routes[_i].to, 7);

	topology_is("1x2; soft0/2 state=down");
	channel = cm_channel();
	ck_assert_int_eq(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(
	    rdma_resolve_addr(id, (struct sockaddr *)&from, (struct sockaddr *)&in, 1000), 0);
	cm_expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED, id);
	ck_assert_int_eq(rdma_resolve_route(id, 1000), 0);
	cm_expect(channel, RDMA_CM_EVENT_ROUTE_ERROR, id);
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
}

static const char *const layers[] = { "2x2; soft1/2 mtu=512", "2x2; */* link=ethernet mtu=512" };

/* A listener at any address; a client of the first device. */
TEST_LOOP(connection__to_an_address_of_the_second_device__each_end_has_its_own, 2)
{
	struct sockaddr_in from = in_of("127.0.0.1", 0), to;
	struct rdma_conn_param param = { .retry_count = 7 };
	struct rdma_event_channel *channel;
	struct rdma_cm_event *event;
	struct rdma_cm_id *listener, *client, *server;
	struct ibv_qp_init_attr init = { .cap = { 4, 4, 1, 1, 0 }, .qp_type = IBV_QPT_RC };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
	struct ibv_port_attr port;
	union ibv_gid gid;
	uint16_t number;
	int mask;

	topology_is(layers[_i]);
	channel = cm_channel();
	ck_assert_int_eq(rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP), 0);
	to = in_of("0.0.0.0", 0);
	ck_assert_int_eq(rdma_bind_addr(listener, (struct sockaddr *)&to), 0);
	ck_assert_ptr_null(listener->verbs);
	ck_assert_int_eq(rdma_listen(listener, 4), 0);
	number = ntohs(rdma_get_src_port(listener));
	to = in_of("127.1.0.2", number);
	ck_assert_int_eq(rdma_create_id(channel, &client, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(
	    rdma_resolve_addr(client, (struct sockaddr *)&from, (struct sockaddr *)&to, 1000), 0);
	cm_expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED, client);
	ck_assert_str_eq(ibv_get_device_name(client->verbs->device), "soft0");
	ck_assert_int_eq(rdma_resolve_route(client, 1000), 0);
	cm_expect(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, client);
	ck_assert_int_eq(client->route.path_rec->mtu, IBV_MTU_512);
	ck_assert_int_eq(rdma_create_qp(client, NULL, &init), 0);
	ck_assert_int_eq(rdma_connect(client, &param), 0);
	event = cm_next(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	server = event->id;
	rdma_ack_cm_event(event);
	ck_assert_str_eq(ibv_get_device_name(server->verbs->device), "soft1");
	ck_assert_uint_eq(server->port_num, 2);
	/* The GID of each end is one of its port, and the other's. */
	ck_assert_int_eq(ibv_query_gid(server->verbs, 2, _i, &gid), 0);
	ck_assert_mem_eq(&client->route.addr.addr.ibaddr.dgid, &gid, sizeof gid);
	ck_assert_mem_eq(&server->route.addr.addr.ibaddr.sgid, &gid, sizeof gid);
	memset(&init, 0, sizeof init);
	init.cap = (struct ibv_qp_cap){ 4, 4, 1, 1, 0 };
	init.qp_type = IBV_QPT_RC;
	ck_assert_int_eq(rdma_create_qp(server, NULL, &init), 0);
	ck_assert_int_eq(rdma_init_qp_attr(server, &attr, &mask), 0);
	ck_assert_int_eq(query_port(client->verbs, 1, &port), 0);
	ck_assert_uint_eq(attr.ah_attr.dlid, port.lid);
	ck_assert_uint_eq(attr.ah_attr.is_global, _i);
	ck_assert_int_eq(attr.path_mtu, IBV_MTU_512);
	ck_assert_int_eq(rdma_accept(server, &param), 0);
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, client);
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, server);
	cm_forget(&client);
	cm_forget(&server);
	cm_forget(&listener);
	rdma_destroy_event_channel(channel);
}

/* ---- limits ---- */

TEST(limits__one_more__is_refused)
{
	struct ibv_srq_init_attr shared = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_qp_init_attr init = { .cap = { 4, 4, 1, 1, 0 }, .qp_type = IBV_QPT_RC };
	struct ibv_qp_attr attr = { .max_dest_rd_atomic = 3 };
	struct ibv_ah_attr address = { .port_num = 1, .dlid = 1 };
	struct ibv_context *context, *free_context;
	struct ibv_device_attr limits;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct ibv_ah *ah;
	struct ibv_qp *qp;
	struct ibv_srq *srq;
	char bytes[64];

	topology_is(
	    "2; soft0 max_pd=1 max_cq=1 max_cqe=8 max_mr=1 max_mr_size=32 max_mw=1 max_ah=1 "
	    "max_qp=1 max_qp_wr=4 max_sge=1 max_srq=1 max_srq_wr=4 max_srq_sge=1 "
	    "device_cap_flags=0x20000");
	context = topology_open("soft0");
	free_context = topology_open("soft1");
	ck_assert_int_eq(ibv_query_device(context, &limits), 0);
	ck_assert_int_eq(limits.max_cqe, 8);
#define REFUSED(call, error) \
	do { \
		errno = 0; \
		ck_assert_msg(!(call), #call); \
		ck_assert_int_eq(errno, error); \
	} while (0)
	pd = ibv_alloc_pd(context);
	REFUSED(ibv_alloc_pd(context), ENOMEM);
	REFUSED(ibv_create_cq(context, 9, NULL, NULL, 0), EINVAL);
	cq = ibv_create_cq(context, 8, NULL, NULL, 0);
	REFUSED(ibv_create_cq(context, 8, NULL, NULL, 0), ENOMEM);
	ck_assert_int_eq(ibv_resize_cq(cq, 9), EINVAL);
	REFUSED(ibv_reg_mr(pd, bytes, 33, 0), EINVAL);
	mr = ibv_reg_mr(pd, bytes, 32, 0);
	REFUSED(ibv_reg_mr(pd, bytes, 32, 0), ENOMEM);
	mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
	ck_assert_ptr_nonnull(mw);
	REFUSED(ibv_alloc_mw(pd, IBV_MW_TYPE_1), ENOMEM);
	REFUSED(ibv_alloc_mw(pd, IBV_MW_TYPE_2), EOPNOTSUPP);
	ah = ibv_create_ah(pd, &address);
	REFUSED(ibv_create_ah(pd, &address), ENOMEM);
	shared.attr.max_wr = 5;
	REFUSED(ibv_create_srq(pd, &shared), EINVAL);
	shared.attr.max_wr = 4;
	shared.attr.max_sge = 2;
	REFUSED(ibv_create_srq(pd, &shared), EINVAL);
	shared.attr.max_sge = 1;
	srq = ibv_create_srq(pd, &shared);
	REFUSED(ibv_create_srq(pd, &shared), ENOMEM);
	ck_assert_int_eq(ibv_modify_srq(srq, &shared.attr, IBV_SRQ_MAX_WR), EINVAL);
	init.send_cq = init.recv_cq = cq;
	init.cap.max_send_wr = 5;
	REFUSED(ibv_create_qp(pd, &init), EINVAL);
	init.cap.max_send_wr = 4;
	init.cap.max_recv_sge = 2;
	REFUSED(ibv_create_qp(pd, &init), EINVAL);
	init.cap.max_recv_sge = 1;
	qp = ibv_create_qp(pd, &init);
	ck_assert_ptr_nonnull(qp);
	REFUSED(ibv_create_qp(pd, &init), ENOMEM);
	ck_assert_int_ne(ibv_modify_qp(qp, &attr, IBV_QP_MAX_DEST_RD_ATOMIC), 0);
	/* What is destroyed makes room. */
	ibv_destroy_qp(qp);
	ibv_destroy_srq(srq);
	ibv_destroy_ah(ah);
	ibv_dealloc_mw(mw);
	ibv_dereg_mr(mr);
	ck_assert_ptr_nonnull(qp = ibv_create_qp(pd, &init));
	ck_assert_ptr_nonnull(srq = ibv_create_srq(pd, &shared));
	ck_assert_ptr_nonnull(ah = ibv_create_ah(pd, &address));
	ck_assert_ptr_nonnull(mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1));
	ck_assert_ptr_nonnull(mr = ibv_reg_mr(pd, bytes, 32, 0));
	ibv_destroy_qp(qp);
	ibv_destroy_srq(srq);
	ibv_destroy_ah(ah);
	ibv_dealloc_mw(mw);
	ibv_dereg_mr(mr);
	ibv_destroy_cq(cq);
	ibv_dealloc_pd(pd);
	/* The other device has its own. */
	cq = ibv_create_cq(free_context, 9, NULL, NULL, 0);
	ck_assert_ptr_nonnull(cq);
	ibv_destroy_cq(cq);
	ibv_close_device(free_context);
	ibv_close_device(context);
}

TEST(limits__reads_and_atomics__are_those_of_the_device)
{
	struct ibv_qp_init_attr init = { .cap = { 4, 4, 2, 2, 0 }, .qp_type = IBV_QPT_RC };
	struct ibv_ah_attr address;
	struct ibv_sge sge[2] = { { 0 }, { 0 } };
	struct ibv_send_wr wr = { .sg_list = sge, .num_sge = 2, .opcode = IBV_WR_RDMA_READ }, *bad;
	struct end a;

	topology_is("1; soft0 max_qp_rd_atom=2 max_qp_init_rd_atom=1 max_sge_rd=1 atomic_cap=none");
	end_open(&a, "soft0", 1, IBV_QPT_RC);
	ibv_destroy_qp(a.qp);
	init.send_cq = init.recv_cq = a.cq;
	a.qp = ibv_create_qp(a.pd, &init);
	ck_assert_ptr_nonnull(a.qp);
	{
		struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };

		ck_assert_int_eq(
		    ibv_modify_qp(a.qp, &attr,
			IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
		    0);
		attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR,
			.path_mtu = IBV_MTU_256,
			.max_dest_rd_atomic = 3,
			.ah_attr = { .dlid = 1, .port_num = 1 } };
		ck_assert_int_eq(
		    ibv_modify_qp(a.qp, &attr,
			IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
		    EINVAL);
	}
	address = end_address(&a, &a, -1);
	ck_assert_int_eq(end_connect(&a, a.qp->qp_num, &address), 0);
	ck_assert_int_eq(ibv_post_send(a.qp, &wr, &bad), EINVAL);
	wr.num_sge = 1;
	wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	ck_assert_int_eq(ibv_post_send(a.qp, &wr, &bad), EINVAL);
	end_close(&a);
}

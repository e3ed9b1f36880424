/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A session of the target whose initiator, adapter and disk do what an input says.
 *
 * The first byte says how the session begins.  Steps follow: a PDU, of any kind and with any data;
 * a request that completes; a read or write of the disk that ends; a deadline.  In the end the
 * initiator vanishes.  Then everything must end, and be given back, and no byte has been moved that
 * is outside of the LUN or of what the initiator has named.
 */
#include "softverbs/test/fuzz/fuzz.h"

#include "dapltest/iser/fake_dat.h"

#include "iser/datamover/bell.h"
#include "iser/iscsi/session.h"
#include "iser/iscsi/target.h"
#include "iser/scsi/io.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "iqn.2026-11.test:target"
#define STEPS 200
#define LUN_BYTES (64 << 10)
#define MOST (16 << 10) /* bytes of a command */
#define PDU_BYTES 1024	/* of data in a PDU */
#define READ_STAG 0x11110000
#define WRITE_STAG 0x22220000
#define ADDRESS UINT64_C(0x7700000000)

/* What the first byte says. */
#define LOGGED_IN 1
#define SECRETS 2
#define DISCOVERY 4

#define found_unless(condition) \
	do { \
		if (!(condition)) \
			fuzz_found("%s:%d: not so: %s", __FILE__, __LINE__, #condition); \
	} while (0)

static struct target_options options = {
	.name = NAME,
	.portals = { { .port = 3260 } },
	.portal_count = 1,
	.limits = {
		.initial_r2t = false,
		.max_burst = 64 << 10,
		.first_burst = 8 << 10,
		.target_recv = PDU_BYTES,
		.initiator_recv = 8192,
		.unexpected = 4,
	},
	.window = 4,
	.max_sessions = 1,
	.ping = 5,
	.login_timeout = 15,
};

static struct bell bell;
static struct target target;
static struct session *session;
static struct chap_secrets *secrets;
static struct io_request *first, **last; /* of the disk: those that have not ended */
static int disk;
static unsigned long inputs[2]; /* of logins; of what follows them */

/* ---- in place of the messages, and of the ring and its threads: -Wl,--wrap ---- */

void __wrap_say(const char *format, ...);
void __wrap_say_dat(const char *call, DAT_RETURN ret, const char *format, ...);
int __wrap_io_open(struct io **io, enum scsi_engine engine, unsigned int threads);
void __wrap_io_close(struct io *io);
bool __wrap_io_has_ring(const struct io *io);
void __wrap_io_submit(struct io *io, struct io_request *request);

void
__wrap_say(const char *format, ...)
{
	va_list args;
	char text[1024];

	/* As far as the making of the text. */
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
}

void
__wrap_say_dat(const char *call, DAT_RETURN ret, const char *format, ...)
{
	(void)format;
	fuzz_found("%s() failed: 0x%x", call, (unsigned int)ret);
}

int
__wrap_io_open(struct io **io, enum scsi_engine engine, unsigned int threads)
{
	(void)engine, (void)threads;
	*io = NULL;
	first = NULL;
	last = &first;
	return 0;
}

void
__wrap_io_close(struct io *io)
{
	(void)io;
	found_unless(!first);
}

bool
__wrap_io_has_ring(const struct io *io)
{
	(void)io;
	return false;
}

void
__wrap_io_submit(struct io *io, struct io_request *request)
{
	(void)io;
	request->next = NULL;
	*last = request;
	last = &request->next;
}

/* The oldest ends. */
static void
disk_ends(bool well)
{
	struct io_request *request = first;
	size_t bytes = 0;
	int64_t result = 0;

	if (!request)
		return;
	first = request->next;
	if (!first)
		last = &first;
	for (unsigned int i = 0; i < request->iov_count; i++)
		bytes += request->iov[i].iov_len;
	if (request->operation == IO_JOB)
		result = request->job(request);
	else
		found_unless(bytes <= LUN_BYTES && request->at <= LUN_BYTES - bytes);
	if (!well)
		result = -EIO;
	else if (request->operation == IO_READ)
		result = preadv(disk, request->iov, (int)request->iov_count, (off_t)request->at);
	else if (request->operation == IO_WRITE || request->operation == IO_WRITE_SYNC)
		result = pwritev(disk, request->iov, (int)request->iov_count, (off_t)request->at);
	request->done(request, result);
	fake_run();
}

/* ---- the adapter ---- */

/* The oldest request completes.  An RDMA read brings data; what a write or a send takes is read. */
static bool
request_completes(DAT_DTO_COMPLETION_STATUS status)
{
	static volatile unsigned char sink;
	const struct fake_work *work = fake.work;
	unsigned char *local;

	while (work < fake.work + fake.works && work->kind == DAT_DTO_RECEIVE)
		work++;
	if (work == fake.work + fake.works)
		return false;
	local = (void *)(uintptr_t)work->local.virtual_address;
	if (work->kind != DAT_DTO_SEND) {
		const bool reads = work->kind == DAT_DTO_RDMA_READ;

		found_unless(work->remote.rmr_context == (reads ? WRITE_STAG : READ_STAG));
		found_unless(work->remote.virtual_address == ADDRESS);
		found_unless(work->local.segment_length <= MOST);
		found_unless(work->remote.segment_length == work->local.segment_length);
		found_unless(
		    local >= target.pool.region.base &&
		    work->local.segment_length <=
			target.pool.region.bytes - (size_t)(local - target.pool.region.base));
		if (reads && status == DAT_DTO_SUCCESS)
			memset(local, 'r', work->local.segment_length);
	}
	for (DAT_SEG_LENGTH i = 0; i < work->local.segment_length; i += 64)
		sink = local[i];
	(void)sink;
	fake_complete(work->kind, status);
	return true;
}

/* ---- the initiator ---- */

static void
deliver(const struct iser_header *header, unsigned char *wire, size_t bytes)
{
	iser_header_encode(header, wire);
	if (fake_posted(DAT_DTO_RECEIVE) > 0)
		fake_receive(wire, (DAT_SEG_LENGTH)(ISER_HEADER_BYTES + bytes));
}

/* One that is right, for what comes behind it. */
static void
log_in(bool discovery)
{
	static const char normal[] = "InitiatorName=iqn.x:y\0TargetName=" NAME
				     "\0RDMAExtensions=Yes\0InitialR2T=No\0ImmediateData=Yes";
	static const char finds[] = "InitiatorName=iqn.x:y\0SessionType=Discovery";
	const size_t bytes = discovery ? sizeof finds : sizeof normal;
	unsigned char wire[ISER_HEADER_BYTES + ISCSI_BHS_BYTES + sizeof normal] = { 0 };
	unsigned char *bhs = wire + ISER_HEADER_BYTES;

	bhs[0] = PDU_LOGIN | PDU_IMMEDIATE;
	bhs[PDU_FLAGS] = PDU_FINAL | 1 << 2 | 3;
	wire_put24(bhs + PDU_DATA, (uint32_t)bytes);
	memcpy(bhs + ISCSI_BHS_BYTES, discovery ? finds : normal, bytes);
	deliver(&(struct iser_header){ .read_valid = false }, wire, ISCSI_BHS_BYTES + bytes);
	(void)request_completes(DAT_DTO_SUCCESS);
	found_unless(session->state == SESSION_FULL);
}

/*
 * A byte says which of the things that must fit do so: lengths, serial numbers, iSER's header; the
 * header and the data follow.
 */
static void
send_pdu(void)
{
	unsigned char wire[ISER_HEADER_BYTES + ISCSI_BHS_BYTES + PDU_BYTES] = { 0 };
	unsigned char *bhs = wire + ISER_HEADER_BYTES;
	const unsigned int how = input8();
	const struct iser_header header = {
		.read_valid = how & 1,
		.write_valid = how & 2,
		.read_stag = READ_STAG,
		.write_stag = WRITE_STAG,
		.read_address = ADDRESS,
		.write_address = ADDRESS,
	};
	const size_t bytes = how & 4 ? input16() % (PDU_BYTES + 1) : input8() % 64;

	for (int i = 0; i < ISCSI_BHS_BYTES; i++)
		bhs[i] = input8();
	for (size_t i = 0; i < bytes; i++)
		bhs[ISCSI_BHS_BYTES + i] = input8();
	if (!(how & 8))
		wire_put24(bhs + PDU_DATA, (uint32_t)bytes);
	if (!(how & 16))
		bhs[PDU_AHS] = 0;
	if (!(how & 32))
		wire_put32(bhs + PDU_CMDSN, session->expcmdsn);
	if (how & 64) {
		wire[0] = input8(); /* cut short, or a header that is none */
		if (fake_posted(DAT_DTO_RECEIVE) > 0)
			fake_receive(wire, input16() % (ISER_HEADER_BYTES + ISCSI_BHS_BYTES));
	} else {
		deliver(&header, wire, ISCSI_BHS_BYTES + bytes);
	}
}

static void
step(void)
{
	const unsigned int dice = input8();

	if (dice < 144)
		send_pdu();
	else if (dice < 200)
		(void)request_completes(dice < 196 ? DAT_DTO_SUCCESS : DAT_DTO_ERR_REMOTE_ACCESS);
	else if (dice < 248)
		disk_ends(dice < 244);
	else if (dice < 252)
		session_call(session, &session->tick);
	else
		session_call(session, dice & 1 ? &session->stop : &session->replace);
	fake_run();
}

/* ---- the begin and the end ---- */

static void
print_inputs(void)
{
	fprintf(stderr, "%lu inputs of logins, %lu of sessions\n", inputs[0], inputs[1]);
}

static void
begin_process(void)
{
	char path[] = "/tmp/fuzz-iser-XXXXXX";
	unsigned int line;
	int fd = mkstemp(path);

	found_unless(fd >= 0 && write(fd, "me open-sesame\n", 15) == 15 && close(fd) == 0);
	found_unless(chap_load(path, &secrets, &line) == 0 && unlink(path) == 0);
	disk = memfd_create("disk", MFD_CLOEXEC);
	found_unless(disk >= 0 && bell_init(&bell) == 0);
	pthread_mutex_init(&target.lock, NULL);
	target.options = &options;
	target.bell = &bell;
	target.adapter.bell = &bell;
	atexit(print_inputs);
}

static void
begin(unsigned int how)
{
	const struct scsi_target_options scsi = { .port_name = NAME ",t,0x0001" };
	char path[32];
	const struct scsi_lun_options lun = { .path = path, .max_transfer_bytes = MOST };

	snprintf(path, sizeof path, "/proc/self/fd/%d", disk);
	found_unless(ftruncate(disk, 0) == 0 && ftruncate(disk, LUN_BYTES) == 0);
	fake_reset();
	found_unless(scsi_target_open(&target.scsi, &scsi) == 0);
	found_unless(scsi_lun_open(target.scsi, 0, &lun) == 0);
	/* Of so little memory that commands wait. */
	found_unless(pool_create(&target.pool, NULL, NULL, 2 * MOST, MOST, 1) == DAT_SUCCESS);
	options.secrets = how & SECRETS && !(how & LOGGED_IN) ? secrets : NULL;
	session = session_new(&target, 0);
	found_unless(session != NULL);
	target.sessions = session;
	found_unless(mover_accept(&session->mover, NULL) == DAT_SUCCESS);
	fake_queue_connection(DAT_CONNECTION_EVENT_ESTABLISHED);
	fake_run();
	if (how & LOGGED_IN)
		log_in(how & DISCOVERY);
}

static void
end(void)
{
	struct stat st;

	if (mover_state(&session->mover) != MOVER_CLOSED)
		fake_queue_connection(DAT_CONNECTION_EVENT_DISCONNECTED);
	fake_run();
	while (fake_posted(DAT_DTO_RECEIVE) > 0)
		fake_complete(DAT_DTO_RECEIVE, DAT_DTO_ERR_FLUSHED);
	do
		while (request_completes(DAT_DTO_ERR_FLUSHED))
			;
	while (first && (disk_ends(true), true));
	found_unless(mover_state(&session->mover) == MOVER_CLOSED);
	found_unless(mover_is_finished(&session->mover));
	/* No input has the answer to a challenge. */
	found_unless(!options.secrets || !session->is_full);
	found_unless(session_free(session) == 0);
	found_unless(target.pool.used == 0 && !target.pool.first);
	found_unless(pool_free(&target.pool) == DAT_SUCCESS);
	scsi_target_close(target.scsi);
	found_unless(fake.lmrs + fake.evds + fake.eps == 0);
	found_unless(fstat(disk, &st) == 0 && st.st_size == LUN_BYTES);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	unsigned int how;

	if (!secrets)
		begin_process();
	input_set(data, length);
	how = input8();
	inputs[how & LOGGED_IN]++;
	begin(how);
	for (int i = 0; i < STEPS && input_left(); i++)
		step();
	end();
	return 0;
}

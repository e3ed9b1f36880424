/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * input -- which thread reads what another process writes into shared memory, and which one is
 * notified
 *
 * The test plays the other process.  It can leave out a notification, because the thread that is
 * tested must find the frame without it.
 */
#include "line.h"
#include "story.h"
#include "lib/feature.h"

#include "softverbs/device/guard.h"
#include "softverbs/device/knock.h"
#include "softverbs/device/names.h"
#include "softverbs/device/slot.h"
#include "softverbs/device/timer.h"
#include "softverbs/fault/command.h"
#include "softverbs/soft_arm.h"
#include "softverbs/wire/input.h"
#include "softverbs/wire/peer.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif
#define RING_BYTES (512u << 10)

static struct side a; /* connected to the queue pair that the test plays */
static unsigned int slot;
static int door, line;
static struct soft_rings rings; /* of the line */
static int knocker;		/* our socket to wake threads of the device */
static uint32_t psn;		/* of the next request of the test */

static uint32_t
peer_qpn(void)
{
	return slot << 14 | 5;
}

static void
device_make(void)
{
	const struct side_options patient = { .patient = true };

	psn = side_psn;
	side_make(&a, NULL);
	slot = line_slot_take(&door);
	side_to_init(&a, NULL);
	side_to_rtr(&a, peer_qpn());
	side_to_rts(&a, &patient);
	line = line_open(soft_slot_number());
}

static void
device_free(void)
{
	close(line);
	line_slot_leave(slot, door);
	side_free(&a);
}

static void
teardown(void)
{
	device_free();
	close(knocker);
	soft_rings_unmap(&rings);
}

/* Writes a frame without a notification. */
static void
write_quietly(struct soft_frame frame, const void *payload)
{
	const struct iovec iov = { (void *)(uintptr_t)payload, frame.length };

	ck_assert_int_eq(soft_ring_put(&rings.out, &frame, &iov, frame.length ? 1 : 0), 0);
}

static void
notify_progress(void)
{
	line_send(line, "n", 1);
}

/* A message of 8 bytes to a queue pair. */
static void
write_message_to(const struct side *side, uint32_t from, uint32_t number)
{
	write_quietly(
	    (struct soft_frame){
		.length = 8,
		.total = 8,
		.type = SOFT_FRAME_REQUEST,
		.opcode = IBV_WR_SEND,
		.flags = SOFT_FRAME_FIRST | SOFT_FRAME_LAST,
		.qpn = side->qp->qp_num,
		.from = from,
		.psn = number & SOFT_PSN_MASK,
	    },
	    "message");
}

static void
write_message(void)
{
	write_message_to(&a, peer_qpn(), psn++);
}

/* A request to a queue pair that is not there. */
static struct soft_frame
stray(void)
{
	return (struct soft_frame){
		.type = SOFT_FRAME_REQUEST,
		.opcode = IBV_WR_RDMA_WRITE,
		.flags = SOFT_FRAME_FIRST | SOFT_FRAME_LAST,
		.qpn = soft_slot_number() << 14 | 0x3fff,
		.from = slot << 14,
	};
}

static void
expect_served(void)
{
	write_quietly(stray(), NULL);
	notify_progress();
	line_expect_frame(&rings.in, SOFT_FRAME_NAK);
}

/* When it has served us, the link is known to the threads of the program, too. */
static void
setup(void)
{
	device_make();
	line_share(line, slot, &rings);
	knocker = soft_knock_connect(soft_slot_number());
	ck_assert_int_ge(knocker, 0);
	expect_served();
	line_expect_byte(line);
}

static void
await_alarm(enum soft_ring_alarm wanted)
{
	for (int i = 0; i < (int)runner_stretch(10000); i++) {
		if (soft_ring_armed(&rings.out) == wanted)
			return;
		sleep_ms(1);
	}
	ck_abort_msg("the device asks for %d, not for %d", soft_ring_armed(&rings.out), wanted);
}

/* Takes the memory of the device; its data is not pulled. */
static struct soft_welcome_frame
welcome_of_rings(void)
{
	return (struct soft_welcome_frame){ .frame = { .length = sizeof(struct soft_wire_grant),
						.type = SOFT_FRAME_WELCOME,
						.opcode = SOFT_WELCOME_RINGS } };
}

/* --- the progress thread */

CASE("soft-input:notified", setup, teardown);

TEST(progress_thread__is_notified_and_notifies)
{
	for (int i = 0; i < 20; i++) {
		soft_ring_arm(&rings.in, SOFT_ALARM_PROGRESS);
		write_quietly(stray(), NULL);
		await_alarm(SOFT_ALARM_PROGRESS);
		ck_assert_int_eq(soft_ring_take_alarm(&rings.out), SOFT_ALARM_PROGRESS);
		notify_progress();
		line_expect_byte(line);
		line_expect_frame(&rings.in, SOFT_FRAME_NAK);
	}
}

CASE("soft-input:bell");

/* The other process has a socket for knocks before its hello is answered. */
TEST(our_waiting_thread__is_notified_by_a_knock)
{
	struct sockaddr_un address;
	struct pollfd pfd = { .events = POLLIN };
	socklen_t length;

	device_make();
	length = soft_name_knock_address(&address, slot);
	pfd.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(pfd.fd, (struct sockaddr *)&address, length), 0);
	line_share(line, slot, &rings);
	soft_ring_arm(&rings.in, SOFT_ALARM_WAITER);
	write_quietly(stray(), NULL);
	notify_progress();
	ck_assert_int_eq(poll(&pfd, 1, (int)runner_stretch(10000)), 1);
	line_expect_frame(&rings.in, SOFT_FRAME_NAK);
	device_free();
	soft_rings_unmap(&rings);
	close(pfd.fd);
}

/* The progress thread of the other process is woken instead. */
TEST(our_waiting_thread__without_a_socket_for_knocks__is_notified_by_a_byte)
{
	device_make();
	line_share(line, slot, &rings);
	soft_ring_arm(&rings.in, SOFT_ALARM_WAITER);
	write_quietly(stray(), NULL);
	notify_progress();
	line_expect_byte(line);
	line_expect_frame(&rings.in, SOFT_FRAME_NAK);
	device_free();
	soft_rings_unmap(&rings);
}

/* --- threads of the program */

CASE("soft-input:reads", setup, teardown);

TEST(poll_of_an_empty_queue__reads_and_the_acknowledgement_is_not_forgotten)
{
	for (uint64_t i = 0; i < 20; i++) {
		side_receive(&a, i, 0, 8);
		soft_ring_arm(&rings.in, SOFT_ALARM_PROGRESS);
		write_message();
		cq_expect(a.cq, i, IBV_WC_SUCCESS);
		/* The program does nothing more, and no notification is under way. */
		line_expect_byte(line);
		line_expect_frame(&rings.in, SOFT_FRAME_ACK);
	}
}

TEST(program_that_stops_polling__leaves_the_ring_to_the_progress_thread)
{
	for (uint64_t i = 0; i < 20; i++) {
		side_receive(&a, i, 0, 8);
		write_message();
		cq_expect(a.cq, i, IBV_WC_SUCCESS);
		(void)soft_ring_take_alarm(&rings.out);
		cq_expect_empty(a.cq);
		side_receive(&a, i, 0, 8);
		write_message();
		cq_expect(a.cq, i, IBV_WC_SUCCESS);
		await_alarm(SOFT_ALARM_PROGRESS);
	}
}

TEST(request_for_notification__asks_for_an_alarm_and_reads_again)
{
	bool there;

	for (uint64_t i = 0; i < 20; i++) {
		side_receive(&a, i, 0, 8);
		(void)soft_ring_take_alarm(&rings.out);
		write_message();
		there = soft_cq_arm(a.cq, 0);
		ck_assert_int_eq(soft_ring_armed(&rings.out), SOFT_ALARM_PROGRESS);
		if (!there) /* else the progress thread was first */
			channel_expect(a.channel, a.cq);
		cq_expect(a.cq, i, IBV_WC_SUCCESS);
	}
}

static void *
wait_for_event(void *unused)
{
	struct ibv_cq *cq;
	void *context;

	(void)unused;
	ck_assert_int_eq(ibv_get_cq_event(a.channel, &cq, &context), 0);
	ck_assert_ptr_eq(cq, a.cq);
	ibv_ack_cq_events(cq, 1);
	return NULL;
}

TEST(waiting_thread__is_notified_by_a_knock_and_reads)
{
	pthread_t thread;

	for (uint64_t i = 0; i < 20; i++) {
		side_receive(&a, i, 0, 8);
		ck_assert_int_eq(ibv_req_notify_cq(a.cq, 0), 0);
		ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_event, NULL), 0);
		await_alarm(SOFT_ALARM_WAITER);
		soft_ring_arm(&rings.in, SOFT_ALARM_PROGRESS);
		write_message();
		ck_assert_int_eq(soft_ring_take_alarm(&rings.out), SOFT_ALARM_WAITER);
		ck_assert(soft_knock(knocker));
		ck_assert_int_eq(pthread_join(thread, NULL), 0);
		cq_expect(a.cq, i, IBV_WC_SUCCESS);
		line_expect_byte(line);
		line_expect_frame(&rings.in, SOFT_FRAME_ACK);
	}
}

/* --- a frame that comes after the last read, when the rings are not armed yet */

void __real_soft_peers_arm(enum soft_ring_alarm alarm, bool keep);
void __wrap_soft_peers_arm(enum soft_ring_alarm alarm, bool keep);

static void (*_Atomic before_arm)(void);

void
__wrap_soft_peers_arm(enum soft_ring_alarm alarm, bool keep)
{
	void (*const run)(void) = atomic_exchange(&before_arm, NULL);

	if (run)
		run();
	__real_soft_peers_arm(alarm, keep);
}

/* The other process sends no notification: no alarm is armed. */
static void
write_before_the_arm(void)
{
	(void)soft_ring_take_alarm(&rings.out);
	write_message();
}

TEST(frame_comes_before_the_arm__of_the_progress_thread__is_read)
{
	side_receive(&a, 1, 0, 8);
	side_receive(&a, 2, 0, 8);
	await_alarm(SOFT_ALARM_PROGRESS);
	before_arm = write_before_the_arm;
	write_message();
	notify_progress();
	line_expect_frame(&rings.in, SOFT_FRAME_ACK);
	line_expect_frame(&rings.in, SOFT_FRAME_ACK);
	ck_assert_ptr_null((void *)(uintptr_t)before_arm);
}

TEST(frame_comes_before_the_arm__of_a_request_for_notification__is_read)
{
	side_receive(&a, 1, 0, 8);
	await_alarm(SOFT_ALARM_PROGRESS);
	before_arm = write_before_the_arm;
	ck_assert_int_eq(ibv_req_notify_cq(a.cq, 0), 0);
	channel_expect(a.channel, a.cq);
	cq_expect(a.cq, 1, IBV_WC_SUCCESS);
}

TEST(frame_comes_before_the_arm__of_a_thread_that_waits__is_read)
{
	side_receive(&a, 1, 0, 8);
	ck_assert_int_eq(ibv_req_notify_cq(a.cq, 0), 0);
	await_alarm(SOFT_ALARM_PROGRESS);
	before_arm = write_before_the_arm;
	wait_for_event(NULL);
	cq_expect(a.cq, 1, IBV_WC_SUCCESS);
}

/* The alarm stays that of the thread, which reads for both. */
TEST(request_for_notification_while_a_thread_waits__does_not_take_its_alarm)
{
	pthread_t thread;

	for (uint64_t i = 0; i < 20; i++) {
		side_receive(&a, i, 0, 8);
		ck_assert_int_eq(ibv_req_notify_cq(a.cq, 0), 0);
		ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_event, NULL), 0);
		await_alarm(SOFT_ALARM_WAITER);
		ck_assert_int_eq(ibv_req_notify_cq(a.cq, 0), 0);
		write_message();
		ck_assert_int_eq(soft_ring_take_alarm(&rings.out), SOFT_ALARM_WAITER);
		ck_assert(soft_knock(knocker));
		ck_assert_int_eq(pthread_join(thread, NULL), 0);
		cq_expect(a.cq, i, IBV_WC_SUCCESS);
	}
}

static atomic_uint expired;

static void
count_expired(struct soft_timer *timer)
{
	(void)timer;
	expired++;
}

/* The end of a lease does not stop the progress thread at the lock of the thread that reads. */
TEST(thread_that_reads_for_long__does_not_delay_timers)
{
	struct soft_timer probe;

	soft_timer_init(&probe, count_expired);
	for (unsigned int i = 0; i < 20; i++) {
		side_receive(&a, i, 0, 8);
		soft_ring_arm(&rings.in, SOFT_ALARM_PROGRESS);
		write_message();
		cq_expect(a.cq, i, IBV_WC_SUCCESS);
		soft_input_lock();
		/* Behind the lease, which began with the message. */
		soft_timer_start(&probe, soft_now() + 3 * SOFT_MILLISECOND);
		for (int j = 0; j < (int)runner_stretch(10000) && expired == i; j++)
			sleep_ms(1);
		soft_input_unlock();
		ck_assert_uint_eq(expired, i + 1);
		/* The lease was taken again, so the acknowledgement is not forgotten. */
		line_expect_byte(line);
		line_expect_frame(&rings.in, SOFT_FRAME_ACK);
	}
}

TEST(thread_that_begins_to_wait__reads_what_is_there)
{
	for (uint64_t i = 0; i < 20; i++) {
		side_receive(&a, i, 0, 8);
		ck_assert_int_eq(ibv_req_notify_cq(a.cq, 0), 0);
		(void)soft_ring_take_alarm(&rings.out);
		write_message();
		wait_for_event(NULL);
		cq_expect(a.cq, i, IBV_WC_SUCCESS);
	}
}

/* Another queue pair of the device, with a queue on that channel. */
static void
second_make(struct side *second, struct ibv_comp_channel *channel)
{
	const struct side_options patient = { .patient = true };

	*second = a;
	second->channel = channel;
	second->cq = ibv_create_cq(a.context, 16, second, channel, 0);
	ck_assert_ptr_nonnull(second->cq);
	side_new_qp(second);
	side_to_init(second, NULL);
	side_to_rtr(second, peer_qpn() + 1);
	side_to_rts(second, &patient);
}

static void
second_free(struct side *second)
{
	ck_assert_int_eq(ibv_destroy_qp(second->qp), 0);
	ck_assert_int_eq(ibv_destroy_cq(second->cq), 0);
}

/* The thread reads messages for two queues, and takes one event. */
static void
two_events_for_a_thread(struct side *second)
{
	for (uint32_t i = 0; i < 20; i++) {
		side_receive(&a, i, 0, 8);
		side_receive(second, i, 0, 8);
		ck_assert_int_eq(ibv_req_notify_cq(a.cq, 0), 0);
		ck_assert_int_eq(ibv_req_notify_cq(second->cq, 0), 0);
		(void)soft_ring_take_alarm(&rings.out);
		write_message();
		write_message_to(second, peer_qpn() + 1, side_psn + i);
		wait_for_event(NULL);
		channel_expect(second->channel, second->cq);
		channel_expect_no_event(second->channel);
		channel_expect_no_event(a.channel);
		cq_expect(a.cq, i, IBV_WC_SUCCESS);
		cq_expect(second->cq, i, IBV_WC_SUCCESS);
	}
}

TEST(waiting_thread_reads_what_is_for_another_channel__that_becomes_readable)
{
	struct side second;

	second_make(&second, ibv_create_comp_channel(a.context));
	two_events_for_a_thread(&second);
	second_free(&second);
	ck_assert_int_eq(ibv_destroy_comp_channel(second.channel), 0);
}

TEST(waiting_thread_reads_two_events_and_takes_one__its_channel_stays_readable)
{
	struct side second;

	second_make(&second, a.channel);
	two_events_for_a_thread(&second);
	second_free(&second);
}

/* The same thread reads later, when it does not wait. */
TEST(thread_has_waited_and_polls__the_channel_becomes_readable)
{
	for (uint64_t i = 0; i < 20; i++) {
		for (int waits = 1; waits >= 0; waits--) {
			side_receive(&a, i, 0, 8);
			ck_assert_int_eq(ibv_req_notify_cq(a.cq, 0), 0);
			(void)soft_ring_take_alarm(&rings.out);
			write_message();
			if (waits)
				wait_for_event(NULL);
			cq_expect(a.cq, i, IBV_WC_SUCCESS);
		}
		channel_expect(a.channel, a.cq);
		channel_expect_no_event(a.channel);
	}
}

static void
take_signal(int signal)
{
	(void)signal;
}

static void *
wait_for_signal(void *unused)
{
	struct ibv_cq *cq;
	void *context;

	(void)unused;
	ck_assert_int_eq(ibv_get_cq_event(a.channel, &cq, &context), -1);
	ck_assert_int_eq(errno, EINTR);
	return NULL;
}

/* What it asked for would be a knock that no thread takes. */
TEST(thread_that_stops_waiting__leaves_the_ring_to_the_progress_thread)
{
	const struct sigaction action = { .sa_handler = take_signal };
	pthread_t thread;

	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	for (int i = 0; i < 20; i++) {
		ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_signal, NULL), 0);
		await_alarm(SOFT_ALARM_WAITER);
		while (pthread_tryjoin_np(thread, NULL)) {
			pthread_kill(thread, SIGUSR1);
			sleep_ms(1);
		}
		await_alarm(SOFT_ALARM_PROGRESS);
	}
}

/* No thread asks the other process for knocks any more. */
/* origin: out33.U15 */
TEST_LOOP(knock_with_a_descriptor__is_the_last__and_the_progress_thread_reads, 2)
{
	const struct sigaction action = { .sa_handler = take_signal };
	struct ibv_cq *cq;
	pthread_t thread;
	void *context;

	soft_guard_begin(-1); /* as on a kernel that does not refuse descriptors */
	(void)setsockopt(soft_knock_fd(), SOL_SOCKET, SO_PASSRIGHTS, &(int){ 1 }, sizeof(int));
	ck_assert(soft_knock(knocker));
	ck_assert(soft_knock_take());
	ck_assert_int_ge(soft_knock_fd(), 0);
	if (_i) {
		ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
		ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_signal, NULL), 0);
		await_alarm(SOFT_ALARM_WAITER);
	}
	ck_assert(line_try_descriptors(knocker, &line, 1));
	if (_i) {
		await_alarm(SOFT_ALARM_PROGRESS);
		while (pthread_tryjoin_np(thread, NULL)) {
			pthread_kill(thread, SIGUSR1);
			sleep_ms(1);
		}
	} else {
		ck_assert(!soft_knock_take());
	}
	ck_assert_int_eq(soft_knock_fd(), -1);
	ck_assert(!soft_knock(knocker));
	side_receive(&a, 1, 0, 8);
	ck_assert_int_eq(ibv_req_notify_cq(a.cq, 0), 0);
	await_alarm(SOFT_ALARM_PROGRESS);
	write_message();
	notify_progress();
	ck_assert_int_eq(ibv_get_cq_event(a.channel, &cq, &context), 0);
	ibv_ack_cq_events(cq, 1);
}

/* The poll finds it and has the progress thread woken, which sends a reply. */
TEST(message_of_the_connection_manager__is_left_to_the_progress_thread)
{
	const struct soft_wire_cm disconnect = { .type = 5, .from = 77, .to = 99999 };

	for (int i = 0; i < 20; i++) {
		write_quietly(
		    (struct soft_frame){ .type = SOFT_FRAME_CM, .length = sizeof disconnect },
		    &disconnect);
		cq_expect_empty(a.cq);
		line_expect_frame(&rings.in, SOFT_FRAME_CM);
	}
}

/* --- many frames at once */

/* A write of 8 bytes, to the place of its number. */
static void
write_quietly_to(uint32_t place)
{
	uint64_t value = place + 1;

	write_quietly(
	    (struct soft_frame){
		.length = 8,
		.total = 8,
		.type = SOFT_FRAME_REQUEST,
		.opcode = IBV_WR_RDMA_WRITE,
		.flags = SOFT_FRAME_FIRST | SOFT_FRAME_LAST,
		.qpn = a.qp->qp_num,
		.from = peer_qpn(),
		.psn = psn++ & SOFT_PSN_MASK,
		.address = (uintptr_t)a.bytes + 8ul * place,
		.rkey = a.mr->rkey,
	    },
	    &value);
}

CASE("soft-input:many", setup, teardown);

/* More than one turn has; each turn ends between two frames, in either thread. */
TEST_LOOP(frames__as_many_as_a_turn_and_more__are_all_executed, 2)
{
	static const uint32_t numbers[] = { 1, 2, 63, 64, 65, 127, 128, 129, 200, 700 };
	const uint64_t *places = (const uint64_t *)(const void *)a.bytes;
	struct soft_frame frame;

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		memset(a.bytes, 0, SIDE_BYTES);
		for (uint32_t k = 0; k < numbers[i]; k++)
			write_quietly_to(k);
		if (_i)
			notify_progress();
		do { /* acknowledgements, up to the last one */
			ck_assert_int_eq(qp_state(a.qp), IBV_QPS_RTS);
			if (!_i)
				cq_expect_empty(a.cq);
			if (soft_ring_ready(&rings.in))
				frame = line_expect_frame(&rings.in, SOFT_FRAME_ACK);
			else
				frame.psn = psn;
		} while (frame.psn != ((psn - 1) & SOFT_PSN_MASK));
		for (uint32_t k = 0; k < numbers[i]; k++)
			ck_assert_uint_eq(places[k], k + 1);
		ck_assert_uint_eq(places[numbers[i]], 0);
	}
}

/* --- a full ring */

/*
 * How many descriptors the epoll instances of this process watch for room, as the kernel shows
 * them.
 */
static int
watched_for_room(void)
{
	DIR *folder = opendir("/proc/self/fdinfo");
	const struct dirent *entry;
	char path[300], text[256];
	unsigned int events;
	int found = 0;
	FILE *file;

	ck_assert_ptr_nonnull(folder);
	while ((entry = readdir(folder))) {
		snprintf(path, sizeof path, "/proc/self/fdinfo/%s", entry->d_name);
		file = fopen(path, "re");
		while (file && fgets(text, sizeof text, file))
			found +=
			    sscanf(text, "tfd: %*d events: %x", &events) == 1 && events & EPOLLOUT;
		if (file)
			fclose(file);
	}
	closedir(folder);
	return found;
}

/* A socket that has room and is watched for it keeps the progress thread busy. */
static void
expect_nobody_waits_for_room(void)
{
	for (int i = 0; i < (int)runner_stretch(3000) && watched_for_room(); i++)
		sleep_ms(1);
	ck_assert_int_eq(watched_for_room(), 0);
}

CASE("soft-input:room", setup, teardown);

TEST(writer_of_a_full_ring__goes_on_when_it_was_read)
{
	const struct soft_welcome_frame welcome = welcome_of_rings();
	const uint64_t address = (uintptr_t)a.bytes;
	struct soft_rings back;
	struct soft_frame frame;
	int link, ready;

	for (uint64_t i = 0; i < 16; i++)
		ck_assert_int_eq(side_rdma_raw(&a, IBV_WR_RDMA_WRITE, i, 0, address, 1, 65536), 0);
	link = line_accept_rings(door, &back);
	line_send(link, &welcome, sizeof welcome);
	for (uint32_t i = 0; i < 16; i++) {
		for (int j = 0; j < (int)runner_stretch(10000) && !soft_ring_ready(&back.in); j++)
			sleep_ms(1);
		ready = soft_ring_ready(&back.in);
		ck_assert_msg(ready > 0, "no frame %u", i);
		ck_assert_ptr_nonnull(soft_ring_peek(&back.in, ready, &frame));
		ck_assert_uint_eq(frame.psn, (side_psn + i) & SOFT_PSN_MASK);
		ck_assert_uint_eq(frame.length, 65536);
		if (soft_ring_next(&back.in, soft_ring_bytes(&frame)))
			line_send(link, "r", 1);
	}
	frame = (struct soft_frame){ .type = SOFT_FRAME_ACK,
		.qpn = a.qp->qp_num,
		.from = peer_qpn(),
		.psn = (side_psn + 15) & SOFT_PSN_MASK,
		.epoch = frame.epoch };
	ck_assert_int_eq(soft_ring_put(&back.out, &frame, NULL, 0), 0);
	for (uint64_t i = 0; i < 16; i++)
		cq_expect(a.cq, i, IBV_WC_SUCCESS);
	expect_nobody_waits_for_room();
	close(link);
	soft_rings_unmap(&back);
}

/* Of a thread of the program; there is room again only when the reader notifies of it. */
/* origin: out33.U15 */
TEST(messages__more_than_the_ring_takes__go_on_when_it_was_read)
{
	enum { MESSAGES = RING_BYTES / 64 + 100 };
	struct soft_link *link = soft_peer_incoming(slot);
	struct soft_frame frame = { .type = SOFT_FRAME_NAK, .opcode = SOFT_NAK_NOT_CONNECTED };
	int ready;

	for (uint32_t i = 0; i < MESSAGES; i++) {
		if (i == RING_BYTES / 64) /* from here on they wait */
			expect_nobody_waits_for_room();
		frame.psn = i;
		ck_assert_int_eq(soft_link_send_stray(link, &frame), 0);
	}
	soft_link_put(link);
	for (uint32_t i = 0; i < MESSAGES; i++) {
		for (int j = 0; j < (int)runner_stretch(10000) && !soft_ring_ready(&rings.in); j++)
			sleep_ms(1);
		ready = soft_ring_ready(&rings.in);
		ck_assert_msg(ready > 0, "no message %u", i);
		ck_assert_ptr_nonnull(soft_ring_peek(&rings.in, ready, &frame));
		ck_assert_uint_eq(frame.psn, i);
		if (soft_ring_next(&rings.in, soft_ring_bytes(&frame)))
			notify_progress();
	}
	expect_nobody_waits_for_room();
}

/* --- what is read, and what is left */

static enum soft_ring_input
read_ring(enum soft_reader reader)
{
	struct soft_link *link = soft_peer_incoming(slot);
	const enum soft_ring_input r = soft_link_read_ring(link, reader);

	soft_link_put(link);
	return r;
}

CASE("soft-input:taken", setup, teardown);

/* No other thread reads meanwhile.  The second time the device has a link to us, too. */
/* origin: out33.U15 */
TEST_LOOP(ring__says_whether_something_was_read__and_is_left, 2)
{
	struct soft_wire_cm disconnect = { .type = 5, .from = 77, .to = 99999 };
	const struct iovec iov = { &disconnect, sizeof disconnect };
	const struct soft_frame cm = { .type = SOFT_FRAME_CM, .length = sizeof disconnect };
	const struct soft_welcome_frame welcome = welcome_of_rings();
	struct soft_rings back = { .area = NULL };
	int link = -1;

	if (_i) {
		ck_assert_int_eq(side_rdma_raw(&a, IBV_WR_RDMA_WRITE, 1, 0, 4096, 1, 8), 0);
		link = line_accept_rings(door, &back);
		line_send(link, &welcome, sizeof welcome);
		(void)line_expect_frame(&back.in, SOFT_FRAME_REQUEST);
	}
	soft_input_lock();
	ck_assert_int_eq(read_ring(SOFT_READER_CONSUMER), SOFT_RING_EMPTY);
	write_quietly(stray(), NULL);
	ck_assert_int_eq(read_ring(SOFT_READER_CONSUMER), SOFT_RING_READ);
	ck_assert_int_eq(read_ring(SOFT_READER_PROGRESS), SOFT_RING_EMPTY);
	for (int n = 63; n < 66; n++) {
		for (int i = 0; i < n; i++)
			write_quietly(stray(), NULL);
		ck_assert_int_eq(
		    read_ring(SOFT_READER_PROGRESS), n > 64 ? SOFT_RING_LEFT : SOFT_RING_READ);
	}
	ck_assert_int_eq(read_ring(SOFT_READER_PROGRESS), SOFT_RING_READ);
	if (_i) { /* nor is a request read before an answer that this thread must not read */
		ck_assert_int_eq(soft_ring_put(&back.out, &cm, &iov, 1), 0);
		write_quietly(stray(), NULL);
		ck_assert_int_eq(read_ring(SOFT_READER_CONSUMER), SOFT_RING_PROGRESS);
		ck_assert_int_eq(read_ring(SOFT_READER_PROGRESS), SOFT_RING_READ);
	}
	write_quietly((struct soft_frame){ .type = 99 }, NULL);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(read_ring(SOFT_READER_CONSUMER), SOFT_RING_PROGRESS);
	soft_input_unlock();
	notify_progress();
	line_expect_hung_up(line);
	line = line_open(soft_slot_number());
	if (_i)
		close(link);
	soft_rings_unmap(&back);
}

/* --- children */

static void
setup_commanded(void)
{
	soft_commands = true; /* its socket is another that a child has not */
	setup();
}

CASE("soft-input:child", setup_commanded, teardown, .needs = feature_child,
    .reason = FEATURE_NO_CHILD);

/* The timer of a lease was running, and a thread had the lock. */
/* origin: out33.U15 */
TEST(child__begins_anew_with_a_device_of_its_own)
{
	int status;
	pid_t pid;

	write_quietly(stray(), NULL);
	soft_input_poll();
	soft_input_lock();
	pid = fork();
	if (!pid) {
		alarm(10);
		setup();
		teardown();
		_exit(0);
	}
	soft_input_unlock();
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

/* The numbers that descriptors of the device had are those of others in a child. */
/* origin: out33.U15 */
TEST(child_of_a_child__has_all_that_its_parent_had)
{
	const struct soft_welcome_frame welcome = welcome_of_rings();
	const int silent = line_open(soft_slot_number());
	struct soft_rings back;
	bool was[1024];
	int link, status;
	pid_t pid;

	ck_assert_int_eq(side_rdma_raw(&a, IBV_WR_RDMA_WRITE, 1, 0, 4096, 1, 8), 0);
	link = line_accept_rings(door, &back);
	line_send(link, &welcome, sizeof welcome);
	expect_served();
	for (int fd = 0; fd < 1024; fd++)
		was[fd] = fcntl(fd, F_GETFD) >= 0;
	pid = fork();
	if (!pid) {
		status =
		    soft_peers_linked() || soft_peer_incoming(slot) || soft_peer_answering(slot);
		for (int fd = 0; fd < 1024; fd++)
			if (was[fd] && fcntl(fd, F_GETFD) < 0)
				dup2(link, fd);
		pid = fork();
		for (int fd = 0; !pid && fd < 1024; fd++)
			status |= was[fd] && fcntl(fd, F_GETFD) < 0 ? 2 : 0;
		if (!pid)
			_exit(status);
		status =
		    waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 4;
		_exit(status);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	close(silent);
	close(link);
	soft_rings_unmap(&back);
}

/* --- a peer that breaks the rules */

static void
expect_broken(void)
{
	line_expect_hung_up(line);
	async_expect(a.context, IBV_EVENT_QP_FATAL, a.qp);
	ck_assert_int_eq(qp_state(a.qp), IBV_QPS_ERR);
	line = line_open(soft_slot_number());
}

CASE("soft-input:rules", setup, teardown);

TEST_LOOP(frame_or_counter_that_makes_no_sense__ends_the_link, 8)
{
	struct soft_frame bad = stray();
	atomic_uint *const written = (void *)rings.out.shared;

	switch (_i / 2) {
	case 0:
		bad.type = 77;
		write_quietly(bad, NULL);
		break;
	case 1:
		bad.from_port = 1;
		write_quietly(bad, NULL);
		break;
	case 2:
		*written = 33;
		break;
	default:
		*written = 0x7fffffc0;
		break;
	}
	if (_i % 2)
		notify_progress();
	else
		cq_expect_empty(a.cq); /* read by a thread of the program */
	expect_broken();
}

TEST(counter_of_what_we_read_that_makes_no_sense__ends_the_link)
{
	atomic_uint *const words = (void *)rings.in.shared;

	words[16] = 4096; /* in the second of four lines */
	write_quietly(stray(), NULL);
	notify_progress();
	expect_broken();
}

static atomic_bool stop;

static atomic_uint writes;

/* The ring is full of frames at any time: each that was read is there again. */
static void *
write_on(void *unused)
{
	atomic_uint *const written = (void *)rings.out.shared, *const read = written + 16;

	(void)unused;
	for (writes = 0; !stop; writes++)
		*written = *read + RING_BYTES;
	return NULL;
}

TEST_LOOP(peer_that_hangs_up_and_writes_on__is_read_once_more, 10)
{
	const struct soft_frame request = stray();
	const atomic_uint *const read = (atomic_uint *)(void *)rings.out.shared + 16;
	struct soft_frame answer;
	pthread_t thread;
	unsigned int then;
	int again;

	while (!soft_ring_put(&rings.out, &request, NULL, 0))
		;
	ck_assert_int_eq(pthread_create(&thread, NULL, write_on, NULL), 0);
	while (writes < 1000)
		sched_yield();
	ck_assert_int_eq(shutdown(line, SHUT_RDWR), 0);
	then = *read;
	again = line_open(soft_slot_number());
	line_greet(again, slot);
	line_send(again, &request, sizeof request);
	ck_assert_int_eq(recv(again, &answer, sizeof answer, MSG_WAITALL), sizeof answer);
	ck_assert_int_eq(answer.type, SOFT_FRAME_NAK);
	/* What was there at the end, and some turns before the end was seen. */
	ck_assert_uint_lt(*read - then, RING_BYTES + RING_BYTES / 2);
	stop = true;
	pthread_join(thread, NULL);
	close(again);
}

/* --- without shared memory */

static void
expect_served_by_socket(void)
{
	const struct soft_frame request = stray();
	struct soft_frame answer;

	line_send(line, &request, sizeof request);
	ck_assert_int_eq(recv(line, &answer, sizeof answer, MSG_WAITALL), sizeof answer);
	ck_assert_int_eq(answer.type, SOFT_FRAME_NAK);
}

CASE("soft-input:sockets");

TEST(memory_of_the_wrong_size__is_declined_and_frames_go_over_the_socket)
{
	const int wrong = memfd_create("wrong", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	device_make();
	ck_assert_int_eq(ftruncate(wrong, 4096), 0);
	ck_assert_int_eq(fcntl(wrong, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
	line_offer(line, slot, wrong, 0);
	ck_assert(!line_welcomed(line));
	expect_served_by_socket();
	device_free();
	close(wrong);
}

/* Whether the slot is the caller's own is looked at again when there is a descriptor. */
/* origin: out33.D9 */
TEST(hello__while_no_descriptor_is_free__is_taken_later)
{
	struct rlimit limit, none;

	device_make();
	sleep_ms(20); /* the line is taken */
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){ 0, limit.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	line_greet(line, slot);
	sleep_ms(50);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	expect_served_by_socket();
	device_free();
}

TEST(sockets_only__offers_no_memory_and_declines_it)
{
	struct soft_frame frame;
	struct soft_wire_hello hello;
	int memory, link;

	setenv("SOFTVERBS_SOCKETS", "1", 1);
	device_make();
	memory = soft_rings_create(&rings);
	line_offer(line, slot, memory, rings.token);
	ck_assert(!line_welcomed(line));
	expect_served_by_socket();
	ck_assert_int_eq(side_rdma_raw(&a, IBV_WR_RDMA_WRITE, 1, 0, 0, 1, 8), 0);
	/* Callers that only look who we are send nothing. */
	do
		link = accept(door, NULL, NULL);
	while (recv(link, &frame, sizeof frame, MSG_WAITALL) != sizeof frame && !close(link));
	ck_assert_int_eq(recv(link, &hello, sizeof hello, MSG_WAITALL), sizeof hello);
	ck_assert_uint_eq(hello.rings, 0);
	ck_assert_int_eq(recv(link, &frame, sizeof frame, MSG_WAITALL), sizeof frame);
	ck_assert_int_eq(frame.type, SOFT_FRAME_REQUEST);
	close(link);
	close(memory);
	device_free();
	soft_rings_unmap(&rings);
}

/* ---- knocks ---- */

CASE("soft-input:knocks");

/* A full door is no failure: the knocks that wait there wake the reader. */
TEST(knock__at_a_door_with_room_without_and_closed)
{
	int ends[2], sent = 0;
	char byte;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), 0);
	errno = EXDEV;
	for (int i = 0; i < 1000; i++)
		ck_assert(soft_knock(ends[0]));
	ck_assert_int_eq(errno, EXDEV);
	while (recv(ends[1], &byte, 1, MSG_DONTWAIT) == 1)
		sent++;
	ck_assert_int_gt(sent, 0);
	ck_assert_int_lt(sent, 1000);
	close(ends[1]);
	ck_assert(!soft_knock(ends[0]));
	ck_assert_int_eq(errno, EAGAIN);
	close(ends[0]);
}

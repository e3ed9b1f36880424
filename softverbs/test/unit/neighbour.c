/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * neighbour -- what another process holds, or sends, cannot make a call of this one wait
 *
 * Two processes with links in both directions share memory, and no open file: each pair of
 * descriptors is compared.  A descriptor that the other sends may take as long to close as it
 * likes; here, 1000 seconds.  What many callers need of the kernel is there before they call.
 */
#include "line.h"
#include "other.h"
#include "story.h"
#include "turn.h"
#include "lib/feature.h"

#include "softverbs/device/knock.h"
#include "softverbs/device/names.h"
#include "softverbs/device/slot.h"
#include "softverbs/wire/memory.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/kcmp.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

static struct side a;

/* --- what two processes share */

#define FDS_MAX 64

struct fds {
	pid_t pid;
	int count;
	int fd[FDS_MAX];
};

/* The descriptors of this process. */
static void
fds_list(struct fds *fds)
{
	DIR *folder = opendir("/proc/self/fd");
	const struct dirent *entry;
	int fd;

	ck_assert_ptr_nonnull(folder);
	fds->pid = getpid();
	fds->count = 0;
	while ((entry = readdir(folder))) {
		fd = atoi(entry->d_name);
		if (entry->d_name[0] == '.' || fd == dirfd(folder))
			continue;
		ck_assert_int_lt(fds->count, FDS_MAX);
		fds->fd[fds->count++] = fd;
	}
	closedir(folder);
}

static bool
fds_have(const struct fds *fds, int fd)
{
	for (int i = 0; i < fds->count; i++)
		if (fds->fd[i] == fd)
			return true;
	return false;
}

/* Both processes send to each other once, with memory shared for each direction. */
static void
exchange(struct side *side, struct fds *before)
{
	const struct side_options patient = { .patient = true };
	uint32_t own, peer;

	fds_list(before);
	side_make(side, NULL);
	own = side->qp->qp_num;
	other_tell(&own, sizeof own);
	other_hear(&peer, sizeof peer);
	side_to_init(side, NULL);
	side_to_rtr(side, peer);
	side_to_rts(side, &patient);
	side_receive(side, 1, 0, 64);
	other_meet();
	side_post(side, IBV_WR_SEND, IBV_SEND_SIGNALED, 2, 0, 8);
	for (int i = 0; i < 2; i++) {
		struct ibv_wc wc;

		while (!ibv_poll_cq(side->cq, 1, &wc))
			sleep_ms(1);
		ck_assert_int_eq(wc.status, IBV_WC_SUCCESS);
	}
	other_meet();
}

static void
share_there(void)
{
	struct fds before, now;

	exchange(&a, &before);
	fds_list(&now);
	other_tell(&before, sizeof before);
	other_tell(&now, sizeof now);
	other_meet();
	side_free(&a);
}

CASE("soft-neighbour:shared");

/* origin: out33.M1 */
TEST(two_processes_with_links__have_no_open_file_in_common)
{
	struct fds before, now, before_there, now_there;
	int compared = 0;

	other_start(share_there);
	exchange(&a, &before);
	fds_list(&now);
	other_hear(&before_there, sizeof before_there);
	other_hear(&now_there, sizeof now_there);
	for (int i = 0; i < now.count; i++)
		for (int j = 0; j < now_there.count; j++) {
			const int one = now.fd[i], two = now_there.fd[j];
			const long r = syscall(
			    SYS_kcmp, now.pid, now_there.pid, KCMP_FILE, (long)one, (long)two);

			if (fds_have(&before, one) || fds_have(&before_there, two))
				continue; /* of the test */
			if (r < 0 && (errno == ENOSYS || errno == EPERM))
				continue; /* this kernel does not tell */
			ck_assert_msg(r != 0, "descriptor %d here is %d there", one, two);
			compared++;
		}
	if (!compared)
		fprintf(stderr, "not shown: kcmp(2) is not available\n");
	other_meet();
	side_free(&a);
	other_finish();
}

/* --- standard input and output */

/* What the program has open at 0 to 2. */
static int
standard_count(void)
{
	int n = 0;

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static int standard_kept[3];

static void
standard_close(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		standard_kept[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		(void)close(fd);
	}
}

static void
standard_open(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (standard_kept[fd] >= 0) {
			ck_assert_int_eq(dup2(standard_kept[fd], fd), fd);
			close(standard_kept[fd]);
		}
}

static void
be_without_there(void)
{
	struct fds before;
	int n;

	standard_close();
	exchange(&a, &before);
	n = standard_count();
	other_tell(&n, sizeof n);
	other_meet();
	side_free(&a);
	standard_open();
}

/*
 * What a program prints that has closed them comes into no descriptor of the device: not into the
 * file that all processes share, nor into a connection.
 */
/* origin: out33.G1 */
TEST_LOOP(standard_output_is_closed__no_descriptor_of_the_device_takes_its_place, 2)
{
	struct rdma_event_channel *channel;
	struct fds before;
	int there;

	if (_i)
		setenv("SOFTVERBS_SOCKETS", "1", 1);
	other_start(be_without_there);
	standard_close();
	exchange(&a, &before);
	channel = rdma_create_event_channel();
	ck_assert_ptr_nonnull(channel);
	there = standard_count();
	standard_open();
	ck_assert_int_eq(there, 0);
	other_hear(&there, sizeof there);
	ck_assert_int_eq(there, 0);
	rdma_destroy_event_channel(channel);
	other_meet();
	side_free(&a);
	other_finish();
}

/* --- knocks */

/* The progress thread sends, with the lock of the link held. */
/* origin: out33.M1 */
TEST(process_that_takes_no_knocks__does_not_stop_who_knocks)
{
	const struct soft_frame request = { .type = SOFT_FRAME_REQUEST,
		.opcode = IBV_WR_RDMA_WRITE,
		.flags = SOFT_FRAME_FIRST | SOFT_FRAME_LAST };
	struct sockaddr_un address;
	struct soft_rings rings;
	struct soft_frame frame = request;
	unsigned int slot;
	int door, line, knocks, own;
	socklen_t length;

	side_make(&a, NULL);
	slot = line_slot_take(&door);
	length = soft_name_knock_address(&address, slot);
	knocks = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(knocks, (struct sockaddr *)&address, length), 0);
	own = soft_knock_connect(slot);
	ck_assert_int_ge(own, 0);
	while (send(own, "k", 1, MSG_DONTWAIT) == 1)
		;
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert_int_eq(fcntl(knocks, F_SETFL, 0), 0);
	line = line_open(soft_slot_number());
	line_share(line, slot, &rings);
	frame.qpn = soft_slot_number() << 14 | 0x3fff;
	frame.from = slot << 14;
	for (int i = 0; i < 20; i++) {
		soft_ring_arm(&rings.in, SOFT_ALARM_WAITER);
		ck_assert_int_eq(soft_ring_put(&rings.out, &frame, NULL, 0), 0);
		line_send(line, "n", 1);
		line_expect_frame(&rings.in, SOFT_FRAME_NAK);
	}
	/* It has asked for a knock, and there is one to be taken. */
	ck_assert_int_eq(recv(knocks, &(char){ 0 }, 1, MSG_DONTWAIT), 1);
	close(line);
	close(own);
	close(knocks);
	soft_rings_unmap(&rings);
	line_slot_leave(slot, door);
	side_free(&a);
}

/* --- memory that is offered */

CASE("soft-neighbour:memory");

/* What a peer may name instead of its memory: 0 if it was opened. */
/* origin: out33.MEMORY */
TEST(memory_named_by_a_peer__only_a_memfd_is_opened)
{
	static const char *const others[] = { "/dev/null", "/dev/zero", "/proc/version", ".",
		"/proc/self/exe" };
	int ends[2], fd, number;

	for (unsigned int i = 0; i < sizeof others / sizeof others[0]; i++) {
		number = open(others[i], O_RDONLY | O_CLOEXEC);
		ck_assert_int_ge(number, 0);
		ck_assert_int_lt(soft_memory_open(getpid(), (uint32_t)number), 0);
		close(number);
	}
	/* A pipe without a writer: to open it for reading would wait for one. */
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	close(ends[1]);
	ck_assert_int_lt(soft_memory_open(getpid(), (uint32_t)ends[0]), 0);
	close(ends[0]);
	number = eventfd(0, EFD_CLOEXEC);
	ck_assert_int_lt(soft_memory_open(getpid(), (uint32_t)number), 0);
	close(number);
	ck_assert_int_lt(soft_memory_open(getpid(), (uint32_t)number), 0);
	ck_assert_int_lt(soft_memory_open(0, 0), 0);
	/* Pages of this size may be used up, and then the memory is not there. */
	number = memfd_create("huge", MFD_CLOEXEC | MFD_HUGETLB);
	if (number >= 0) {
		ck_assert_int_lt(soft_memory_open(getpid(), (uint32_t)number), 0);
		close(number);
	}
	/* Of memory, a description of its own: the flags of the other do not matter. */
	number = memfd_create("good", MFD_CLOEXEC);
	ck_assert_int_eq(fcntl(number, F_SETFL, O_APPEND), 0);
	fd = soft_memory_open(getpid(), (uint32_t)number);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fcntl(fd, F_GETFL) & (O_APPEND | O_ACCMODE), O_RDWR);
	close(fd);
	close(number);
}

TEST(memory_of_another_link__is_declined)
{
	struct soft_rings rings;
	unsigned int slot;
	int door, line, memory;

	side_make(&a, NULL);
	slot = line_slot_take(&door);
	line = line_open(soft_slot_number());
	memory = soft_rings_create(&rings);
	line_offer(line, slot, memory, rings.token + 1);
	ck_assert(!line_welcomed(line));
	close(memory);
	close(line);
	soft_rings_unmap(&rings);
	line_slot_leave(slot, door);
	side_free(&a);
}

/* --- descriptors that are sent */

/* A kernel without SO_PASSRIGHTS, as all before Linux 6.16: the option is unknown. */
static void
be_an_old_kernel(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_setsockopt, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getsockopt, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SO_PASSRIGHTS, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOPROTOOPT),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof code / sizeof code[0], code };

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

static int far_ends[32], far_count; /* read nothing */

static void
take_signal(int signal)
{
	(void)signal;
}

/* After this the last descriptor is in the socket, if the kernel has taken it. */
static bool
send_lingering(int line)
{
	const int fd = line_lingering(&far_ends[far_count++]), two[2] = { fd, fd };
	const bool sent = line_try_descriptors(line, two, 2);
	const struct itimerval soon = { { 0, 10000 }, { 0, 10000 } },
			       never = { { 0, 0 }, { 0, 0 } };
	const struct linger none = { 0, 0 };

	if (!sent)
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
	/* The device may have closed the other one already.  Then a signal ends this wait. */
	setitimer(ITIMER_REAL, &soon, NULL);
	close(fd);
	setitimer(ITIMER_REAL, &never, NULL);
	return sent;
}

static unsigned int slot;
static int door;

/* A good process is served. */
static void
expect_served_by(unsigned int server)
{
	const struct soft_frame request = { .type = SOFT_FRAME_REQUEST,
		.opcode = IBV_WR_RDMA_WRITE,
		.flags = SOFT_FRAME_FIRST | SOFT_FRAME_LAST,
		.qpn = server << 14 | 0x3fff,
		.from = slot << 14 };
	const int line = line_open(server);
	struct soft_frame answer;

	line_greet(line, slot);
	line_send(line, &request, sizeof request);
	ck_assert_int_eq(recv(line, &answer, sizeof answer, MSG_WAITALL), sizeof answer);
	close(line);
}

static void
expect_served(void)
{
	expect_served_by(soft_slot_number());
}

enum place { BEFORE_HELLO, IN_HELLO, ON_LINK, ON_ITS_LINK, WITH_A_KNOCK, NOT_READ, PLACES };

static void
pollute(enum place place)
{
	const uint64_t address = (uintptr_t)a.bytes;
	const uint8_t type[5] = { sizeof(struct soft_wire_hello), 0, 0, 0, SOFT_FRAME_HELLO };
	struct soft_rings rings = { .area = NULL };
	int line = -1, i;

	switch (place) {
	case BEFORE_HELLO:
		line = line_open(soft_slot_number());
		send_lingering(line);
		break;
	case IN_HELLO:
		line = line_open(soft_slot_number());
		line_send(line, type, sizeof type);
		send_lingering(line);
		break;
	case ON_LINK:
		line = line_open(soft_slot_number());
		line_share(line, slot, &rings);
		send_lingering(line);
		break;
	case ON_ITS_LINK:
		ck_assert_int_eq(side_rdma_raw(&a, IBV_WR_RDMA_WRITE, 1, 0, address, 1, 8), 0);
		line = line_accept_rings(door, &rings);
		send_lingering(line);
		break;
	case WITH_A_KNOCK:
		line = soft_knock_connect(soft_slot_number());
		for (i = 0; i < 3; i++)
			send_lingering(line);
		break;
	default:
		for (i = 0; i < 20; i++) {
			line = line_open(soft_slot_number());
			send_lingering(line);
			close(line);
		}
		return;
	}
	if (rings.area)
		soft_rings_unmap(&rings);
	sleep_ms(20);
	close(line);
}

CASE("soft-neighbour:foreign");

/* The kernel refuses descriptors, or is of a kind that cannot. */
/* origin: out33.M2 */
TEST_LOOP(descriptor_that_takes_long_to_close__is_sent_anywhere__nothing_waits, 2 * PLACES)
{
	const struct side_options patient = { .patient = true };
	const struct sigaction action = { .sa_handler = take_signal };
	const enum place place = (enum place)(_i / 2);
	struct timespec begin, now;

	ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
	if (_i % 2 && !feature_filter()) {
		runner_skip(FEATURE_NO_FILTER);
		return;
	}
	if (_i % 2)
		be_an_old_kernel();
	side_make(&a, NULL);
	slot = line_slot_take(&door);
	side_to_init(&a, NULL);
	side_to_rtr(&a, slot << 14 | 5);
	side_to_rts(&a, &patient);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	pollute(place);
	expect_served();
	line_slot_leave(slot, door);
	side_free(&a);
	clock_gettime(CLOCK_MONOTONIC, &now);
	ck_assert_int_lt(now.tv_sec - begin.tv_sec, (int)runner_stretch(20));
	while (far_count)
		close(far_ends[--far_count]);
}

/* The device ends before it has accepted who sent one. */
/* origin: out33.M2 */
TEST(descriptor_that_takes_long_to_close__its_connection_is_not_accepted__nothing_waits) UNCHECKED
{
	const struct sigaction action = { .sa_handler = take_signal };
	uint64_t begin;
	int line;

	if (!feature_filter()) {
		runner_skip(FEATURE_NO_FILTER);
		return;
	}
	be_an_old_kernel();
	ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
	ck_assert_int_eq(soft_names_open(), 0);
	ck_assert_int_eq(soft_slot_open(), 0);
	line = line_open(soft_slot_number());
	ck_assert(send_lingering(line));
	close(line);
	begin = soft_now();
	soft_slot_close();
	soft_names_close();
	ck_assert_uint_lt(soft_now() - begin, runner_stretch(20) * SOFT_SECOND);
	close(far_ends[--far_count]);
}

/* The device ends, and begins again, with a thread that has closed one. */
TEST(foreign_descriptors__device_is_opened_again__are_closed)
{
	int line, ends[2];
	char c;

	if (!feature_filter()) {
		runner_skip(FEATURE_NO_FILTER);
		return;
	}
	be_an_old_kernel();
	for (int round = 0; round < 4; round++) {
		side_make(&a, NULL);
		slot = line_slot_take(&door);
		line = line_open(soft_slot_number());
		for (int i = 0; i < 2; i++) {
			ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
			(void)line_try_descriptors(line, &ends[1], 1);
			close(ends[1]);
			close(line);
			line = line_open(soft_slot_number());
			ck_assert_int_eq(read(ends[0], &c, 1), 0);
			close(ends[0]);
		}
		expect_served();
		close(line);
		line_slot_leave(slot, door);
		side_free(&a);
	}
}

/* --- the table of descriptors */

static unsigned int
table_size(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	unsigned int size = 0;
	char line[256];

	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof line, file) && sscanf(line, "FDSize: %u", &size) != 1)
		;
	fclose(file);
	return size;
}

CASE("soft-neighbour:table");

/*
 * A table that grows in a process with threads keeps the thread that needs it waiting, which is the
 * progress thread.
 */
/* origin: out33.R2 */
TEST_LOOP(device_in_use__the_table_of_descriptors_is_as_large_as_it_may_become, 7)
{
	static const rlim_t limits[] = { 64, 100, 256, 1000, 1024, 4096, 100000 };
	struct rlimit limit;
	rlim_t wanted = limits[_i];

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	if (wanted > limit.rlim_max)
		wanted = limit.rlim_max;
	limit.rlim_cur = wanted;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	side_make(&a, NULL);
	ck_assert_uint_ge(table_size(), wanted < 4096 ? wanted : 4096);
	side_free(&a);
}

#define CALLERS 120
#define SERVED 64 /* at a time */

static void
be_called_there(void)
{
	unsigned int called;
	unsigned long waits;

	side_make(&a, NULL);
	called = soft_slot_number();
	other_tell(&called, sizeof called);
	other_meet();
	waits = turn_waits();
	other_tell(&waits, sizeof waits);
	side_free(&a);
}

/*
 * More callers than a table has room for at first, and than the device serves at a time.  No other
 * thread works.  The table of a new process is no larger than its descriptors need, so those that a
 * shell left open are closed before.
 */
/* origin: out33.R2 */
TEST(many_callers__the_progress_thread_waits_for_nothing)
{
	int lines[CALLERS];
	unsigned int called;
	unsigned long waits;

	ck_assert_int_eq((int)syscall(SYS_close_range, 32, ~0u, 0), 0);
	runner_count_anew();
	other_start(be_called_there);
	side_make(&a, NULL);
	other_hear(&called, sizeof called);
	for (int i = 0; i < CALLERS; i++)
		lines[i] = line_open(called);
	for (int i = 0; i < CALLERS - SERVED; i++)
		line_expect_hung_up(lines[i]);
	other_meet();
	other_hear(&waits, sizeof waits);
	ck_assert_uint_eq(waits, 0);
	for (int i = CALLERS - SERVED; i < CALLERS; i++)
		close(lines[i]);
	other_finish();
	side_free(&a);
}

/* --- processes without a number here */

static bool
write_file(const char *path, const char *text)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC);
	const bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return written;
}

/*
 * Children are in a PID namespace of their own from now on, and no thread can be made.  False if
 * that is not allowed.
 */
static bool
be_apart(void)
{
	const unsigned int user = geteuid();
	char map[32];

	if (!unshare(CLONE_NEWPID))
		return true;
	snprintf(map, sizeof map, "%u %u 1", user, user);
	return !unshare(CLONE_NEWUSER | CLONE_NEWPID) && write_file("/proc/self/uid_map", map);
}

static void
be_in_a_namespace_there(void)
{
	unsigned int number = 0;
	int status;
	pid_t child;

	if (!be_apart()) {
		other_tell(&number, sizeof number);
		return;
	}
	child = fork();
	if (child) {
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert_int_eq(status, 0);
		return;
	}
	side_make(&a, NULL);
	number = soft_slot_number();
	other_tell(&number, sizeof number);
	other_meet();
	side_free(&a);
	_exit(0);
}

/* What a process that does not own the slot says on its behalf. */
static void
claim(int from, int to)
{
	unsigned int slots[2];
	int line;

	ck_assert_int_eq(read(from, slots, sizeof slots), sizeof slots);
	side_make(&a, NULL);
	line = line_open(slots[0]);
	line_greet(line, slots[1]);
	line_expect_hung_up(line);
	side_free(&a);
	ck_assert_int_eq(write(to, "x", 1), 1);
	_exit(0);
}

CASE("soft-neighbour:namespace");

/*
 * For the device in the namespace both the owner of the slot and the other one have the number 0.
 */
/* origin: out33.A1 */
TEST(process_of_another_pid_namespace__cannot_claim_a_slot)
{
	int there[2], back[2], status;
	unsigned int slots[2], major = 0, minor = 0;
	struct utsname kernel;
	char done;
	pid_t third;

	ck_assert_int_eq(pipe2(there, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(back, O_CLOEXEC), 0);
	third = fork();
	if (!third) {
		close(there[1]);
		close(back[0]);
		claim(there[0], back[1]);
	}
	close(there[0]);
	close(back[1]);
	other_start(be_in_a_namespace_there);
	other_hear(&slots[0], sizeof slots[0]);
	if (!slots[0]) {
		runner_skip("no PID namespace can be made");
		close(there[1]);
		close(back[0]);
		kill(third, SIGKILL);
		waitpid(third, NULL, 0);
		other_finish();
		return;
	}
	side_make(&a, NULL);
	slots[1] = slot = line_slot_take(&door);
	ck_assert_int_eq(write(there[1], slots, sizeof slots), sizeof slots);
	ck_assert_int_eq(read(back[0], &done, 1), 1);
	close(there[1]);
	close(back[0]);
	ck_assert_int_eq(waitpid(third, &status, 0), third);
	ck_assert_int_eq(status, 0);
	/* The owner can, where the kernel tells the two apart. */
	uname(&kernel);
	sscanf(kernel.release, "%u.%u", &major, &minor);
	if (major > 6 || (major == 6 && minor >= 9))
		expect_served_by(slots[0]);
	line_slot_leave(slot, door);
	other_meet();
	other_finish();
	side_free(&a);
}

/* --- the limit of the size of a file */

/* What is printed may go to a file that is longer already. */
static void
be_limited(rlim_t bytes)
{
	struct rlimit limit = { bytes, RLIM_INFINITY };

	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void
send_there(void)
{
	struct fds before;

	exchange(&a, &before);
	side_free(&a);
}

CASE("soft-neighbour:size");

/* Memory that would be too large is not shared: sockets carry the messages. */
/* origin: out33.A2 */
TEST(limit_of_a_files_size__is_kept_without_a_signal)
{
	struct fds before;

	other_start(send_there);
	be_limited(700000);
	exchange(&a, &before);
	side_free(&a);
	other_finish();
}

/* The name of a port is an entry of a file. */
TEST(file_of_names_that_may_not_grow__no_port)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;

	ck_assert_int_eq(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	be_limited(8192);
	ck_assert_int_eq(rdma_bind_addr(id, (struct sockaddr *)&any), -1);
	ck_assert_int_eq(errno, EFBIG);
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
}

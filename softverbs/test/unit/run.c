/* SPDX-License-Identifier: BSD-3-Clause */
/* run -- the processes of a run: their names, their common record, and what softverbs-run hears */
#include "story.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "softverbs/fault/announce.h"
#include "softverbs/fault/process.h"
#include "softverbs/fault/record.h"

CASE("soft-run:processes");

static void
nothing(void)
{
}

/* A record that forked processes have in common. */
static void
share_a_record(void)
{
	soft_record = mmap(
	    NULL, sizeof *soft_record, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(soft_record, MAP_FAILED);
}

/* In a child, after as many forks of the program as there are numbers: those of its ancestors. */
static void
begin_as(const char *command, const unsigned int *forks)
{
	static char name[64];
	int status;
	pid_t pid = fork();

	if (pid) {
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_int_eq(status, 0);
		return;
	}
	strcpy(name, command);
	program_invocation_short_name = name;
	for (; *forks; forks++) {
		for (unsigned int i = 0; i < *forks % 100; i++)
			soft_fault_process_fork();
		if (*forks >= 100) /* the parent begins before the fork */
			(void)soft_fault_process();
		soft_fault_process_reset();
	}
	(void)soft_fault_process();
	_exit(0);
}

/* "NAME-xxxxxx", of the arguments of this program; FNV-1a. */
static const char *
with_digest(const char *name, const char *suffix)
{
	static char text[128];
	uint32_t digest = 2166136261u;
	char line[4096];
	const int fd = open("/proc/self/cmdline", O_RDONLY);
	const ssize_t size = read(fd, line, sizeof line);

	close(fd);
	for (ssize_t i = 0; i < size; i++)
		digest = (digest ^ (unsigned char)line[i]) * 16777619;
	sprintf(text, "%s-%06x%s", name, (digest ^ digest >> 24) & 0xffffff, suffix);
	return text;
}

/* origin: out33.AA3 */
TEST(process__is_named_by_its_command_its_twins_and_its_forks)
{
	static const struct {
		const char *command;
		unsigned int forks[12];
		const char *name, *suffix;
	} lines[] = {
		{ "rping", { 0 }, "rping", "" },
		{ "rping", { 0 }, "rping", ".2" },
		{ "rpin", { 0 }, "rpin", "" },
		{ "rping", { 0 }, "rping", ".3" },
		{ "rping", { 1 }, "rping", "+1" },
		{ "rping", { 3, 2 }, "rping", "+3+2" },
		{ "rping", { 3, 2 }, "rping", "+3+2.2" },
		{ "rping", { 101 }, "rping", ".4" },
		{ NULL, { 0 }, "rping", ".4+1" },
		{ "ib_send-bw.1", { 0 }, "ib_send_bw_1", "" },
		{ "1st", { 0 }, "_st", "" },
		{ "", { 0 }, "_", "" },
		{ "a23456789012345678901234567890", { 0 }, "a2345678901234567890123456789", "" },
		{ "rping", { 11, 12, 13, 14, 15, 16, 17, 18, 19 }, "rping", "~" },
		{ "rping", { 11, 12, 13, 14, 15, 16, 17, 18, 20 }, "rping", "~" },
	};
	const size_t count = sizeof lines / sizeof *lines;

	share_a_record();
	soft_fault_set_beginning(nothing);
	for (size_t i = 0; i < count; i++)
		if (lines[i].command)
			begin_as(lines[i].command, lines[i].forks);
	ck_assert_uint_eq(soft_record->processes, count);
	for (size_t i = 0; i < count; i++) {
		const char *want = with_digest(lines[i].name, lines[i].suffix),
			   *name = soft_record->process[i].name;

		ck_assert(soft_record->process[i].named);
		if (*lines[i].suffix == '~')
			ck_assert_msg(
			    !strncmp(name, want, strlen(want)) && strlen(name) == strlen(want) + 8,
			    "%s", name);
		else
			ck_assert_str_eq(name, want);
	}
	ck_assert_str_ne(
	    soft_record->process[count - 1].name, soft_record->process[count - 2].name);
}

/* Later ones have a number, and no name. */
/* origin: out33.AA3 */
TEST(process__beyond_those_that_are_recorded__has_no_name)
{
	share_a_record();
	soft_fault_set_beginning(nothing);
	soft_record->processes = SOFT_RECORD_PROCESSES - 1;
	begin_as("last", (unsigned int[]){ 0 });
	begin_as("later", (unsigned int[]){ 0 });
	ck_assert_uint_eq(soft_record->processes, SOFT_RECORD_PROCESSES + 1);
	ck_assert_str_eq(
	    soft_record->process[SOFT_RECORD_PROCESSES - 1].name, with_digest("last", ""));
	for (int i = 0; i < SOFT_RECORD_PROCESSES - 1; i++)
		ck_assert(!soft_record->process[i].named);
	(void)soft_fault_process();
	ck_assert_uint_eq(soft_fault_number(), SOFT_RECORD_PROCESSES + 2);
	ck_assert_str_eq(soft_fault_process()->name, "");
}

/* origin: out33.AA3 */
TEST(rule__of_a_process_or_a_peer__by_number_name_or_slot)
{
	struct soft_rule rule = { .process = 2 };
	const char *own;

	share_a_record();
	soft_fault_set_beginning(nothing);
	begin_as("rping", (unsigned int[]){ 0 });
	own = soft_fault_process()->name;
	soft_record->process[0].slot = 11;
	soft_record->process[1].slot = 12;
	ck_assert_uint_eq(soft_fault_number(), 2);
	ck_assert(soft_fault_is_here(&rule));
	rule.process = 1;
	ck_assert(!soft_fault_is_here(&rule));
	rule.process = 0;
	ck_assert(soft_fault_is_here(&rule));
	strcpy(rule.name, own);
	ck_assert(soft_fault_is_here(&rule));
	rule.name[3] ^= 1;
	ck_assert(!soft_fault_is_here(&rule));

	ck_assert_uint_eq(soft_fault_peer(&rule), 0);
	for (unsigned int i = 1; i <= 3; i++) {
		rule = (struct soft_rule){ .peer = i };
		ck_assert_uint_eq(soft_fault_peer(&rule), i < 3 ? 10 + i : 0);
	}
	strcpy(rule.peer_name, soft_record->process[0].name);
	ck_assert_uint_eq(soft_fault_peer(&rule), 11);
	rule.peer_slot = 9;
	ck_assert_uint_eq(soft_fault_peer(&rule), 9);
}

/* What a rule calls a process is its number while it is the only one. */
/* origin: out33.AA3 */
TEST(name__of_a_process__is_its_number_or_its_name)
{
	static struct soft_record record = { .processes = 1 };
	char text[SOFT_PROCESS_NAME];

	strcpy(record.process[0].name, "one");
	strcpy(record.process[SOFT_RECORD_PROCESSES - 1].name, "last");
	record.process[0].named = record.process[SOFT_RECORD_PROCESSES - 1].named = true;
	soft_record_process_name(&record, 1, text);
	ck_assert_str_eq(text, "1");
	record.processes = 2;
	soft_record_process_name(&record, 1, text);
	ck_assert_str_eq(text, "one");
	soft_record_process_name(&record, 2, text);
	ck_assert_str_eq(text, "2");
	soft_record_process_name(&record, SOFT_RECORD_PROCESSES, text);
	ck_assert_str_eq(text, "last");
	soft_record_process_name(&record, SOFT_RECORD_PROCESSES + 1, text);
	ck_assert_str_eq(text, "65");
}

/* A regular file of that size and layout; no other is written to. */
/* origin: out33.AA3 */
TEST(record__of_a_run__is_a_file_of_its_layout)
{
	struct soft_record *const own = soft_record;
	const uint64_t layout = SOFT_RECORD_LAYOUT;
	char path[] = "record-XXXXXX";
	const int fd = mkstemp(path);

	ck_assert(!soft_record_open(NULL));
	ck_assert(!soft_record_open("/nonexistent"));
	ck_assert(!soft_record_open("/dev/null"));
	ck_assert_int_eq(pwrite(fd, &layout, sizeof layout, 0), sizeof layout);
	ck_assert_int_eq(ftruncate(fd, sizeof *own - 1), 0);
	ck_assert(!soft_record_open(path));
	ck_assert_int_eq(ftruncate(fd, sizeof *own), 0);
	ck_assert_int_eq(pwrite(fd, &(uint64_t){ layout + 1 }, sizeof layout, 0), sizeof layout);
	ck_assert(!soft_record_open(path));
	ck_assert_ptr_eq(soft_record, own);
	ck_assert_int_eq(pwrite(fd, &layout, sizeof layout, 0), sizeof layout);
	ck_assert(soft_record_open(path));
	ck_assert_ptr_ne(soft_record, own);
	soft_record->processes = 7;
	ck_assert_int_eq(pread(fd, &own->processes, sizeof own->processes,
			     offsetof(struct soft_record, processes)),
	    sizeof own->processes);
	ck_assert_uint_eq(own->processes, 7);
	close(fd);
	unlink(path);
}

/* Its number, and a descriptor of it; nothing without a place for that, and errno stays. */
/* origin: out33.K3 */
TEST(process__is_announced__with_a_descriptor_of_it)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int line = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0), fds = runner_count_fds();
	char long_path[sizeof address.sun_path + 1], info[512], pid[32];
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	unsigned int number = 0;
	struct iovec iov = { &number, sizeof number };
	struct msghdr message = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof control };
	int fd;
	FILE *file;

	memset(long_path, 'x', sizeof long_path - 1);
	long_path[sizeof long_path - 1] = '\0';
	sprintf(address.sun_path, "announce-%d", (int)getpid());
	ck_assert_int_eq(bind(line, (struct sockaddr *)&address, sizeof address), 0);
	soft_announce_open(NULL);
	soft_announce_open(long_path);
	soft_announce(1);
	ck_assert_int_eq(recv(line, &number, sizeof number, 0), -1);
	soft_announce_open(address.sun_path);
	errno = EXDEV;
	soft_announce(7);
	ck_assert_int_eq(errno, EXDEV);
	ck_assert_int_eq(runner_count_fds(), fds);
	ck_assert_int_eq(recvmsg(line, &message, 0), sizeof number);
	ck_assert_uint_eq(number, 7);
	ck_assert_uint_eq(control.header.cmsg_len, CMSG_LEN(sizeof fd));
	memcpy(&fd, CMSG_DATA(&control.header), sizeof fd);
	sprintf(info, "/proc/self/fdinfo/%d", fd);
	file = fopen(info, "r");
	info[fread(info, 1, sizeof info - 1, file)] = '\0';
	fclose(file);
	sprintf(pid, "\nPid:\t%d\n", (int)getpid());
	ck_assert_msg(strstr(info, pid), "%s", info);
	close(fd);
	unlink(address.sun_path);
	soft_announce(8); /* no one hears it */
	ck_assert_int_eq(runner_count_fds(), fds);
	close(line);
}

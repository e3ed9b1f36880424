/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * names -- the directory in which processes of a user find each other, and the owner of each name
 * in it
 */
#include "other.h"
#include "story.h"
#include "lib/feature.h"

#include "softverbs/device/names.h"

#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define ROOM_MAX 300

static char room[64]; /* a directory of this test; its temporary directory */
static char *runtime_before, *tmp_before;

static void
room_enter(void)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR"), *tmp = getenv("TMPDIR");

	runtime_before = runtime ? strdup(runtime) : NULL;
	tmp_before = tmp ? strdup(tmp) : NULL;
	snprintf(room, sizeof room, "/tmp/soft-names-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(room));
	unsetenv("XDG_RUNTIME_DIR");
	setenv("TMPDIR", room, 1);
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static void
put_back(const char *name, char *value)
{
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
	free(value);
}

static void
room_leave(void)
{
	nftw(room, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	put_back("XDG_RUNTIME_DIR", runtime_before);
	put_back("TMPDIR", tmp_before);
}

static const char *
in_room(const char *name)
{
	static char path[ROOM_MAX];

	snprintf(path, sizeof path, "%s/%s", room, name);
	return path;
}

/* What stands in the temporary directory. */
static const char *
meeting_place(void)
{
	char name[32];

	snprintf(name, sizeof name, "softverbs-%u", (unsigned int)geteuid());
	return in_room(name);
}

static bool
is_there(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

/* The device as a process needs it to reach others: 0, or the errno of a failure. */
static int
use_the_device(void)
{
	struct ibv_context *context = story_open();
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_cq *cq = ibv_create_cq(context, 1, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .cap = { 1, 1, 1, 1, 0 }
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);
	int r = qp ? 0 : errno;

	if (qp)
		ck_assert_int_eq(ibv_destroy_qp(qp), 0);
	ck_assert_int_eq(ibv_destroy_cq(cq), 0);
	ck_assert_int_eq(ibv_dealloc_pd(pd), 0);
	ck_assert_int_eq(ibv_close_device(context), 0);
	return r;
}

/* ---- where the directory is, and what is wrong with it ---- */

CASE("soft-names:names", room_enter, room_leave);

TEST(directory__in_the_runtime_directory_or_the_temporary_one)
{
	ck_assert_int_eq(use_the_device(), 0);
	ck_assert(is_there(meeting_place()));
	setenv("XDG_RUNTIME_DIR", in_room("run"), 1);
	ck_assert_int_eq(mkdir(in_room("run"), 0700), 0);
	ck_assert_int_eq(use_the_device(), 0);
	ck_assert(is_there(in_room("run/softverbs")));
}

/*
 * As in a container where it is not there, and in a shell that kept the variable of another user.
 */
TEST(runtime_directory__not_there_or_open_to_others__the_temporary_one_is_used)
{
	setenv("XDG_RUNTIME_DIR", in_room("run"), 1);
	ck_assert_int_eq(use_the_device(), 0);
	ck_assert(is_there(meeting_place()));
	ck_assert_int_eq(mkdir(in_room("run"), 0700), 0);
	ck_assert_int_eq(chmod(in_room("run"), 0777), 0);
	ck_assert_int_eq(use_the_device(), 0);
	ck_assert(!is_there(in_room("run/softverbs")));
	/* Nor is a path that depends on where the program is. */
	ck_assert_int_eq(chmod(in_room("run"), 0700), 0);
	ck_assert_int_eq(chdir(room), 0);
	setenv("XDG_RUNTIME_DIR", "run", 1);
	ck_assert_int_eq(use_the_device(), 0);
	ck_assert(!is_there(in_room("run/softverbs")));
	ck_assert_int_eq(chdir("/"), 0);
}

TEST(runtime_directory__longer_than_a_socket_address__works)
{
	char path[ROOM_MAX];
	int n = snprintf(path, sizeof path, "%s/", room);

	memset(path + n, 'x', 200);
	path[n + 200] = '\0';
	ck_assert_int_eq(mkdir(path, 0700), 0);
	setenv("XDG_RUNTIME_DIR", path, 1);
	ck_assert_int_eq(use_the_device(), 0);
	strcat(path, "/softverbs");
	ck_assert(is_there(path));
}

/* What the device says on standard error. */
static const char *
said_by(int (*act)(void), int *result)
{
	int fd = memfd_create("stderr", MFD_CLOEXEC);
	int saved = dup(STDERR_FILENO);
	static char said[512];

	dup2(fd, STDERR_FILENO);
	*result = act();
	dup2(saved, STDERR_FILENO);
	close(saved);
	memset(said, 0, sizeof said);
	ck_assert_int_ge(pread(fd, said, sizeof said - 1, 0), 0);
	close(fd);
	return said;
}

static void
expect_refused(int error, const char *complaint)
{
	int r;
	const char *said = said_by(use_the_device, &r);

	ck_assert_int_eq(r, error);
	ck_assert_msg(strstr(said, meeting_place()) && strstr(said, complaint), "said: %s", said);
}

/* origin: attack.P13 */
TEST(directory_open_to_others__refused_with_a_message)
{
	ck_assert_int_eq(mkdir(meeting_place(), 0700), 0);
	ck_assert_int_eq(chmod(meeting_place(), 0750), 0);
	expect_refused(EACCES, "has mode 0750");
	ck_assert_int_eq(chmod(meeting_place(), 0700), 0);
	ck_assert_int_eq(use_the_device(), 0);
}

/* The permissions of what softverbs has made, without the type. */
static mode_t
mode_of(const char *path)
{
	struct stat st;

	ck_assert_msg(!lstat(path, &st), "%s: %s", path, strerror(errno));
	return st.st_mode & 07777;
}

static int
expect_for_the_owner(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	const mode_t needed = type == FTW_D	    ? S_IRWXU :
			      S_ISSOCK(st->st_mode) ? S_IWUSR :
						      S_IRUSR | S_IWUSR;

	(void)ftw;
	ck_assert_msg((st->st_mode & needed) == needed, "%s has mode %04o", path,
	    (unsigned int)st->st_mode & 07777);
	ck_assert_msg(S_ISSOCK(st->st_mode) || !(st->st_mode & 077), "%s is open to others", path);
	return 0;
}

/* origin: out33.J2 */
TEST_LOOP(umask__takes_bits_of_the_owner__what_is_made_has_them, 4)
{
	const mode_t masks[] = { 0177, 0277, 0477, 0777 }, before = umask(masks[_i]);
	struct ibv_context *context = story_open();
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_cq *cq = ibv_create_cq(context, 1, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .cap = { 1, 1, 1, 1, 0 }
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	ck_assert_ptr_nonnull(qp);
	ck_assert_int_eq(umask(before), masks[_i]);
	ck_assert_int_eq(nftw(meeting_place(), expect_for_the_owner, 8, FTW_DEPTH | FTW_PHYS), 0);
	ck_assert_int_eq(ibv_destroy_qp(qp), 0);
	ck_assert_int_eq(ibv_destroy_cq(cq), 0);
	ck_assert_int_eq(ibv_dealloc_pd(pd), 0);
	ck_assert_int_eq(ibv_close_device(context), 0);
}

/* origin: out33.J2 */
TEST_LOOP(directory_of_an_earlier_run_without_bits_of_the_owner__is_repaired, 4)
{
	const mode_t modes[] = { 0600, 0500, 0200, 0 };
	char file[ROOM_MAX];

	ck_assert_int_eq(use_the_device(), 0);
	snprintf(file, sizeof file, "%.200s/softverbs.1.names", meeting_place());
	ck_assert_int_eq(chmod(file, modes[_i] & 0600), 0);
	ck_assert_int_eq(chmod(meeting_place(), modes[_i]), 0);
	ck_assert_int_eq(use_the_device(), 0);
	ck_assert_int_eq(mode_of(meeting_place()), 0700);
	ck_assert_int_eq(mode_of(file), 0600);
}

TEST(directory_is_a_link_or_a_file__refused_with_a_message)
{
	char place[ROOM_MAX];

	strcpy(place, meeting_place());
	ck_assert_int_eq(mkdir(in_room("elsewhere"), 0700), 0);
	ck_assert_int_eq(symlink("elsewhere", place), 0);
	expect_refused(ENOTDIR, "Not a directory");
	ck_assert_int_eq(unlink(place), 0);
	ck_assert_int_eq(mknod(place, S_IFREG | 0600, 0), 0);
	expect_refused(ENOTDIR, "Not a directory");
}

/* False if this process may not mount. */
static bool
make_read_only(const char *directory)
{
	return (!unshare(CLONE_NEWNS) || !unshare(CLONE_NEWUSER | CLONE_NEWNS)) &&
	       !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount("none", directory, "tmpfs", MS_RDONLY, NULL);
}

/* origin: out33.DD12 */
TEST(file_system_is_read_only__the_device_may_not_be_used)
{
	if (!make_read_only(room)) {
		runner_skip("no file system can be mounted here");
		return;
	}
	expect_refused(EACCES, "Read-only file system");
}

/* ---- other users ---- */

/* A name that cannot be seen in a file system, and that any user may hold. */
static void
hold_abstract(const char *format, unsigned int number)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), n;

	ck_assert_int_ge(fd, 0);
	n = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, format, number);
	(void)bind(fd, (struct sockaddr *)&address,
	    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n));
	(void)listen(fd, 1);
}

/*
 * A process that holds `n` names, so that no process needs more descriptors than a user may have.
 */
static pid_t
start_holder(const char *format, unsigned int first, unsigned int step, unsigned int n)
{
	int held[2];
	pid_t pid;
	char c = 0;

	ck_assert_int_eq(pipe(held), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (unsigned int i = 0; i < n; i++)
			hold_abstract(format, first + step * i);
		(void)!write(held[1], &c, 1);
		for (;;)
			pause();
	}
	close(held[1]);
	ck_assert_int_eq(read(held[0], &c, 1), 1);
	close(held[0]);
	return pid;
}

static void
hold_all_that_is_open_to_all(void)
{
	const pid_t holders[] = {
		start_holder("softverbs.1.slot.%u", 1, 1, 511),
		start_holder("softverbs.1.slot.%u", 512, 1, 511),
		start_holder("softverbs.1.ports.0106.%u", 49152, 64, 256),
	};

	other_meet();
	other_meet();
	for (unsigned int i = 0; i < sizeof holders / sizeof holders[0]; i++) {
		kill(holders[i], SIGKILL);
		waitpid(holders[i], NULL, 0);
	}
}

/* origin: attack.P13 */
TEST(abstract_names_held_by_another__do_no_harm)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	uint16_t port;

	other_start(hold_all_that_is_open_to_all);
	other_meet();
	ck_assert_int_eq(use_the_device(), 0);
	channel = cm_channel();
	id = cm_listen(channel, &port);
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
	other_meet();
	other_finish();
}

/* ---- owners ---- */

static void
stand_in(unsigned int slot, int *listener)
{
	struct sockaddr_un address;
	socklen_t length = soft_name_address(&address, slot);

	*listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(*listener, (struct sockaddr *)&address, length), 0);
}

TEST(sockets_of_the_dead__replaced)
{
	int fd;

	ck_assert_int_eq(soft_names_open(), 0);
	for (unsigned int slot = 1; slot <= 1022; slot++) {
		stand_in(slot, &fd);
		close(fd);
	}
	soft_names_close();
	ck_assert_int_eq(use_the_device(), 0);
	ck_assert_int_eq(use_the_device(), 0);
}

TEST(socket_of_the_living__left_alone_though_its_name_is_free)
{
	unsigned int slot = 1 + (unsigned int)getpid() % 1022; /* the first to be tried */
	struct side a;
	int fd, door;

	ck_assert_int_eq(soft_names_open(), 0);
	stand_in(slot, &fd);
	ck_assert_int_eq(listen(fd, 8), 0);
	soft_names_close();
	side_make(&a, NULL);
	ck_assert_uint_ne(a.qp->qp_num >> 14, slot);
	door = accept(fd, NULL, NULL);
	ck_assert_int_ge(door, 0); /* the device looked who is there */
	close(door);
	close(fd);
	side_free(&a);
}

/*
 * Processes that lock one name: each counts itself in while it owns the name, and some die as
 * owners.
 */
#define OWNERS 6
#define ROUNDS 300

static void
take_and_die(atomic_int *owners, unsigned int seed)
{
	ck_assert_int_eq(soft_names_open(), 0);
	for (unsigned int won = 0; won < ROUNDS;) {
		int r = soft_name_lock(SOFT_NAME_SLOT(7));

		if (r == -EADDRINUSE) {
			sched_yield();
			continue;
		}
		if (r || atomic_fetch_add(owners, 1))
			_exit(1);
		won++;
		sched_yield();
		if (atomic_fetch_sub(owners, 1) != 1)
			_exit(2);
		if (won == seed * ROUNDS / OWNERS)
			raise(SIGKILL);
		soft_name_unlock(SOFT_NAME_SLOT(7));
	}
	_exit(0);
}

TEST(owners_of_one_name__one_at_a_time__also_after_the_death_of_owners)
{
	atomic_int *owners =
	    mmap(NULL, sizeof *owners, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pids[OWNERS];
	int status;

	for (unsigned int i = 0; i < OWNERS; i++) {
		pids[i] = fork();
		ck_assert_int_ge(pids[i], 0);
		if (!pids[i])
			take_and_die(owners, i);
	}
	for (int i = 0; i < OWNERS; i++) {
		ck_assert_int_eq(waitpid(pids[i], &status, 0), pids[i]);
		ck_assert_msg(i ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL :
				  WIFEXITED(status) && !WEXITSTATUS(status),
		    "process %d: %x", i, status);
	}
	munmap(owners, sizeof *owners);
}

static struct rdma_event_channel *channel;
static uint16_t port;

static struct rdma_cm_id *
bind_port(uint16_t wish, int error)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = wish };
	struct rdma_cm_id *id;
	int r;

	ck_assert_int_eq(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	r = rdma_bind_addr(id, (struct sockaddr *)&address);
	ck_assert_int_eq(r ? errno : 0, error);
	if (!r)
		return id;
	rdma_destroy_id(id);
	return NULL;
}

/* With a child that lives longer. */
static void
own_a_port_and_die(void)
{
	struct rdma_cm_id *id;
	int born[2];
	pid_t child;
	char c;

	channel = cm_channel();
	id = bind_port(0, 0);
	port = rdma_get_src_port(id);
	ck_assert_int_eq(pipe(born), 0);
	child = fork();
	if (!child) {
		close(born[1]);
		for (;;)
			pause();
	}
	close(born[1]);
	ck_assert_int_eq(read(born[0], &c, 1), 0); /* it has left what is not its own */
	other_tell(&child, sizeof child);
	other_tell(&port, sizeof port);
	for (;;)
		pause();
}

TEST(port_of_a_killed_process__free__even_if_its_child_lives)
{
	struct rdma_cm_id *id;
	pid_t child;

	other_start(own_a_port_and_die);
	other_hear(&child, sizeof child);
	other_hear(&port, sizeof port);
	channel = cm_channel();
	ck_assert_ptr_null(bind_port(port, EADDRNOTAVAIL));
	other_kill();
	id = bind_port(port, 0);
	kill(child, SIGKILL);
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
}

TEST(child_of_a_fork_ends__names_stay_the_parents)
{
	struct side a;
	uint32_t slot;
	pid_t child;
	int status;

	side_make(&a, NULL);
	slot = a.qp->qp_num >> 14;
	child = fork();
	if (!child)
		_exit(0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	child = fork();
	if (!child) {
		ck_assert_int_eq(soft_names_open(), 0);
		_exit(soft_name_lock(SOFT_NAME_SLOT(slot)) == -EADDRINUSE ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	side_free(&a);
}

static void
listen_elsewhere(void)
{
	struct rdma_cm_id *id;

	ck_assert_int_eq(mkdir(in_room("other"), 0700), 0);
	setenv("XDG_RUNTIME_DIR", in_room("other"), 1);
	channel = cm_channel();
	id = cm_listen(channel, &port);
	other_tell(&port, sizeof port);
	other_meet();
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
}

TEST(processes_with_different_directories__do_not_meet)
{
	struct rdma_conn_param param = { 0 };
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	struct ibv_cq *cq;

	other_start(listen_elsewhere);
	other_hear(&port, sizeof port);
	channel = cm_channel();
	id = cm_resolved(channel, port);
	cq = ibv_create_cq(id->verbs, 8, NULL, NULL, 0);
	cm_qp(id, cq);
	ck_assert_int_eq(rdma_connect(id, &param), 0);
	event = cm_next(channel, RDMA_CM_EVENT_REJECTED);
	ck_assert_int_eq(event->status, 8);
	rdma_ack_cm_event(event);
	rdma_destroy_qp(id);
	rdma_destroy_id(id);
	ibv_destroy_cq(cq);
	rdma_destroy_event_channel(channel);
	other_meet();
	other_finish();
}

/* ---- with the rights of root ---- */

CASE("soft-names:root", room_enter, room_leave, .needs = feature_root, .reason = FEATURE_NO_ROOT,
    .root = true);

TEST(directory_of_another_user__refused_with_a_message)
{
	ck_assert_int_eq(mkdir(meeting_place(), 0700), 0);
	ck_assert_int_eq(chown(meeting_place(), 65534, 65534), 0);
	expect_refused(EACCES, "belongs to user 65534");
}

static void
address_of(struct sockaddr_un *address, unsigned int user, uint32_t qpn)
{
	int n = snprintf(address->sun_path, sizeof address->sun_path,
	    "%s/softverbs-%u/softverbs.1.slot.%u", room, user, qpn >> 14);

	ck_assert_int_lt(n, (int)sizeof address->sun_path);
	address->sun_family = AF_UNIX;
}

/* In another user's room, which root may enter. */
static void
serve_as_another_user(void)
{
	struct side a;

	ck_assert_int_eq(setuid(65534), 0);
	side_make(&a, NULL);
	other_tell(&a.qp->qp_num, sizeof a.qp->qp_num);
	other_meet();
	side_free(&a);
}

/* A connection of this process to the socket of a user is hung up. */
static void
expect_hung_up(unsigned int user, uint32_t qpn)
{
	struct pollfd pfd = { .events = POLLIN };
	struct sockaddr_un address;
	char c;

	address_of(&address, user, qpn);
	pfd.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(connect(pfd.fd, (struct sockaddr *)&address, sizeof address), 0);
	ck_assert_int_eq(poll(&pfd, 1, (int)runner_stretch(10000)), 1);
	ck_assert_int_le(read(pfd.fd, &c, 1), 0);
	close(pfd.fd);
}

TEST(another_user_connects__hung_up)
{
	uint32_t qpn;

	ck_assert_int_eq(chmod(room, 01777), 0);
	other_start(serve_as_another_user);
	other_hear(&qpn, sizeof qpn);
	expect_hung_up(65534, qpn);
	other_meet();
	other_finish();
}

static void
connect_as_another_user(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address;
	uint32_t qpn;

	other_hear(&qpn, sizeof qpn);
	address_of(&address, 0, qpn);
	ck_assert_int_eq(access(address.sun_path, F_OK), 0);
	ck_assert_int_eq(setuid(65534), 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof address), -1);
	ck_assert_int_eq(errno, EACCES);
	close(fd);
}

TEST(socket_of_another_user__cannot_be_reached)
{
	struct side a, b;

	other_start(connect_as_another_user);
	pair_make(&a, &b, NULL);
	other_tell(&a.qp->qp_num, sizeof a.qp->qp_num);
	other_finish();
	pair_free(&a, &b);
}

static void
connect_as_before(void)
{
	uint32_t qpn;

	other_hear(&qpn, sizeof qpn);
	for (int i = 0; i < 2; i++)
		expect_hung_up(0, qpn);
	other_meet();
}

static struct side changed;

static int
change_the_user(void)
{
	ck_assert_int_eq(seteuid(65534), 0);
	other_tell(&changed.qp->qp_num, sizeof changed.qp->qp_num);
	other_meet();
	return seteuid(0);
}

/* As a daemon that gives up the rights of root when it has opened its devices. */
/* origin: issue38.5 */
TEST(user_changes_when_the_device_is_open__hung_up_and_said_once)
{
	int r;
	const char *said;

	ck_assert_int_eq(chmod(room, 01777), 0);
	other_start(connect_as_before);
	side_make(&changed, NULL);
	said = said_by(change_the_user, &r);
	ck_assert_int_eq(r, 0);
	other_finish();
	side_free(&changed);
	ck_assert_ptr_nonnull(
	    strstr(said, "user 0 has become user 65534 since it opened the device"));
	ck_assert_ptr_eq(strchr(said, '\n'), said + strlen(said) - 1);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test-page -- what dat_top makes of pages of statistics: those that the provider writes, and those
 * that are damaged
 *
 *     test-page plant FILE PID NAMESPACE STARTED SIZE ROWS
 *
 * makes a page as a program could that is not the provider, for check-top: with holes if it is
 * larger than its rows.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "evd/stats/page.h"
#include "tools/top/page.h"

static int passed, failed;

#define CHECK(what, condition) check(what, condition, #condition, __LINE__)

static void
check(const char *what, bool ok, const char *condition, int line)
{
	if (ok) {
		passed++;
		return;
	}
	failed++;
	printf("FAIL  %s: %s (line %d)\n", what, condition, line);
}

/* A file with a head and `rows` rows, which the test changes. */
struct file {
	struct evd_stats_head head;
	struct evd_stats_row rows[4];
};

static struct file
good(void)
{
	struct file file = { .head = {
				 .magic = EVD_STATS_MAGIC,
				 .version = EVD_STATS_VERSION,
				 .head_size = sizeof file.head,
				 .row_size = sizeof file.rows[0],
				 .pid = 1,
				 .begun = 7,
				 .ended = 7,
				 .count = 4,
			     } };

	for (int i = 0; i < 4; i++)
		snprintf(file.rows[i].adapter, sizeof file.rows[i].adapter, "adapter%d", i);
	return file;
}

/* An anonymous file with the first `size` bytes of it. */
static int
put(const struct file *file, size_t size)
{
	char path[] = "/tmp/test-page-XXXXXX";
	int fd = mkstemp(path);

	if (fd < 0 || unlink(path) || write(fd, file, size) != (ssize_t)size) {
		perror("/tmp");
		exit(99);
	}
	return fd;
}

static void
expect_of(const char *what, const struct file *file, size_t size, enum page_state wanted)
{
	struct page page;
	char why[256];
	int fd = put(file, size);
	enum page_state state = page_read(fd, &page, &(int){ PAGE_PATIENCE });

	if (state != wanted)
		printf("%s: it %s\n", what, page_explain(state, &page, why, sizeof why));
	CHECK(what, state == wanted);
	page_free(&page);
	close(fd);
}

static void
expect(const char *what, struct file file, enum page_state wanted)
{
	expect_of(what, &file, sizeof file, wanted);
}

static void
damaged_pages(void)
{
	struct file file = good();

	expect("a good page is read", file, PAGE_READ);
	expect_of("an empty file", &file, 0, PAGE_EMPTY);
	expect_of("one byte", &file, 1, PAGE_FOREIGN);
	expect_of("a head that is cut off", &file, sizeof file.head - 1, PAGE_FOREIGN);
	expect_of("a head without the rows that it counts", &file, sizeof file.head, PAGE_BROKEN);
	expect_of("a row that is cut off", &file, sizeof file - 1, PAGE_BROKEN);
	file.head.count = 3;
	expect_of("a row that is cut off and not counted", &file, sizeof file - 1, PAGE_READ);
	file = good();
	file.head.magic++;
	expect("another magic number", file, PAGE_FOREIGN);
	file.head.magic = 0;
	expect("a page that is being made", file, PAGE_EMPTY);
	file = good();
	file.head.version++;
	expect("another version", file, PAGE_OTHER);
	file = good();
	file.head.head_size += 8;
	expect("another size of the head", file, PAGE_BROKEN);
	file = good();
	file.head.row_size = 0;
	expect("rows of no size", file, PAGE_BROKEN);
	file = good();
	file.head.row_size = UINT32_MAX;
	expect("rows of a huge size", file, PAGE_BROKEN);
	file = good();
	file.head.count = 5;
	expect("one row too many", file, PAGE_BROKEN);
	file.head.count = EVD_STATS_ROWS_MAX + 1;
	expect("more rows than a page may have", file, PAGE_BROKEN);
	file.head.count = UINT64_MAX;
	expect("as many rows as can be", file, PAGE_BROKEN);
	file.head.count = UINT64_MAX / sizeof file.rows[0] + 2;
	expect("so many rows that their size overflows", file, PAGE_BROKEN);
	file = good();
	file.head.begun = file.head.ended = 0;
	expect("no snapshot yet", file, PAGE_EMPTY);
	file = good();
	file.head.begun++;
	expect("a snapshot that is never finished", file, PAGE_BUSY);
	file = good();
	file.head.ended++;
	expect("a snapshot that was never begun", file, PAGE_BUSY);
	file = good();
	file.head.interval_ms = file.head.time_ns = file.head.started = UINT64_MAX;
	memset(file.rows, 0xff, sizeof file.rows);
	expect("counts as large as can be", file, PAGE_READ);
}

static void
texts(void)
{
	struct file file = good();
	struct page page;
	int fd;

	memset(file.rows[0].adapter, 'x', sizeof file.rows[0].adapter);
	snprintf(file.rows[1].adapter, sizeof file.rows[1].adapter, "a\033[2Jb\200c");
	fd = put(&file, sizeof file);
	CHECK("texts", page_read(fd, &page, &(int){ PAGE_PATIENCE }) == PAGE_READ);
	CHECK("a text without an end gets one", strlen(page.rows[0].adapter) == EVD_STATS_NAME - 1);
	CHECK("a text has nothing for the terminal", strcmp(page.rows[1].adapter, "a?[2Jb?c") == 0);
	page_free(&page);
	close(fd);
}

static void
paths(void)
{
	char folder[] = "/tmp/test-page-XXXXXX", path[64];

	if (!mkdtemp(folder)) {
		perror(folder);
		exit(99);
	}
	CHECK("a folder is refused", page_open(AT_FDCWD, folder) < 0);
	CHECK("what does not exist is refused",
	    page_open(AT_FDCWD, "/tmp/test-page-nothing") < 0 && errno == ENOENT);
	snprintf(path, sizeof path, "%s/link", folder);
	CHECK("a link is made", symlink("/etc/passwd", path) == 0);
	CHECK("a link is refused", page_open(AT_FDCWD, path) < 0);
	unlink(path);
	CHECK("a pipe is made", mkfifo(path, 0600) == 0);
	CHECK("a pipe is refused, without a wait for its other end", page_open(AT_FDCWD, path) < 0);
	unlink(path);
	rmdir(folder);
}

/* ---- a page that changes while it is read ---- */

static atomic_bool over;

static void *
truncate_often(void *arg)
{
	const struct file file = good();
	int fd = *(int *)arg;

	while (!over) {
		(void)!ftruncate(fd, sizeof file.head / 2);
		(void)!pwrite(fd, &file, sizeof file, 0);
		(void)!ftruncate(fd, sizeof file.head);
		(void)!pwrite(fd, &file, sizeof file, 0);
	}
	return NULL;
}

static void
shrinking_page(void)
{
	const struct file file = good();
	int fd = put(&file, sizeof file), bad = 0;
	struct page page;
	pthread_t thread;

	over = false;
	pthread_create(&thread, NULL, truncate_often, &fd);
	for (int i = 0; i < 2000; i++) {
		if (page_read(fd, &page, &(int){ PAGE_PATIENCE }) == PAGE_READ)
			bad += page.head.count != 4;
		page_free(&page);
	}
	over = true;
	pthread_join(thread, NULL);
	CHECK("a page that shrinks while it is read does no harm", bad == 0);
	close(fd);
}

#define ROWS_MOST 200

/* Snapshot number n has n % ROWS_MOST rows, all counts of which are n. */
static void *
write_often(void *arg)
{
	static struct evd_stats_row rows[ROWS_MOST];
	struct evd_stats_page *page = arg;

	for (uint64_t n = 1; !over; n++) {
		for (uint64_t i = 0; i < n % ROWS_MOST; i++) {
			rows[i].evd = i;
			rows[i].serial = rows[i].arms = rows[i].slow_upcalls = n;
		}
		evd_stats_page_write(page, rows, n % ROWS_MOST, 0, n);
		usleep(20);
	}
	return NULL;
}

static bool
is_whole(const struct page *page)
{
	const uint64_t n = page->head.time_ns;

	for (uint64_t i = 0; i < page->head.count; i++)
		if (page->rows[i].evd != i || page->rows[i].serial != n ||
		    page->rows[i].arms != n || page->rows[i].slow_upcalls != n)
			return false;
	return page->head.count == n % ROWS_MOST;
}

/* The program may not write so long a file: it goes on, without the rows that have no room. */
/* origin: out33.E7 */
static void
short_files(void)
{
	static struct evd_stats_row rows[ROWS_MOST];
	struct evd_stats_page page;
	struct evd_stats_head *head;
	struct rlimit was, limit;
	struct stat st;

	getrlimit(RLIMIT_FSIZE, &was);
	limit = was;
	limit.rlim_cur = 100;
	setrlimit(RLIMIT_FSIZE, &limit);
	CHECK("a page that may not be so long is not made",
	    evd_stats_page_open(&page, 100) == -EFBIG && page.fd < 0 && stat(page.path, &st) != 0);
	setrlimit(RLIMIT_FSIZE, &was);
	if (evd_stats_page_open(&page, 100)) {
		perror(EVD_STATS_FOLDER);
		exit(99);
	}
	limit.rlim_cur = page.size;
	setrlimit(RLIMIT_FSIZE, &limit);
	evd_stats_page_write(&page, rows, ROWS_MOST, 0, 1);
	head = page.map;
	CHECK("a page that may not grow counts the rows that are missing",
	    head->count < ROWS_MOST && head->count + head->missing == ROWS_MOST);
	setrlimit(RLIMIT_FSIZE, &was);
	evd_stats_page_close(&page);
}

static void
growing_page(void)
{
	struct evd_stats_page writer;
	int read = 0, torn = 0, fd;
	struct page page;
	struct stat st;
	pthread_t thread;

	if (evd_stats_page_open(&writer, 100)) {
		perror(EVD_STATS_FOLDER);
		exit(99);
	}
	CHECK("only the owner reads the page",
	    stat(writer.path, &st) == 0 && (st.st_mode & 0777) == 0600);
	fd = page_open(AT_FDCWD, writer.path);
	CHECK("a page of the provider is opened", fd >= 0);
	over = false;
	pthread_create(&thread, NULL, write_often, &writer);
	for (int i = 0; i < 3000; i++) {
		if (page_read(fd, &page, &(int){ PAGE_PATIENCE }) == PAGE_READ) {
			read++;
			torn += !is_whole(&page);
		}
		page_free(&page);
	}
	over = true;
	pthread_join(thread, NULL);
	CHECK("a page that is written meanwhile is read", read > 100);
	CHECK("every snapshot is whole", torn == 0);
	CHECK("the page says whose it is",
	    page_read(fd, &page, &(int){ PAGE_PATIENCE }) == PAGE_READ &&
		page.head.pid == (uint64_t)getpid() && page.head.started != 0);
	page_free(&page);
	evd_stats_page_close(&writer);
	CHECK("the closed page has no file", fstat(fd, &st) == 0 && st.st_nlink == 0);
	close(fd);
}

/* ---- whose a page is ---- */

/* What another process sees of the lock. */
static pid_t
holder_elsewhere(int fd)
{
	int status = -1;
	const pid_t child = fork();

	if (child == 0)
		_exit(page_holder(fd) == getppid() ? 1 : page_holder(fd) == -1 ? 2 : 3);
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return -2;
	return WEXITSTATUS(status) == 1 ? getpid() : WEXITSTATUS(status) == 2 ? -1 : -3;
}

/*
 * An exit of a child that has the number of its parent, in a PID namespace of its own, must leave
 * the page.
 */
static void
holders(void)
{
	struct evd_stats_page page, other;
	struct stat st;
	int fd, moved, status = 0;
	pid_t child;

	if (evd_stats_page_open(&page, 100)) {
		perror(EVD_STATS_FOLDER);
		exit(99);
	}
	fd = page_open(AT_FDCWD, page.path);
	CHECK("the process that made a page has its lock", holder_elsewhere(page.fd) == getpid());
	child = fork();
	if (child == 0) {
		page.pid = getpid(); /* as it is in a namespace */
		evd_stats_page_abandon(&page);
		evd_stats_page_close(&page);
		_exit(0);
	}
	waitpid(child, &status, 0);
	CHECK("a child with the number of its parent leaves its page", stat(page.path, &st) == 0);
	CHECK("a page has no holes", page_is_whole(fd));
	CHECK("the page names its namespace",
	    stat("/proc/self/ns/pid", &st) == 0 &&
		((struct evd_stats_head *)page.map)->pid_namespace == st.st_ino);

	/* Another file has come under its name. */
	other = page;
	unlink(page.path);
	moved = open(page.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	CHECK("another file is made", moved >= 0);
	evd_stats_page_close(&page);
	CHECK("a close leaves a file that is not the page", stat(other.path, &st) == 0);
	CHECK("without its owner the lock is gone", holder_elsewhere(fd) == -1);
	unlink(other.path);
	close(moved);
	close(fd);
}

/* A file of the program with some bytes: in the folder of the pages, or elsewhere. */
#define OWN_BYTES "a file of the program"

static int
put_own(const char *path)
{
	int fd = path ? open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600) :
			memfd_create("own", MFD_CLOEXEC);

	if (fd < 0 || write(fd, OWN_BYTES, sizeof OWN_BYTES) != (ssize_t)sizeof OWN_BYTES) {
		perror("a file of the program");
		exit(99);
	}
	return fd;
}

static bool
is_unharmed(int fd)
{
	char bytes[sizeof OWN_BYTES + 1];

	return pread(fd, bytes, sizeof bytes, 0) == (ssize_t)sizeof OWN_BYTES &&
	       memcmp(bytes, OWN_BYTES, sizeof OWN_BYTES) == 0;
}

/*
 * The program has closed all descriptors, and the number is that of a file of its own now, or of
 * none: neither the device nor the inode alone says that it is the page.
 */
/* origin: out33.E4 */
static void
lost_descriptor(void)
{
	enum { SAME_DEVICE, OTHER_DEVICE, SAME_INODE, NONE, KINDS };
	static struct evd_stats_row rows[ROWS_MOST];
	struct evd_stats_page page;
	char own_path[64], page_path[sizeof page.path];
	struct stat st;
	int own, number;

	snprintf(own_path, sizeof own_path, EVD_STATS_FOLDER "/test-page-%ld", (long)getpid());
	for (int kind = 0; kind < KINDS; kind++) {
		if (evd_stats_page_open(&page, 100)) {
			perror(EVD_STATS_FOLDER);
			exit(99);
		}
		snprintf(page_path, sizeof page_path, "%s", page.path);
		own = put_own(kind == SAME_DEVICE ? own_path : NULL);
		number = page.fd;
		CHECK("the file has the device of the page, or not",
		    fstat(own, &st) == 0 && (st.st_dev == page.device) == (kind == SAME_DEVICE));
		/* A file system may give the same number to a file of its own. */
		if (kind == SAME_INODE)
			page.inode = st.st_ino;
		if (kind == NONE)
			close(number);
		else
			dup2(own, number);
		evd_stats_page_write(&page, rows, ROWS_MOST, 0, 1);
		CHECK("rows that have no room are missing",
		    ((struct evd_stats_head *)page.map)->count < ROWS_MOST &&
			((struct evd_stats_head *)page.map)->count +
				((struct evd_stats_head *)page.map)->missing ==
			    ROWS_MOST);
		CHECK("a file of the program is not written to", is_unharmed(own));
		evd_stats_page_abandon(&page);
		CHECK("... nor when the process ends", is_unharmed(own));
		evd_stats_page_close(&page);
		CHECK("... nor at the close", is_unharmed(own));
		CHECK("a descriptor of the program is not closed",
		    (fstat(number, &st) == 0) == (kind != NONE));
		/* With another inode the name is not that of the page. */
		CHECK("the page itself is removed",
		    (stat(page_path, &st) != 0) == (kind != SAME_INODE));
		CHECK("... and no other file", kind != SAME_DEVICE || stat(own_path, &st) == 0);
		unlink(page_path);
		unlink(own_path);
		if (kind != NONE)
			close(number);
		close(own);
	}
}

/* ---- patience ---- */

struct becoming {
	int fd;
	struct file file;
};

/* Which states are waited for, and for how long: the patience that is left. */
/* origin: out33.E3 */
static void
patience(void)
{
	static const struct {
		const char *what;
		uint64_t magic, begun, ended;
		enum page_state state;
		bool waits;
	} cases[] = {
		{ "a good page", EVD_STATS_MAGIC, 7, 7, PAGE_READ, false },
		{ "a page that is being made", 0, 0, 0, PAGE_EMPTY, true },
		{ "no snapshot yet", EVD_STATS_MAGIC, 0, 0, PAGE_EMPTY, true },
		{ "a first snapshot that is being written", EVD_STATS_MAGIC, 1, 0, PAGE_EMPTY,
		    true },
		{ "a snapshot that is being written", EVD_STATS_MAGIC, 8, 7, PAGE_BUSY, true },
		{ "no page", 1, 7, 7, PAGE_FOREIGN, false },
	};
	struct file file = good();
	struct page page;
	int left, fd;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		for (int start = 0; start < 4; start++) {
			file = good();
			file.head.magic = cases[i].magic;
			file.head.begun = cases[i].begun;
			file.head.ended = cases[i].ended;
			fd = put(&file, sizeof file);
			left = start;
			CHECK(cases[i].what, page_read(fd, &page, &left) == cases[i].state);
			CHECK(cases[i].what, left == (cases[i].waits ? 0 : start));
			page_free(&page);
			close(fd);
		}
	file = good();
	file.head.version++;
	fd = put(&file, sizeof file);
	left = 4;
	CHECK("another version is not waited for",
	    page_read(fd, &page, &left) == PAGE_OTHER && left == 4);
	CHECK("an empty file is waited for",
	    ftruncate(fd, 0) == 0 && page_read(fd, &page, &left) == PAGE_EMPTY && left == 0);
	close(fd);
}

static void *
become(void *arg)
{
	struct becoming *becoming = arg;

	/* Some attempts have failed by then. */
	usleep(20000);
	(void)!pwrite(becoming->fd, &becoming->file, sizeof becoming->file, 0);
	return NULL;
}

/* Each state that passes is over some time, and then the page is read. */
static void
waiting(void)
{
	static const struct {
		const char *what;
		size_t size;
		uint64_t magic, begun, ended;
	} cases[] = {
		{ "an empty file becomes a page", 0, 0, 0, 0 },
		{ "a page is made", sizeof(struct file), 0, 0, 0 },
		{ "a first snapshot comes", sizeof(struct file), EVD_STATS_MAGIC, 0, 0 },
		{ "a snapshot is finished", sizeof(struct file), EVD_STATS_MAGIC, 8, 7 },
	};
	struct becoming becoming;
	struct page page;
	pthread_t thread;
	struct file file;
	int left;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		file = becoming.file = good();
		file.head.magic = cases[i].magic;
		file.head.begun = cases[i].begun;
		file.head.ended = cases[i].ended;
		becoming.fd = put(&file, cases[i].size);
		left = 100000;
		pthread_create(&thread, NULL, become, &becoming);
		CHECK(cases[i].what, page_read(becoming.fd, &page, &left) == PAGE_READ);
		pthread_join(thread, NULL);
		page_free(&page);
		close(becoming.fd);
	}
}

static int
plant(char **args)
{
	struct file file = good();
	const int fd = open(args[0], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	unsigned long long value[5];

	for (int i = 0; i < 5; i++)
		value[i] = strtoull(args[i + 1], NULL, 10);
	file.head.pid = value[0];
	file.head.pid_namespace = value[1];
	file.head.started = value[2];
	file.head.count = value[4];
	if (fd < 0 || write(fd, &file, sizeof file) != (ssize_t)sizeof file ||
	    (value[3] > sizeof file && ftruncate(fd, (off_t)value[3]))) {
		perror(args[0]);
		return 1;
	}
	return fchmod(fd, 0644) != 0;
}

int
main(int argc, char **argv)
{
	if (argc == 8 && strcmp(argv[1], "plant") == 0)
		return plant(argv + 2);
	damaged_pages();
	texts();
	paths();
	shrinking_page();
	if (access(EVD_STATS_FOLDER, W_OK | X_OK)) {
		puts("skip  pages that are written: no file can be made in " EVD_STATS_FOLDER);
	} else {
		short_files();
		growing_page();
		holders();
		lost_descriptor();
		patience();
		waiting();
	}
	printf("%d passed, %d failed\n", passed, failed);
	return failed != 0;
}

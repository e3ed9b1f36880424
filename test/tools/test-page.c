/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test-page -- what dat_top makes of pages of statistics: those that the provider writes, and those that are damaged
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dapl/stats/page.h"
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
	struct dapl_stats_head head;
	struct dapl_stats_row rows[4];
};

static struct file
good(void)
{
	struct file file = { .head = {
				 .magic = DAPL_STATS_MAGIC,
				 .version = DAPL_STATS_VERSION,
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
	enum page_state state = page_read(fd, &page);

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
	CHECK("texts", page_read(fd, &page) == PAGE_READ);
	CHECK(
	    "a text without an end gets one", strlen(page.rows[0].adapter) == DAPL_STATS_NAME - 1);
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
	CHECK("a folder is refused", page_open(folder) < 0);
	CHECK("what does not exist is refused",
	    page_open("/tmp/test-page-nothing") < 0 && errno == ENOENT);
	snprintf(path, sizeof path, "%s/link", folder);
	CHECK("a link is made", symlink("/etc/passwd", path) == 0);
	CHECK("a link is refused", page_open(path) < 0);
	unlink(path);
	CHECK("a pipe is made", mkfifo(path, 0600) == 0);
	CHECK("a pipe is refused, without a wait for its other end", page_open(path) < 0);
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
		if (page_read(fd, &page) == PAGE_READ)
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
	static struct dapl_stats_row rows[ROWS_MOST];
	struct dapl_stats_page *page = arg;

	for (uint64_t n = 1; !over; n++) {
		for (uint64_t i = 0; i < n % ROWS_MOST; i++) {
			rows[i].evd = i;
			rows[i].serial = rows[i].arms = rows[i].slow_upcalls = n;
		}
		dapl_stats_page_write(page, rows, n % ROWS_MOST, 0, n);
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

static void
growing_page(void)
{
	struct dapl_stats_page writer;
	int read = 0, torn = 0, fd;
	struct page page;
	struct stat st;
	pthread_t thread;

	if (dapl_stats_page_open(&writer, 100)) {
		perror(DAPL_STATS_FOLDER);
		exit(99);
	}
	CHECK("only the owner reads the page",
	    stat(writer.path, &st) == 0 && (st.st_mode & 0777) == 0600);
	fd = page_open(writer.path);
	CHECK("a page of the provider is opened", fd >= 0);
	over = false;
	pthread_create(&thread, NULL, write_often, &writer);
	for (int i = 0; i < 3000; i++) {
		if (page_read(fd, &page) == PAGE_READ) {
			read++;
			torn += !is_whole(&page);
		}
		page_free(&page);
	}
	over = true;
	pthread_join(thread, NULL);
	CHECK("a page that is written meanwhile is read", read > 100);
	CHECK("every snapshot is whole", torn == 0);
	CHECK("the page says whose it is", page_read(fd, &page) == PAGE_READ &&
					       page.head.pid == (uint64_t)getpid() &&
					       page.head.started != 0);
	page_free(&page);
	dapl_stats_page_close(&writer);
	CHECK("the closed page has no file", fstat(fd, &st) == 0 && st.st_nlink == 0);
	close(fd);
}

int
main(void)
{
	damaged_pages();
	texts();
	paths();
	shrinking_page();
	growing_page();
	printf("%d passed, %d failed\n", passed, failed);
	return failed != 0;
}

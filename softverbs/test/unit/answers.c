/* SPDX-License-Identifier: BSD-3-Clause */
/* answers -- what softverbs_ctl() takes from processes of the user that mean harm */
#define SOFTVERBS_CTL_PATIENCE 0.1
#define SOFTVERBS_CTL_MOST ((size_t)1000)
#include "softverbs/softverbs_ctl.h"

#include "lib/runner.h"

#include <pthread.h>
#include <stdbool.h>

#define PROCESSES 2
#define GOOD "{\"process\":1,\"name\":\"a\\u001b\\\"\\\\\",\"removed\":false,\"n\":-10}\n"

/* One that listens as a process of softverbs-run --control does, and answers so. */
struct fake {
	const char *first; /* packet; NULL: none */
	size_t length;
	bool drips; /* a byte now and then */
	int fd;
	pthread_t thread;
};

static struct fake fakes[PROCESSES];
static char place[32], folder[64];

static void
fake_name(char *path, size_t size, int i)
{
	snprintf(path, size, "%s/" SOFTVERBS_CTL_SOCKET "%d", folder, i + 1);
}

static void *
fake_run(void *arg)
{
	const struct fake *fake = arg;
	char request[4096];
	const int fd = accept(fake->fd, NULL, NULL);

	if (fd < 0)
		return NULL;
	(void)!recv(fd, request, sizeof request, 0);
	if (fake->first)
		(void)!send(fd, fake->first, fake->length, MSG_NOSIGNAL);
	for (int i = 0; fake->drips && i < 100 && send(fd, "x", 1, MSG_NOSIGNAL) == 1; i++)
		usleep(20000);
	if (!fake->first)
		(void)!recv(fd, request, sizeof request, 0); /* until the other end is closed */
	close(fd);
	return NULL;
}

static void
fake_begin(int i, const char *first, size_t length, bool drips)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	fakes[i] = (struct fake){ .first = first,
		.length = length,
		.drips = drips,
		.fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0) };
	fake_name(address.sun_path, sizeof address.sun_path, i);
	ck_assert_int_eq(bind(fakes[i].fd, (struct sockaddr *)&address, sizeof address), 0);
	ck_assert_int_eq(listen(fakes[i].fd, 0), 0);
	ck_assert_int_eq(pthread_create(&fakes[i].thread, NULL, fake_run, &fakes[i]), 0);
}

static void
fake_end(int i)
{
	char path[128];

	shutdown(fakes[i].fd, SHUT_RDWR);
	ck_assert_int_eq(pthread_join(fakes[i].thread, NULL), 0);
	close(fakes[i].fd);
	fake_name(path, sizeof path, i);
	ck_assert_int_eq(unlink(path), 0);
}

static void
set_up(void)
{
	strcpy(place, "/tmp/answers-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(place));
	snprintf(folder, sizeof folder, "%s/softverbs", place);
	ck_assert_int_eq(mkdir(folder, 0700), 0);
	setenv("XDG_RUNTIME_DIR", place, 1);
}

static void
tear_down(void)
{
	ck_assert_int_eq(rmdir(folder), 0);
	ck_assert_int_eq(rmdir(place), 0);
}

/* One process answers the request with these bytes: what the caller gets is this error, or none. */
static void
expect(const char *request, const char *bytes, size_t length, int error, const char *text)
{
	char *answer = NULL;
	int r;

	fake_begin(0, bytes, length, false);
	errno = 0;
	r = softverbs_ctl(NULL, request, &answer);
	ck_assert_msg(r == (error ? -1 : 1) && (!error || errno == error),
	    "%s is answered with %s: %d, %s", request, bytes, r, strerror(errno));
	ck_assert_str_eq(answer, text);
	free(answer);
	fake_end(0);
}

static void
expect_dump(const char *text, int error)
{
	char bytes[2048];
	const int n = snprintf(bytes, sizeof bytes, "+%zu\n%s", strlen(text), text);

	expect("dump", bytes, (size_t)n, error, error ? "" : text);
}

CASE("soft-answers:answers", set_up, tear_down);

/* origin: out33.W4 */
TEST(ctl__state_is_no_json__is_an_error_of_that_process)
{
	static const char *const wrong[] = {
		"",
		"\n",
		"x\n",
		"[1]\n",
		"{}\n",
		"{\"process\":",
		"{\"a\":1}",
		"{\"a\":1}\n\n",
		"{\"a\":1}{\"a\":1}\n",
		"{\"a\":1}\nx",
		"{\"a\":01}\n",
		"{\"a\":-}\n",
		"{\"a\":}\n",
		"{\"a\"}\n",
		"{\"a\":1,}\n",
		"{a:1}\n",
		"{\"a\":{\"b\":1}}\n",
		"{\"a\":\"\033[31m\"}\n",
		"{\"a\":\"\a\"}\n",
		"{\"a\":\"\377\"}\n",
		"{\"\177\":1}\n",
		"{\"a\":\"\\x\"}\n",
		"{\"a\":\"\\u12\"}\n",
		"{\"a\":\"\\",
	};

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		expect_dump(wrong[i], EPROTO);
	expect_dump(GOOD, 0);
	expect_dump(GOOD GOOD "{\"a\":0,\"b\":true,\"c\":null}\n", 0);
}

#define EXPECT(request, bytes, error, text) expect(request, bytes, sizeof(bytes) - 1, error, text)

/* origin: out33.W4 */
TEST(ctl__answer_is_none__is_an_error_of_that_process)
{
	EXPECT("dump", "Z7\n{\"a\":1}\n", EPROTO, "");
	EXPECT("dump", "+", EPROTO, "");
	EXPECT("dump", "+-1\n", EPROTO, "");
	EXPECT("dump", "+8\n{\"a\":1}\n\n", EPROTO, "");
	EXPECT("dump", "+10\n{\"a\":1}\n\0\n", EPROTO, "");
	EXPECT("dump", "-4\nnot\n", EPROTO, "");
	EXPECT("do link.cut", "+2\nx\n", EPROTO, "");
	EXPECT("do link.cut", "-0\n", EPROTO, "");
	EXPECT("do link.cut", "=2\nx\n", EPROTO, "");
	EXPECT("do link.cut", "-4\nnot\n", EINVAL, "not\n");
	EXPECT("do link.cut", "+0\n", 0, "");
	EXPECT("do link.cut", "=0\n", ESRCH, "");
	EXPECT("dump", "+8\n{\"a\"", ESRCH, ""); /* it has ended */
}

/* origin: out33.W3 */
TEST(ctl__answer_is_longer_than_all_may_be__is_not_read)
{
	static char many[60000], two[700];
	char *answer;
	int n;

	memset(many, 'A', sizeof many);
	expect("dump", many, sizeof many - 1, EPROTO, "");
	EXPECT("dump", "+1001\n{\"a\":", EPROTO, "");
	/* Each is short enough, both are not. */
	n = snprintf(two, sizeof two, "+601\n{\"a\":\"%592d\"}\n", 0);
	fake_begin(0, two, (size_t)n, false);
	fake_begin(1, two, (size_t)n, false);
	ck_assert_int_eq(softverbs_ctl(NULL, "dump", &answer), -1);
	ck_assert_int_eq(errno, EPROTO);
	ck_assert_uint_eq(strlen(answer), 601);
	free(answer);
	fake_end(0);
	fake_end(1);
}

/* The next process is asked, and heard. */
static void
expect_timeout(void)
{
	const long long before = softverbs_ctl_now();
	char *answer;

	fake_begin(1, "+8\n{\"a\":1}\n", 11, false);
	ck_assert_int_eq(softverbs_ctl(NULL, "dump", &answer), -1);
	ck_assert_int_eq(errno, ETIMEDOUT);
	ck_assert_str_eq(answer, "{\"a\":1}\n");
	ck_assert_double_lt((double)(softverbs_ctl_now() - before), runner_stretch(1) * 1e6);
	free(answer);
	fake_end(1);
}

/* origin: out33.W3 */
TEST_LOOP(ctl__process_is_silent_or_drips__ends_with_the_time_for_all_of_the_answer, 2)
{
	if (_i)
		fake_begin(0, "+900\nx", 6, true);
	else
		fake_begin(0, NULL, 0, false);
	expect_timeout();
	fake_end(0);
}

/* origin: out33.W3 */
TEST(ctl__process_accepts_nobody__ends_with_the_time)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int waits[2];

	fake_begin(0, NULL, 0, false);
	fake_name(address.sun_path, sizeof address.sun_path, 0);
	for (int i = 0; i < 2; i++) {
		waits[i] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
		ck_assert_int_eq(connect(waits[i], (struct sockaddr *)&address, sizeof address), 0);
	}
	expect_timeout();
	for (int i = 0; i < 2; i++)
		close(waits[i]);
	fake_end(0);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_strerror(): a sentence for every type and subtype
 */
#include "story.h"

#include <ctype.h>

#include <dat2/dat_event_str.h>
#include <dat2/dat_ib_extensions.h>

/* Starts with a capital, ends with its symbolic name in brackets and a full stop. */
static void
assert_sentence(const char *text, unsigned int value)
{
	size_t n = strlen(text);

	ck_assert_msg(n > 20 && isupper((unsigned char)text[0]) && strchr(text, ' ') != NULL &&
			  strcmp(text + n - 2, ").") == 0 && strstr(text, "(DAT_") != NULL,
	    "0x%08x: \"%s\" is no sentence", value, text);
}

/* The types from 0 to DAT_COMM_NOT_SUPPORTED, and two beyond. */
static DAT_RETURN
type_number(int i)
{
	int last = DAT_COMM_NOT_SUPPORTED >> 16;

	if (i <= last)
		return (DAT_RETURN)i << 16;
	return i == last + 1 ? (DAT_RETURN)DAT_EXTENSION_BASE : (DAT_RETURN)DAT_NOT_IMPLEMENTED;
}

enum { TYPES = (DAT_COMM_NOT_SUPPORTED >> 16) + 3 };

CASE("strerror:strerror");

/* clause: b.6.4 */
TEST(strerror__every_type__is_a_sentence_of_its_own)
{
	const char *texts[TYPES], *minor;
	int i, j;

	for (i = 0; i < TYPES; i++) {
		story_assert_ret(dat_strerror(type_number(i), &texts[i], &minor), DAT_SUCCESS);
		assert_sentence(texts[i], type_number(i));
		ck_assert_str_eq(minor, "");
		for (j = 0; j < i; j++)
			ck_assert_str_ne(texts[i], texts[j]);
	}
}

/* clause: b.6.4 */
TEST(strerror__every_subtype__is_a_sentence_of_its_own)
{
	static const char *texts[DAT_THREAD_SAFETY_NOT_FOUND + 1];
	const char *major;
	int i, j;

	for (i = 1; i <= DAT_THREAD_SAFETY_NOT_FOUND; i++) {
		story_assert_ret(
		    dat_strerror(DAT_ERROR(DAT_INVALID_STATE, i), &major, &texts[i]), DAT_SUCCESS);
		assert_sentence(texts[i], (unsigned int)i);
		for (j = 1; j < i; j++)
			ck_assert_str_ne(texts[i], texts[j]);
	}
}

static const struct {
	const char *part, *word;
} parts[] = {
	{ "_LMR", "local memory region" },
	{ "_PZ", "protection zone" },
	{ "_SRQ", "shared receive queue" },
	{ "_CNO_", "consumer notification object" },
	{ "HANDLE_CNO", "consumer notification object" },
	{ "STATE_EP_", "endpoint" },
	{ "HANDLE_EP", "endpoint" },
	{ "_EVD_", "event dispatcher" },
	{ "STATE_IA_", "interface adapter" },
	{ "HANDLE_IA", "interface adapter" },
	{ "HANDLE_RMR", "remote memory region" },
	{ "HANDLE_PSP", "public service point" },
	{ "HANDLE_RSP", "reserved service point" },
	{ "HANDLE_CSP", "common service point" },
	{ "_CR)", "connection request" },
	{ "_RDMA_READ)", "Remote reading" },
	{ "_RDMA_WRITE)", "Remote writing" },
	{ "PRIVILEGES_READ)", "Local reading" },
	{ "PRIVILEGES_WRITE)", "Local writing" },
	{ "PROTECTION_READ)", "Local reading" },
	{ "PROTECTION_WRITE)", "Local writing" },
	{ "1)", "first argument" },
	{ "2)", "second argument" },
	{ "3)", "third argument" },
	{ "4)", "fourth argument" },
	{ "5)", "fifth argument" },
	{ "6)", "sixth argument" },
	{ "7)", "seventh argument" },
	{ "8)", "eighth argument" },
	{ "9)", "ninth argument" },
	{ "10)", "tenth argument" },
};

/* Not that of another one, though its name is right. */
TEST(strerror__sentence_of_a_subtype__is_about_what_its_name_says)
{
	const char *major, *text, *name, *other;

	for (int i = 1; i <= DAT_THREAD_SAFETY_NOT_FOUND; i++) {
		(void)dat_strerror(DAT_ERROR(DAT_INVALID_STATE, i), &major, &text);
		name = strstr(text, " (DAT_");
		for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++)
			ck_assert_msg(!strstr(name, parts[k].part) || strstr(text, parts[k].word),
			    "%s: no %s", text, parts[k].word);
		/* A handle is an argument. */
		for (int k = strstr(text, " argument") ? i : 1; k < i; k++) {
			(void)dat_strerror(DAT_ERROR(DAT_INVALID_STATE, k), &major, &other);
			ck_assert_msg(strncmp(text, other, (size_t)(name - text + 2)) != 0, "%s %s",
			    text, other);
		}
	}
}

TEST(strerror__names_at_the_ends_of_the_lists__are_right)
{
	const char *major, *minor;

	(void)dat_strerror(DAT_ERROR(DAT_ABORT, DAT_SUB_INTERRUPTED), &major, &minor);
	ck_assert_ptr_nonnull(strstr(major, "(DAT_ABORT)."));
	ck_assert_ptr_nonnull(strstr(minor, "(DAT_SUB_INTERRUPTED)."));
	(void)dat_strerror(
	    DAT_ERROR(DAT_NOT_IMPLEMENTED, DAT_THREAD_SAFETY_NOT_FOUND), &major, &minor);
	ck_assert_ptr_nonnull(strstr(major, "(DAT_NOT_IMPLEMENTED)."));
	ck_assert_ptr_nonnull(strstr(minor, "(DAT_THREAD_SAFETY_NOT_FOUND)."));
	(void)dat_strerror(DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE10), &major, &minor);
	ck_assert_str_eq(minor, "It is the tenth argument (DAT_INVALID_HANDLE10).");
	(void)dat_strerror(
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_STATE_EP_UNCONNECTED), &major, &minor);
	ck_assert_ptr_nonnull(strstr(minor, "(DAT_INVALID_STATE_EP_UNCONNECTED)."));
}

/* clause: b.6.4, c.1.1 */
TEST(strerror__class_bits__change_nothing)
{
	const char *with, *without, *minor;

	story_assert_ret(dat_strerror(DAT_QUEUE_EMPTY, &without, &minor), DAT_SUCCESS);
	story_assert_ret(
	    dat_strerror(DAT_CLASS_ERROR | DAT_QUEUE_EMPTY, &with, &minor), DAT_SUCCESS);
	ck_assert_str_eq(with, without);
	story_assert_ret(
	    dat_strerror(DAT_CLASS_WARNING | DAT_QUEUE_EMPTY, &with, &minor), DAT_SUCCESS);
	ck_assert_str_eq(with, without);
}

/* clause: b.6.5 */
TEST(strerror__unknown_type__is_said)
{
	const char *major = NULL, *minor = NULL;

	ck_assert_uint_eq(dat_strerror(0x80180000, &major, &minor), 0x00060000);
	ck_assert_str_eq(major, "unknown error");
	ck_assert_str_eq(minor, "");
}

/* clause: b.6.5 */
TEST(strerror__unknown_subtype__is_said)
{
	const char *major = NULL, *minor = NULL;

	ck_assert_uint_eq(dat_strerror(0x80050068, &major, &minor), 0x00060000);
	ck_assert_ptr_nonnull(strstr(major, "(DAT_INVALID_HANDLE)."));
	ck_assert_str_eq(minor, "unknown minor error");
}

TEST(strerror__without_places__does_not_crash)
{
	const char *major = NULL;

	story_assert_ret(dat_strerror(DAT_SUCCESS, NULL, NULL),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	story_assert_ret(dat_strerror(DAT_ABORT, &major, NULL), DAT_SUCCESS);
	ck_assert_ptr_nonnull(major);
}

struct name {
	unsigned int number;
	const char *text;
};

#define NAME(constant) \
	{ \
		(unsigned int)(constant), #constant \
	}

static const struct name events[] = {
	NAME(DAT_DTO_COMPLETION_EVENT),
	NAME(DAT_RMR_BIND_COMPLETION_EVENT),
	NAME(DAT_CONNECTION_REQUEST_EVENT),
	NAME(DAT_CONNECTION_EVENT_ESTABLISHED),
	NAME(DAT_CONNECTION_EVENT_PEER_REJECTED),
	NAME(DAT_CONNECTION_EVENT_NON_PEER_REJECTED),
	NAME(DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR),
	NAME(DAT_CONNECTION_EVENT_DISCONNECTED),
	NAME(DAT_CONNECTION_EVENT_BROKEN),
	NAME(DAT_CONNECTION_EVENT_TIMED_OUT),
	NAME(DAT_CONNECTION_EVENT_UNREACHABLE),
	NAME(DAT_ASYNC_ERROR_EVD_OVERFLOW),
	NAME(DAT_ASYNC_ERROR_IA_CATASTROPHIC),
	NAME(DAT_ASYNC_ERROR_EP_BROKEN),
	NAME(DAT_ASYNC_ERROR_TIMED_OUT),
	NAME(DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR),
	NAME(DAT_HA_DOWN_TO_1),
	NAME(DAT_HA_UP_TO_MULTI_PATH),
	NAME(DAT_SOFTWARE_EVENT),
	NAME(DAT_IB_DTO_EVENT),
	NAME(DAT_IB_UD_CONNECTION_REQUEST_EVENT),
	NAME(DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED),
	NAME(DAT_IB_UD_CONNECTION_REJECT_EVENT),
	NAME(DAT_IB_UD_CONNECTION_ERROR_EVENT),
	NAME(DAT_IB_COLLECTIVE_EVENT),
};

static const struct name statuses[] = {
	NAME(DAT_DTO_SUCCESS),
	NAME(DAT_DTO_ERR_FLUSHED),
	NAME(DAT_DTO_ERR_LOCAL_LENGTH),
	NAME(DAT_DTO_ERR_LOCAL_EP),
	NAME(DAT_DTO_ERR_LOCAL_PROTECTION),
	NAME(DAT_DTO_ERR_BAD_RESPONSE),
	NAME(DAT_DTO_ERR_REMOTE_ACCESS),
	NAME(DAT_DTO_ERR_REMOTE_RESPONDER),
	NAME(DAT_DTO_ERR_TRANSPORT),
	NAME(DAT_DTO_ERR_RECEIVER_NOT_READY),
	NAME(DAT_DTO_ERR_PARTIAL_PACKET),
	NAME(DAT_RMR_OPERATION_FAILED),
	NAME(DAT_DTO_ERR_LOCAL_MM_ERROR),
};

/* clause: b.6.9 */
TEST(event_str_and_dto_status_str__every_number_has_its_name)
{
	for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
		ck_assert_str_eq(dat_event_str((DAT_EVENT_NUMBER)events[i].number), events[i].text);
	for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
		ck_assert_str_eq(dat_dto_status_str((DAT_DTO_COMPLETION_STATUS)statuses[i].number),
		    statuses[i].text);
	ck_assert_str_eq(dat_event_str((DAT_EVENT_NUMBER)0x12345), "unknown event");
	ck_assert_ptr_null(dat_event_name((DAT_EVENT_NUMBER)0x12345));
	ck_assert_str_eq(dat_dto_status_str((DAT_DTO_COMPLETION_STATUS)99), "unknown status");
	ck_assert_ptr_null(dat_dto_status_name((DAT_DTO_COMPLETION_STATUS)99));
}

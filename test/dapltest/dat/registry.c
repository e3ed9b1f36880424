/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Listing providers, and providers that the program registers itself
 */
#include <dat2/dat_ib_extensions.h>
#include <dat2/dat_log.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "story.h"

#define ARG(n) DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG##n)
#define LINE(name) name " u2.0 threadsafe default lib.so id.2.0 \"\" \"\"\n"
#define OFF(name) name " u2.0 threadsafe nondefault lib.so id.2.0 \"\" \"\"\n"

static void
ignore_line(DAT_PVOID context, DAT_LOG_LEVEL level, const char *line)
{
	(void)context, (void)level, (void)line;
}

static DAT_PROVIDER_INFO infos[4], *list[4] = { &infos[0], &infos[1], &infos[2], &infos[3] };

STORY_CASE("registry:list");

/* clause: b.6.1 */
TEST(list__max_0__returns_how_many_there_are)
{
	DAT_COUNT n = -1;

	story_conf(LINE("a") LINE("b") LINE("c"));
	story_assert_ret(dat_registry_list_providers(0, &n, NULL), ARG(1));
	ck_assert_int_eq(n, 3);
}

/* clause: b.6.2 */
TEST(list__room_for_two_of_three__is_filled)
{
	DAT_COUNT n = -1;

	story_conf(LINE("a") LINE("b") LINE("c"));
	infos[2].ia_name[0] = '-';
	story_assert_ret(dat_registry_list_providers(2, &n, list), DAT_SUCCESS);
	ck_assert_int_eq(n, 2);
	ck_assert_str_eq(infos[0].ia_name, "a");
	ck_assert_str_eq(infos[1].ia_name, "b");
	ck_assert_int_eq(infos[2].ia_name[0], '-');
}

TEST(list__infos__have_the_whole_key)
{
	DAT_COUNT n = -1;

	story_conf("a u2.0 nonthreadsafe default l id.2.0 a b\n"
		   "a u1.7 threadsafe default l id.2.0 a b\n");
	story_assert_ret(dat_registry_list_providers(4, &n, list), DAT_SUCCESS);
	ck_assert_int_eq(n, 2);
	ck_assert_uint_eq(infos[0].dapl_version_major, 2);
	ck_assert_uint_eq(infos[0].dapl_version_minor, 0);
	ck_assert_int_eq(infos[0].is_thread_safe, DAT_FALSE);
	ck_assert_uint_eq(infos[1].dapl_version_major, 1);
	ck_assert_uint_eq(infos[1].dapl_version_minor, 7);
	ck_assert_int_eq(infos[1].is_thread_safe, DAT_TRUE);
}

TEST(list__records_of_one_key__are_one_entry)
{
	story_conf(LINE("a") LINE("b") LINE("a"));
	ck_assert_str_eq(story_listed(), "a b ");
}

/* Nothing but the first record of a key is an entry, wherever the others stand. */
/* origin: out35.P32 */
TEST_LOOP(list__further_records_of_a_key_before_other_keys__are_no_entries, 3)
{
	static const char *const files[] = { LINE("a") LINE("a") LINE("b"),
		OFF("a") LINE("a") LINE("a") LINE("a") OFF("b") LINE("b"),
		LINE("a") OFF("a") LINE("a") LINE("b") LINE("b") };

	story_conf(files[_i]);
	ck_assert_str_eq(story_listed(), "a b ");
}

/* clause: b.6.3 */
TEST(list__bad_arguments__are_named)
{
	DAT_PROVIDER_INFO *holes[2] = { &infos[0], NULL };
	DAT_COUNT n = -1;

	story_conf(LINE("a") LINE("b"));
	story_assert_ret(dat_registry_list_providers(2, NULL, list), ARG(2));
	story_assert_ret(dat_registry_list_providers(2, &n, NULL), ARG(3));
	story_assert_ret(dat_registry_list_providers(2, &n, holes), ARG(3));
	story_assert_ret(dat_registry_list_providers(-1, &n, list), ARG(1));
	story_assert_ret(dat_registry_list_providers(1, &n, holes), DAT_SUCCESS);
}

TEST(records__of_every_kind__are_described_in_the_order_of_the_file)
{
	DAT_REARM_RECORD r[4];
	DAT_COUNT n = -1;

	story_conf("# a comment\n"
		   "off u2.0 threadsafe nondefault off.so id.2.0 \"eth0 0\" \"\"\n"
		   "bad line\n"
		   "k k1.2 nonthreadsafe default k.so id.2.0 \"\" \"\"\n" LINE("a") LINE("a"));
	story_listen();
	story_assert_ret(dat_rearm_list_records(4, &n, r), DAT_SUCCESS);
	(void)story_heard();
	ck_assert_int_eq(n, 4);
	ck_assert_str_eq(r[0].name, "off");
	ck_assert_str_eq(r[0].library, "off.so");
	ck_assert_str_eq(r[0].parameters, "eth0 0");
	ck_assert_str_eq(r[0].file, story_conf_path());
	ck_assert_uint_eq(r[0].line, 2);
	ck_assert(r[0].for_user_space && r[0].is_thread_safe && !r[0].is_default);
	ck_assert_str_eq(r[1].name, "k");
	ck_assert_uint_eq(r[1].line, 4);
	ck_assert_uint_eq(r[1].version_major, 1);
	ck_assert_uint_eq(r[1].version_minor, 2);
	ck_assert(!r[1].for_user_space && !r[1].is_thread_safe && r[1].is_default);
	ck_assert_str_eq(r[2].name, "a");
	ck_assert_str_eq(r[3].name, "a");
	ck_assert_uint_eq(r[3].line, 6);
}

TEST(records__without_room__are_counted)
{
	DAT_REARM_RECORD r[2] = { { .name = "-" }, { .name = "-" } };
	DAT_COUNT n = -1;

	story_conf(LINE("a") LINE("b"));
	story_assert_ret(dat_rearm_list_records(0, &n, NULL), DAT_SUCCESS);
	ck_assert_int_eq(n, 2);
	story_assert_ret(dat_rearm_list_records(1, &n, r), DAT_SUCCESS);
	ck_assert_int_eq(n, 2);
	ck_assert_str_eq(r[0].name, "a");
	ck_assert_str_eq(r[1].name, "-");
	story_assert_ret(dat_rearm_list_records(-1, &n, r), ARG(1));
	story_assert_ret(dat_rearm_list_records(1, NULL, r), ARG(2));
	story_assert_ret(dat_rearm_list_records(1, &n, NULL), ARG(3));
}

TEST(records__of_no_file__are_the_one_that_is_built_in)
{
	DAT_REARM_RECORD r[1];
	DAT_COUNT n = -1;

	unsetenv("DAT_OVERRIDE");
	story_assert_ret(dat_rearm_list_records(0, &n, NULL), DAT_SUCCESS);
	if (n != 1)
		return; /* this host has a dat.conf */
	story_assert_ret(dat_rearm_list_records(1, &n, r), DAT_SUCCESS);
	ck_assert_str_eq(r[0].name, "rearm-soft");
	ck_assert_ptr_null(r[0].file);
	ck_assert_uint_eq(r[0].line, 0);
	ck_assert_ptr_nonnull(strstr(r[0].library, "libdaplsoft.so.2"));
}

/* Each descriptor that reading needs is missing; the next call reads. */
TEST(records__no_descriptor__is_reported_and_tried_again)
{
	struct rlimit limit, none;
	DAT_COUNT n = -1;

	story_conf(LINE("a"));
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = 0;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	dat_rearm_set_log(ignore_line, NULL);
	story_assert_ret(dat_rearm_list_records(0, &n, NULL),
	    DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_NO_SUBTYPE));
	ck_assert_int_eq(n, -1);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	story_assert_ret(dat_rearm_list_records(0, &n, NULL), DAT_SUCCESS);
	ck_assert_int_eq(n, 1);
}

/* clause: b.6.8 */
/* origin: out35.P32 */
TEST(related__names__are_compared_but_not_opened)
{
	DAT_HA_RELATIONSHIP answer = DAT_HA_CONFLICTING;

	/* "off" is no name for programs, and "late" is one by its second line. */
	story_conf(LINE("a") LINE("b") OFF("off") OFF("off") OFF("late") LINE("late"));
	story_assert_ret(
	    dat_registry_providers_related((char *)"late", (char *)"a", &answer), DAT_SUCCESS);
	ck_assert_int_eq(answer, DAT_HA_UNKNOWN);
	story_assert_ret(dat_registry_providers_related((char *)"off", (char *)"a", &answer),
	    DAT_ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED));
	story_assert_ret(
	    dat_registry_providers_related((char *)"a", (char *)"a", &answer), DAT_SUCCESS);
	ck_assert_int_eq(answer, DAT_HA_TRUE);
	story_assert_ret(
	    dat_registry_providers_related((char *)"a", (char *)"b", &answer), DAT_SUCCESS);
	ck_assert_int_eq(answer, DAT_HA_UNKNOWN);
	story_assert_ret(dat_registry_providers_related((char *)"a", (char *)"c", &answer),
	    DAT_ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED));
	story_assert_ret(dat_registry_providers_related(NULL, (char *)"b", &answer), ARG(1));
	story_assert_ret(dat_registry_providers_related((char *)"a", NULL, &answer), ARG(2));
	story_assert_ret(dat_registry_providers_related((char *)"a", (char *)"b", NULL), ARG(3));
}

/* A provider inside the program. */
static struct own_ia {
	DAT_PROVIDER *table;
} own_ia;
static DAT_PROVIDER own_table;
static int own_opened;

static DAT_RETURN
own_open(const DAT_NAME_PTR name, DAT_COUNT qlen, DAT_EVD_HANDLE *evd, DAT_IA_HANDLE *ia)
{
	(void)name;
	(void)qlen;
	(void)evd;
	own_opened++;
	own_ia.table = &own_table;
	*ia = &own_ia;
	return DAT_SUCCESS;
}

static DAT_RETURN
own_close(DAT_IA_HANDLE ia, DAT_CLOSE_FLAGS flags)
{
	(void)ia;
	(void)flags;
	return DAT_SUCCESS;
}

static DAT_PROVIDER_INFO
own_info(void)
{
	DAT_PROVIDER_INFO info = {
		.ia_name = "own", .dapl_version_major = 2, .is_thread_safe = DAT_TRUE
	};

	own_table.device_name = "own";
	own_table.ia_open_func = own_open;
	own_table.ia_close_func = own_close;
	return info;
}

STORY_CASE("registry:register");

TEST(add__provider_of_the_program__opens_without_dat_conf)
{
	DAT_PROVIDER_INFO info = own_info();
	DAT_IA_HANDLE ia;

	story_conf("");
	story_assert_ret(dat_registry_add_provider(&own_table, &info), DAT_SUCCESS);
	ia = story_open("own", DAT_TRUE);
	story_assert_ret(dat_registry_remove_provider(&own_table, &info),
	    DAT_ERROR(DAT_PROVIDER_IN_USE, DAT_NO_SUBTYPE));
	story_close(ia);
	story_close(story_open("own", DAT_FALSE));
	ck_assert_int_eq(own_opened, 2);
	story_assert_ret(dat_registry_remove_provider(&own_table, &info), DAT_SUCCESS);
	story_assert_ret(story_try_open("own", 2, 0, DAT_TRUE, &ia),
	    DAT_ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED));
}

/* What the calls of a provider that opens nothing return: it fails, or has no handle. */
static DAT_RETURN own_answer;

static DAT_RETURN
own_open_nothing(const DAT_NAME_PTR name, DAT_COUNT qlen, DAT_EVD_HANDLE *evd, DAT_IA_HANDLE *ia)
{
	(void)name, (void)qlen, (void)evd, (void)ia;
	return own_answer;
}

static DAT_RETURN
own_extend_nothing(DAT_HANDLE handle, DAT_EXTENDED_OP op, va_list args)
{
	(void)handle, (void)op, (void)args;
	return own_answer;
}

/* There are fewer numbers for adapters.  Either call opens. */
/* origin: out35.P33 */
TEST_LOOP(add__provider_that_opens_nothing_seventy_thousand_times__no_number_is_lost, 4)
{
	const DAT_RETURN failure = DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_DEVICE),
			 wanted = _i % 2 ? failure : DAT_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE);
	DAT_PROVIDER_INFO info = own_info();
	DAT_IA_HANDLE ia;

	story_conf("");
	dat_rearm_set_log(ignore_line, NULL);
	own_answer = _i % 2 ? failure : DAT_SUCCESS;
	own_table.ia_open_func = own_open_nothing;
	own_table.handle_extendedop_func = own_extend_nothing;
	story_assert_ret(dat_registry_add_provider(&own_table, &info), DAT_SUCCESS);
	for (int i = 0; i < 70000; i++) {
		ia = DAT_HANDLE_NULL;
		story_assert_ret(_i < 2 ? story_try_open("own", 2, 0, DAT_TRUE, &ia) :
					  dat_ib_open_query("own", &ia, 0, NULL, 0, NULL),
		    wanted);
		ck_assert_ptr_eq(ia, DAT_HANDLE_NULL);
	}
	story_assert_ret(dat_registry_remove_provider(&own_table, &info), DAT_SUCCESS);
}

static DAT_IA_HANDLE own_second, own_found;

/* The provider has closed the adapter, and gives its address to the next one. */
static DAT_RETURN
own_close_and_open(DAT_IA_HANDLE ia, DAT_CLOSE_FLAGS flags)
{
	(void)flags;
	own_table.ia_close_func = own_close;
	story_assert_ret(story_try_open("own", 2, 0, DAT_TRUE, &own_second), DAT_SUCCESS);
	return dats_get_ia_handle(ia, &own_found);
}

/* origin: out35.P37 */
TEST(add__provider_opens_at_the_address_of_one_that_is_being_closed__is_the_new_one)
{
	DAT_PROVIDER_INFO info = own_info();
	DAT_IA_HANDLE first;

	story_conf("");
	story_assert_ret(dat_registry_add_provider(&own_table, &info), DAT_SUCCESS);
	first = story_open("own", DAT_TRUE);
	own_table.ia_close_func = own_close_and_open;
	story_close(first);
	ck_assert_ptr_ne(own_second, first);
	ck_assert_ptr_eq(own_found, own_second);
	story_assert_ret(dats_get_ia_handle(&own_ia, &own_found), DAT_SUCCESS);
	ck_assert_ptr_eq(own_found, own_second);
	story_close(own_second);
	story_assert_ret(dat_registry_remove_provider(&own_table, &info), DAT_SUCCESS);
}

/* clause: b.6.7 */
TEST(add__same_key_again__is_registered_already)
{
	DAT_PROVIDER_INFO info = own_info();
	static DAT_PROVIDER other;

	other = own_table;
	story_assert_ret(dat_registry_add_provider(&own_table, &info), DAT_SUCCESS);
	story_assert_ret(dat_registry_add_provider(&other, &info),
	    DAT_ERROR(DAT_PROVIDER_ALREADY_REGISTERED, DAT_NO_SUBTYPE));
	info.is_thread_safe = DAT_FALSE;
	story_assert_ret(dat_registry_add_provider(&other, &info), DAT_SUCCESS);
	story_assert_ret(dat_registry_remove_provider(&other, &info), DAT_SUCCESS);
	info.is_thread_safe = DAT_TRUE;
	story_assert_ret(dat_registry_remove_provider(&own_table, &info), DAT_SUCCESS);
}

/* Each key is one of its own: all are registered side by side, and each is removed alone. */
/* origin: out33.E1 */
TEST(add__keys_that_differ_in_one_field__are_registered_side_by_side)
{
	DAT_PROVIDER_INFO keys[6], info = own_info();
	DAT_PROVIDER tables[6];
	DAT_IA_HANDLE ia;
	int i, k;

	story_conf("");
	for (i = 0; i < 6; i++)
		keys[i] = info;
	strcpy(keys[1].ia_name, "Own");
	strcpy(keys[2].ia_name, "own2");
	keys[3].dapl_version_major++;
	keys[4].dapl_version_minor++;
	keys[5].is_thread_safe = DAT_FALSE;
	for (i = 0; i < 6; i++) {
		tables[i] = own_table;
		story_assert_ret(dat_registry_add_provider(&tables[i], &keys[i]), DAT_SUCCESS);
	}
	for (i = 0; i < 6; i++)
		for (k = 0; k < 6; k++) {
			story_assert_ret(dat_registry_add_provider(&tables[k], &keys[i]),
			    DAT_ERROR(DAT_PROVIDER_ALREADY_REGISTERED, DAT_NO_SUBTYPE));
			if (k != i)
				story_assert_ret(dat_registry_remove_provider(&tables[k], &keys[i]),
				    DAT_ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED));
		}
	for (i = 0; i < 6; i++) {
		story_assert_ret(dat_registry_remove_provider(&tables[i], &keys[i]), DAT_SUCCESS);
		for (k = 0; k < 6; k++)
			story_assert_ret(dat_registry_remove_provider(&tables[i], &keys[k]),
			    DAT_ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED));
		story_assert_ret(story_try_open(keys[i].ia_name, keys[i].dapl_version_major,
				     keys[i].dapl_version_minor, keys[i].is_thread_safe, &ia),
		    DAT_ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED));
	}
}

TEST(add__copies_the_open_function_and_the_info)
{
	DAT_PROVIDER_INFO info = own_info();
	DAT_IA_HANDLE ia;

	story_conf("");
	story_assert_ret(dat_registry_add_provider(&own_table, &info), DAT_SUCCESS);
	memset(&info, 0xff, sizeof info);
	own_table.ia_open_func = NULL;
	ia = story_open("own", DAT_TRUE);
	ck_assert_int_eq(own_opened, 1);
	story_close(ia);
	info = own_info();
	story_assert_ret(dat_registry_remove_provider(&own_table, &info), DAT_SUCCESS);
}

TEST(add__bad_arguments__are_named)
{
	DAT_PROVIDER_INFO info = own_info();

	story_assert_ret(dat_registry_add_provider(NULL, &info), ARG(1));
	story_assert_ret(dat_registry_add_provider(&own_table, NULL), ARG(2));
	memset(info.ia_name, 'n', sizeof info.ia_name);
	story_assert_ret(dat_registry_add_provider(&own_table, &info), ARG(2));
	info = own_info();
	own_table.ia_open_func = NULL;
	story_assert_ret(dat_registry_add_provider(&own_table, &info), ARG(1));
}

/* clause: b.6.7 */
TEST(remove__entry_missing_or_of_another_provider__is_not_found)
{
	DAT_PROVIDER_INFO info = own_info();
	static DAT_PROVIDER other;

	story_assert_ret(dat_registry_remove_provider(&own_table, &info),
	    DAT_ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED));
	story_assert_ret(dat_registry_add_provider(&own_table, &info), DAT_SUCCESS);
	story_assert_ret(dat_registry_remove_provider(&other, &info),
	    DAT_ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED));
	story_assert_ret(dat_registry_remove_provider(NULL, &info), ARG(1));
	story_assert_ret(dat_registry_remove_provider(&own_table, NULL), ARG(2));
	story_assert_ret(dat_registry_remove_provider(&own_table, &info), DAT_SUCCESS);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Providers that have all their handles in one range of addresses, and providers that have not
 */
#include "story.h"

#include <stdio.h>
#include <sys/mman.h>

#define STUB "stub u2.0 threadsafe default %S id.2.0 \"\" \"\"\n"

#define ARG3 DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3)
#define BAD_HANDLE DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_REQUEST)
#define REACHED DAT_ERROR(DAT_QUEUE_FULL, DAT_NO_SUBTYPE) /* what our function returns */

enum { PAGE = 4096, SIZE = 4 * PAGE, STEP = 64 };

/* As every handle: the table comes first. */
struct cell {
	_Alignas(STEP) _Atomic(const DAT_PROVIDER *) table;
	const DAT_PROVIDER *inside;
};

struct own {
	DAT_PROVIDER table;
	DAT_PROVIDER_INFO info;
	struct cell *cells; /* of cell 0 the table is set, of the others it is not */
	struct dat_handle_range range;
};

static DAT_RETURN
no_open(const DAT_NAME_PTR name, DAT_COUNT qlen, DAT_EVD_HANDLE *evd, DAT_IA_HANDLE *ia)
{
	(void)name;
	(void)qlen;
	(void)evd;
	(void)ia;
	return DAT_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE);
}

static DAT_RETURN
reached(DAT_EVD_HANDLE evd)
{
	(void)evd;
	return REACHED;
}

static void *
map(size_t size, int protection)
{
	void *memory = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(memory, MAP_FAILED);
	return memory;
}

static void
own_init(struct own *own, const char *name)
{
	*own = (struct own){ .info = { .dapl_version_major = 2, .is_thread_safe = DAT_TRUE } };
	strcpy(own->info.ia_name, name);
	own->table.device_name = own->info.ia_name;
	own->table.ia_open_func = no_open;
	own->table.evd_free_func = reached;
	own->cells = map(SIZE, PROT_READ | PROT_WRITE);
	own->cells[0].table = &own->table;
	own->cells[0].inside = &own->table;
	own->range = (struct dat_handle_range){ own->cells, SIZE, STEP };
}

/* Implements every call. */
static void
own_fill(struct own *own)
{
	DAT_RETURN (*const function)(DAT_EVD_HANDLE) = reached;
	char *slot = (char *)&own->table + offsetof(DAT_PROVIDER, ia_open_func);

	for (; slot < (char *)(&own->table + 1); slot += sizeof function)
		memcpy(slot, &function, sizeof function);
	own->table.ia_open_func = no_open;
}

static void
own_add(struct own *own)
{
	story_assert_ret(
	    dat_registry_add_ranged_provider(&own->table, &own->info, &own->range), DAT_SUCCESS);
}

static void
own_add_foreign(struct own *own)
{
	story_assert_ret(dat_registry_add_provider(&own->table, &own->info), DAT_SUCCESS);
}

static void
own_remove(struct own *own)
{
	story_assert_ret(dat_registry_remove_provider(&own->table, &own->info), DAT_SUCCESS);
}

/* A call that the table of the cell does not have. */
static void
assert_not_implemented(const void *address)
{
	DAT_RETURN ret = dat_evd_enable((DAT_EVD_HANDLE)(uintptr_t)address);

	ck_assert_msg(ret == DAT_ERROR(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE),
	    "dat_evd_enable(%p) gives 0x%08x", address, ret);
}

/* Whatever the memory is, it is not looked at: not there at all is best for that. */
static void
assert_refused(const void *address)
{
	DAT_RETURN ret = dat_evd_free((DAT_EVD_HANDLE)(uintptr_t)address);

	ck_assert_msg(ret == BAD_HANDLE, "dat_evd_free(%p) gives 0x%08x", address, ret);
}

static void
assert_reached(const void *address)
{
	DAT_RETURN ret = dat_evd_free((DAT_EVD_HANDLE)(uintptr_t)address);

	ck_assert_msg(ret == REACHED, "dat_evd_free(%p) gives 0x%08x", address, ret);
}

STORY_CASE("range:range");

/* clause: b.4.8 */
TEST(range__cell__reaches_its_provider)
{
	struct own own;

	story_conf("");
	own_init(&own, "own");
	own_add(&own);
	assert_reached(&own.cells[0]);
	own.cells[SIZE / STEP - 1].table = &own.table;
	assert_reached(&own.cells[SIZE / STEP - 1]);
	own_remove(&own);
}

/* clause: b.4.8 */
TEST(range__what_is_no_cell__is_refused)
{
	struct own own;
	char *base;

	story_conf("");
	own_init(&own, "own");
	own_add(&own);
	base = (char *)own.cells;
	assert_refused(&own.cells[1]);	      /* never used */
	assert_refused(&own.cells[0].inside); /* though a table stands there */
	for (int i = 1; i < STEP; i++)
		assert_refused(base + i);
	assert_refused(base - STEP);
	assert_refused(base + SIZE);
	own_remove(&own);
}

/* clause: b.4.8 */
TEST(range__pointer_to_elsewhere__is_not_followed)
{
	char *nowhere = map(PAGE, PROT_NONE);
	struct cell outside;
	struct own own;

	story_conf("");
	own_init(&own, "own");
	own_add(&own);
	outside.table = &own.table;
	assert_refused(&outside);
	assert_refused(nowhere);
	assert_refused(nowhere + PAGE - 8);
	assert_refused((void *)0x123456789ab8);
	assert_refused((void *)(uintptr_t)0xffff800000000000);
	own_remove(&own);
}

STORY_CASE("range:foreign");

/* clause: b.4.9 */
/* origin: out35.P33 */
TEST(foreign__pointer_outside_ranges__is_followed_while_it_is_registered)
{
	struct own own, foreign, further;
	struct cell *outside = map(PAGE, PROT_READ | PROT_WRITE);

	story_conf("");
	own_init(&own, "own");
	own_init(&foreign, "foreign");
	own_init(&further, "further");
	own_add(&own);
	outside->table = &foreign.table;
	assert_refused(outside);
	own_add_foreign(&foreign);
	assert_reached(outside);
	own_add_foreign(&further);
	own_remove(&foreign);
	assert_reached(outside); /* it may be the other one's */
	own_remove(&further);
	ck_assert_int_eq(mprotect(outside, PAGE, PROT_NONE), 0);
	assert_refused(outside);
	own_remove(&own);
}

/* clause: b.4.9 */
TEST(foreign__what_cannot_be_a_handle_at_all__is_refused_all_the_same)
{
	static const void *const no_table = NULL;
	struct own own, foreign;

	story_conf("");
	own_init(&own, "own");
	own_init(&foreign, "foreign");
	own_add(&own);
	own_add_foreign(&foreign);
	assert_refused(NULL);
	assert_refused((void *)8);
	assert_refused((void *)65528);
	assert_refused((char *)foreign.cells + 4);
	assert_refused(&no_table);
	assert_refused(&own.cells[1]);
	assert_refused(&own.cells[0].inside);
	assert_reached(&own.cells[0]);
	own_remove(&foreign);
	own_remove(&own);
}

/* clause: b.4.9 */
TEST(foreign__library_unloaded__its_handles_are_not_followed)
{
	DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia;

	story_conf(STUB);
	story_assert_ret(dat_ia_openv((char *)"stub", 8, &evd, &ia, 2, 0, DAT_TRUE), DAT_SUCCESS);
	story_assert_ret(dat_evd_free(evd), DAT_SUCCESS); /* the stub does nothing */
	story_close(ia);
	assert_refused(evd);
}

STORY_CASE("range:range");

/* clause: b.4.8 */
TEST(full__what_is_no_cell__is_refused)
{
	struct own own, second;
	char *base;

	story_conf("");
	own_init(&own, "own");
	own_fill(&own);
	own_add(&own);
	base = (char *)own.cells;
	/* Before the second is made, which may lie there. */
	assert_refused(base - STEP);
	assert_refused(base + SIZE);
	own_init(&second, "second");
	own_add(&second);
	assert_reached(&own.cells[0]);
	assert_refused(&own.cells[1]);
	assert_refused(&own.cells[0].inside);
	for (int i = 1; i < STEP; i++)
		assert_refused(base + i);
	assert_reached(&second.cells[0]);
	assert_not_implemented(&second.cells[0]);
	own_remove(&second);
	own_remove(&own);
}

TEST(sparse__call_without_a_function__is_not_implemented)
{
	struct own own;

	story_conf("");
	own_init(&own, "own");
	own_add(&own);
	assert_not_implemented(&own.cells[0]);
	assert_reached(&own.cells[0]);
	own_remove(&own);
}

TEST(sparse__last_call_of_the_table__is_not_implemented)
{
	DAT_EVD_HANDLE evd;
	struct own own;

	story_conf("");
	own_init(&own, "own");
	own_fill(&own);
	/*
	 * Behind it are only a function of adapters, which are found by number, and that of
	 * extensions.
	 */
	own.table.cno_trigger_func = NULL;
	own_add(&own);
	story_assert_ret(dat_cno_trigger((DAT_CNO_HANDLE)&own.cells[0], &evd),
	    DAT_ERROR(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE));
	assert_reached(&own.cells[0]);
	own_remove(&own);
}

/* The library registers one range for several keys; one of its tables has empty slots. */
TEST_LOOP(sparse__beside_full_tables_of_the_range__is_not_implemented_in_any_order, 3)
{
	struct own own[3];

	story_conf("");
	for (int i = 0; i < 3; i++) {
		char name[8];

		snprintf(name, sizeof name, "own%d", i);
		own_init(&own[i], name);
		if (i != _i)
			own_fill(&own[i]);
		own[i].range = own[0].range;
		own[0].cells[i].table = &own[i].table;
	}
	for (int i = 0; i < 3; i++) {
		own_add(&own[i]);
		assert_reached(&own[0].cells[i]);
	}
	assert_not_implemented(&own[0].cells[_i]);
	for (int i = 0; i < 3; i++)
		assert_reached(&own[0].cells[i]);
	for (int i = 0; i < 3; i++)
		own_remove(&own[i]);
}

TEST(range__several__serve_their_own_handles)
{
	struct own own[3];
	int i;

	story_conf("");
	for (i = 0; i < 3; i++) {
		char name[8];

		snprintf(name, sizeof name, "own%d", i);
		own_init(&own[i], name);
		own_add(&own[i]);
	}
	for (i = 0; i < 3; i++) {
		assert_reached(&own[i].cells[0]);
		assert_refused(&own[i].cells[1]);
		assert_refused((char *)&own[i].cells[0] + 8);
	}
	assert_refused(&own[0]);
	for (i = 0; i < 3; i++)
		own_remove(&own[i]);
}

/* Handles outlive their provider's registration, as it has promised. */
TEST(range__provider_gone__its_cells_stay)
{
	struct own own;

	story_conf("");
	own_init(&own, "own");
	own_add(&own);
	own_remove(&own);
	assert_reached(&own.cells[0]);
	assert_refused(&own.cells[1]);
	own_add(&own);
	assert_reached(&own.cells[0]);
	own_remove(&own);
}

TEST(range__given_again_for_another_key__is_the_same)
{
	DAT_PROVIDER_INFO other;
	struct own own;

	story_conf("");
	own_init(&own, "own");
	own_add(&own);
	other = own.info;
	other.is_thread_safe = DAT_FALSE;
	for (int i = 0; i < 100; i++) {
		story_assert_ret(
		    dat_registry_add_ranged_provider(&own.table, &other, &own.range), DAT_SUCCESS);
		story_assert_ret(dat_registry_remove_provider(&own.table, &other), DAT_SUCCESS);
	}
	own_remove(&own);
}

TEST(range__that_is_none__is_argument_3_and_registers_nothing)
{
	struct own own, other;
	char *base;

	story_conf("");
	own_init(&own, "own");
	own_init(&other, "other");
	own_add(&other);
	base = (char *)own.cells;
	const struct dat_handle_range bad[] = {
		{ NULL, SIZE, STEP },
		{ base, 0, STEP },
		{ base, SIZE, 0 },
		{ base, SIZE, 4 },	  /* less than a pointer */
		{ base, SIZE, 48 },	  /* no power of two */
		{ base + 8, SIZE, STEP }, /* not a multiple */
		{ base, SIZE + 8, STEP },
		{ (void *)(uintptr_t)4096, SIZE, STEP }, /* there IA handles are */
		{ base, UINT64_MAX - 63, STEP },	 /* around the end of memory */
		{ other.cells, SIZE, 2 * STEP },	 /* overlap */
		{ other.cells, SIZE / 2, STEP },
		{ (char *)other.cells + PAGE, SIZE, STEP },
		{ (char *)other.cells - PAGE, SIZE, STEP },
		{ (char *)other.cells - PAGE, SIZE + 2 * PAGE, STEP },
	};

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		DAT_RETURN ret = dat_registry_add_ranged_provider(&own.table, &own.info, &bad[i]);

		ck_assert_msg(ret == ARG3, "range %zu gives 0x%08x", i, ret);
	}
	story_assert_ret(dat_registry_add_ranged_provider(&own.table, &own.info, NULL), ARG3);
	story_assert_ret(dat_registry_remove_provider(&own.table, &own.info),
	    DAT_ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED));
	own_remove(&other);
}

TEST(range__more_libraries_than_there_is_room_for__may_register_without)
{
	static struct own own[17];
	int i;

	story_conf("");
	for (i = 0; i < 17; i++) {
		char name[8];

		snprintf(name, sizeof name, "own%d", i);
		own_init(&own[i], name);
		if (i < 16)
			own_add(&own[i]);
	}
	story_assert_ret(
	    dat_registry_add_ranged_provider(&own[16].table, &own[16].info, &own[16].range),
	    DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY));
	assert_refused(&own[16].cells[0]);
	own_add_foreign(&own[16]);
	for (i = 0; i < 17; i++)
		assert_reached(&own[i].cells[0]);
	for (i = 0; i < 17; i++)
		own_remove(&own[i]);
}

static DAT_IA_HANDLE answer;

static DAT_RETURN
open_with_answer(const DAT_NAME_PTR name, DAT_COUNT qlen, DAT_EVD_HANDLE *evd, DAT_IA_HANDLE *ia)
{
	(void)name;
	(void)qlen;
	(void)evd;
	*ia = answer;
	return DAT_SUCCESS;
}

static DAT_RETURN
close_well(DAT_IA_HANDLE ia, DAT_CLOSE_FLAGS flags)
{
	(void)ia;
	(void)flags;
	return DAT_SUCCESS;
}

TEST(range__adapter_opened_outside__is_an_internal_error)
{
	DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
	struct cell outside;
	struct own own;

	story_conf("");
	own_init(&own, "own");
	own.table.ia_open_func = open_with_answer;
	own.table.ia_close_func = close_well;
	outside.table = &own.table;
	own_add(&own);
	answer = &outside;
	story_assert_ret(story_try_open("own", 2, 0, DAT_TRUE, &ia),
	    DAT_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE));
	answer = &own.cells[0];
	story_close(story_open("own", DAT_TRUE));
	own_remove(&own);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file has two parts.  The first is read and executed: headers, tables, a few instructions for
 * each function.  The second is written: what the dynamic linker relocates, and a record for each
 * function.
 */
#include "stub.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* No processor has larger pages. */
#define PAGE 0x10000u
#define ENTRY_SIZE 32u
#define SYMBOL(i) ((i) + 2) /* the first is empty, the second soft_refused() */
#define SEGMENTS 4u
#define BUCKETS 64u
#define NAMES_SIZE 128u
#define REFUSE "soft_refused"

/*
 * The first version of the file.  The dynamic linker gives a function of it to callers that name no
 * version, as libsoftverbs.so does: so nothing has this version.
 */
#define FIRST_VERSION "softverbs"
#define OWN_VERSIONS 2 /* the file itself is the one before */

/* Of this program: the processor and its flags. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

enum {
	HASH,
	SYMBOLS,
	STRINGS,
	INDICES,
	VERSIONS,
	RELOCATION,
	CODE,
	DYNAMIC,
	SLOT,
	RECORDS,
	NAMES,
	PARTS
};

/* Offsets of the parts in the file, and where the next string, record and zeros go. */
struct layout {
	const struct soft_stub *stub;
	unsigned char *image;
	size_t part[PARTS], size[PARTS];
	size_t headers; /* of sections */
	size_t end;
	size_t string, record, zeros;
	size_t slots; /* the first is of soft_refused() */
};

static size_t
stub_up(size_t value, size_t unit)
{
	return (value + unit - 1) / unit * unit;
}

/* The second part has addresses of its own page. */
static size_t
stub_address(size_t offset, const struct layout *layout)
{
	return offset < layout->part[DYNAMIC] ? offset : offset + PAGE;
}

/* ---- the code of a function: it goes on to the one in its slot, with its record if any ---- */

#if defined __x86_64__
#define GLOB_DAT R_X86_64_GLOB_DAT

/* endbr64; lea record(%rip), %rdi; jmp *slot(%rip) */
static bool
stub_write_code(unsigned char *code, size_t at, size_t record, size_t slot)
{
	static const unsigned char landing[] = { 0xf3, 0x0f, 0x1e, 0xfa },
				   load[] = { 0x48, 0x8d, 0x3d }, jump[] = { 0xff, 0x25 };
	const uint32_t to_record = (uint32_t)(record - (at + 11)),
		       to_slot = (uint32_t)(slot - (at + (record ? 17 : 10)));

	if (!code)
		return true;
	code = mempcpy(code, landing, sizeof landing);
	if (record) {
		code = mempcpy(code, load, sizeof load);
		code = mempcpy(code, &to_record, sizeof to_record);
	}
	code = mempcpy(code, jump, sizeof jump);
	memcpy(code, &to_slot, sizeof to_slot);
	return true;
}
#elif defined __aarch64__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define GLOB_DAT R_AARCH64_GLOB_DAT

/* adrp of a register: the page of `to` as seen from `at` */
static uint32_t
stub_adrp(unsigned int reg, size_t at, size_t to)
{
	const uint32_t pages = (uint32_t)((to >> 12) - (at >> 12));

	return 0x90000000u | (pages & 3) << 29 | (pages >> 2 & 0x7ffff) << 5 | reg;
}

/* bti c; adrp, add x0, record; adrp, ldr x16, slot; br x16 */
static bool
stub_write_code(unsigned char *code, size_t at, size_t record, size_t slot)
{
	const uint32_t landing = 0xd503245f, load[] = { stub_adrp(0, at + 4, record),
		0x91000000u | (uint32_t)(record & 0xfff) << 10 };
	const uint32_t jump[] = { stub_adrp(16, at + (record ? 12 : 4), slot),
		0xf9400210u | (uint32_t)((slot & 0xfff) >> 3) << 10, 0xd61f0200 };

	if (!code)
		return true;
	code = mempcpy(code, &landing, sizeof landing);
	if (record)
		code = mempcpy(code, load, sizeof load);
	memcpy(code, jump, sizeof jump);
	return true;
}
#else
#define GLOB_DAT 0

static bool
stub_write_code(unsigned char *code, size_t at, size_t record, size_t slot)
{
	(void)code, (void)at, (void)record, (void)slot;
	return false;
}
#endif

static bool
stub_is_there(const struct soft_stub_symbol *symbol)
{
	return symbol->data || stub_write_code(NULL, 0, 0, 0);
}

/* How many of the functions go on to one of softverbs: each has a slot and a needed name. */
static size_t
stub_served(const struct soft_stub *stub)
{
	size_t n = 0;

	for (size_t i = 0; i < stub->symbol_count; i++)
		n += stub->symbols[i].served && stub_is_there(&stub->symbols[i]);
	return n;
}

/* ---- the tables ---- */

/* Of the gABI. */
static uint32_t
stub_hash(const char *name)
{
	uint32_t h = 0;

	for (; *name; name++) {
		h = (h << 4) + (unsigned char)*name;
		h = (h ^ (h >> 24 & 0xf0)) & 0x0fffffff;
	}
	return h;
}

static ElfW(Word) add_string(struct layout *layout, const char *text)
{
	const size_t at = layout->string;

	strcpy((char *)layout->image + layout->part[STRINGS] + at, text);
	layout->string += strlen(text) + 1;
	return (ElfW(Word))at;
}

static void
stub_add_version(struct layout *layout, size_t i, const char *name, bool last)
{
	struct {
		ElfW(Verdef) version;
		ElfW(Verdaux) name;
	} entry = {
		.version = { .vd_version = VER_DEF_CURRENT,
		    .vd_flags = i ? 0 : VER_FLG_BASE,
		    .vd_ndx = (ElfW(Half))(i + 1),
		    .vd_cnt = 1,
		    .vd_hash = stub_hash(name),
		    .vd_aux = sizeof entry.version,
		    .vd_next = last ? 0 : sizeof entry },
		.name = { .vda_name = add_string(layout, name) },
	};

	memcpy(layout->image + layout->part[VERSIONS] + i * sizeof entry, &entry, sizeof entry);
}

static void
stub_add_to_hash(struct layout *layout, size_t index, const char *name)
{
	uint32_t *table = (void *)(layout->image + layout->part[HASH]);
	uint32_t *bucket = &table[2 + stub_hash(name) % BUCKETS], *chain = table + 2 + BUCKETS;

	chain[index] = *bucket;
	*bucket = (uint32_t)index;
}

/* A slot with the function of this name, which is the symbol: its address. */
static size_t
stub_add_slot(struct layout *layout, size_t symbol, const char *prefix, const char *name)
{
	const size_t slot =
	    stub_address(layout->part[SLOT], layout) + layout->slots * sizeof(void *);
	const ElfW(Sym) function = { .st_name = add_string(layout, prefix),
		.st_info = STB_GLOBAL << 4 | STT_FUNC };
	const ElfW(Rela) relocation = { .r_offset = slot,
		.r_info = (ElfW(Xword))symbol << (sizeof(void *) == 8 ? 32 : 8) | GLOB_DAT };
	const ElfW(Half) global = 1;

	layout->string--;
	(void)add_string(layout, name);
	memcpy(layout->image + layout->part[SYMBOLS] + symbol * sizeof function, &function,
	    sizeof function);
	memcpy(
	    layout->image + layout->part[INDICES] + symbol * sizeof global, &global, sizeof global);
	if (stub_write_code(NULL, 0, 0, 0))
		memcpy(layout->image + layout->part[RELOCATION] + layout->slots * sizeof relocation,
		    &relocation, sizeof relocation);
	layout->slots++;
	return slot;
}

static void
stub_add_symbol(struct layout *layout, size_t index, const struct soft_stub_symbol *symbol)
{
	const size_t code = layout->part[CODE] + index * ENTRY_SIZE, record = layout->record;
	ElfW(Sym) entry = { .st_name = add_string(layout, symbol->name),
		.st_info = STB_GLOBAL << 4 | STT_FUNC,
		.st_shndx = CODE + 1,
		.st_size = ENTRY_SIZE,
		.st_value = code };
	ElfW(Half) version = (ElfW(Half))(symbol->version + 1u + OWN_VERSIONS);

	if (symbol->version == -1u)
		version = 1;
	else if (symbol->hidden)
		version |= 0x8000;
	if (symbol->data) {
		entry.st_info = STB_GLOBAL << 4 | STT_OBJECT;
		entry.st_shndx = RECORDS + 1;
		entry.st_size = symbol->data;
		entry.st_value = stub_address(layout->zeros, layout);
		layout->zeros += stub_up(symbol->data, 64);
	} else if (symbol->served) {
		stub_write_code(layout->image + code, code, 0,
		    stub_add_slot(layout, SYMBOL(layout->stub->symbol_count) + layout->slots - 1,
			SOFT_SERVED_PREFIX, symbol->name));
	} else {
		/* a byte that is 0 until the function was called, and the name */
		strcpy((char *)layout->image + record + 1, symbol->name);
		layout->record += strlen(symbol->name) + 2;
		stub_write_code(layout->image + code, code, stub_address(record, layout),
		    stub_address(layout->part[SLOT], layout));
	}
	memcpy(layout->image + layout->part[SYMBOLS] + SYMBOL(index) * sizeof entry, &entry,
	    sizeof entry);
	memcpy(layout->image + layout->part[INDICES] + SYMBOL(index) * sizeof version, &version,
	    sizeof version);
	stub_add_to_hash(layout, SYMBOL(index), symbol->name);
}

static void
stub_write_tables(struct layout *layout)
{
	const struct soft_stub *stub = layout->stub;
	uint32_t *table = (void *)(layout->image + layout->part[HASH]);

	table[0] = BUCKETS;
	table[1] = (uint32_t)(SYMBOL(stub->symbol_count) + stub_served(stub));
	(void)stub_add_slot(layout, 1, "", REFUSE);
	stub_add_to_hash(layout, 1, REFUSE);
	stub_add_version(layout, 0, stub->soname, false);
	stub_add_version(layout, 1, FIRST_VERSION, !stub->version_count);
	for (size_t i = 0; i < stub->version_count; i++)
		stub_add_version(
		    layout, i + OWN_VERSIONS, stub->versions[i], i + 1 == stub->version_count);
	for (size_t i = 0; i < stub->symbol_count; i++)
		if (stub_is_there(&stub->symbols[i]))
			stub_add_symbol(layout, i, &stub->symbols[i]);
}

static void
stub_write_dynamic(struct layout *layout)
{
	const struct {
		ElfW(Sxword) tag;
		size_t value;
	} entries[] = {
		{ DT_NEEDED, add_string(layout, layout->stub->needed) },
		{ DT_SONAME, add_string(layout, layout->stub->soname) },
		{ DT_HASH, layout->part[HASH] },
		{ DT_SYMTAB, layout->part[SYMBOLS] },
		{ DT_SYMENT, sizeof(ElfW(Sym)) },
		{ DT_STRTAB, layout->part[STRINGS] },
		{ DT_STRSZ, layout->part[INDICES] - layout->part[STRINGS] },
		{ DT_VERSYM, layout->part[INDICES] },
		{ DT_VERDEF, layout->part[VERSIONS] },
		{ DT_VERDEFNUM, layout->stub->version_count + OWN_VERSIONS },
		{ DT_RELA, layout->part[RELOCATION] },
		{ DT_RELASZ,
		    stub_write_code(NULL, 0, 0, 0) ? layout->slots * sizeof(ElfW(Rela)) : 0 },
		{ DT_RELAENT, sizeof(ElfW(Rela)) },
		{ DT_NULL, 0 },
	};
	ElfW(Dyn) *dynamic = (void *)(layout->image + layout->part[DYNAMIC]);

	for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
		dynamic[i].d_tag = entries[i].tag;
		dynamic[i].d_un.d_val = entries[i].value;
	}
}

/* For tools: the dynamic linker reads segments alone. */
static const struct {
	const char *name;
	ElfW(Word) type;
	unsigned int flags, entry;
	int linked; /* the part of the table that this one refers to, or -1 */
} sections[PARTS] = {
	[HASH] = { ".hash", SHT_HASH, SHF_ALLOC, sizeof(uint32_t), SYMBOLS },
	[SYMBOLS] = { ".dynsym", SHT_DYNSYM, SHF_ALLOC, sizeof(ElfW(Sym)), STRINGS },
	[STRINGS] = { ".dynstr", SHT_STRTAB, SHF_ALLOC, 0, -1 },
	[INDICES] = { ".gnu.version", SHT_GNU_versym, SHF_ALLOC, sizeof(ElfW(Half)), SYMBOLS },
	[VERSIONS] = { ".gnu.version_d", SHT_GNU_verdef, SHF_ALLOC, 0, STRINGS },
	[RELOCATION] = { ".rela.dyn", SHT_RELA, SHF_ALLOC, sizeof(ElfW(Rela)), SYMBOLS },
	[CODE] = { ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0, -1 },
	[DYNAMIC] = { ".dynamic", SHT_DYNAMIC, SHF_ALLOC | SHF_WRITE, sizeof(ElfW(Dyn)), STRINGS },
	[SLOT] = { ".got", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, sizeof(void *), -1 },
	[RECORDS] = { ".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0, -1 },
	[NAMES] = { ".shstrtab", SHT_STRTAB, 0, 0, -1 },
};

#define SECTION(part) ((unsigned int)(part) + 1) /* the first is empty */

static void
stub_write_sections(struct layout *layout)
{
	ElfW(Shdr) *headers = (void *)(layout->image + layout->headers);
	char *names = (char *)layout->image + layout->part[NAMES];
	size_t name = 1;

	for (int i = 0; i < PARTS; i++) {
		ElfW(Shdr) *header = &headers[SECTION(i)];

		*header = (ElfW(Shdr)){ .sh_name = (ElfW(Word))name,
			.sh_type = sections[i].type,
			.sh_flags = sections[i].flags,
			.sh_addr = sections[i].flags & SHF_ALLOC ?
				       stub_address(layout->part[i], layout) :
				       0,
			.sh_offset = layout->part[i],
			.sh_size = layout->size[i],
			.sh_link = sections[i].linked < 0 ? 0 : SECTION(sections[i].linked),
			.sh_addralign = 32,
			.sh_entsize = sections[i].entry };
		strcpy(names + name, sections[i].name);
		name += strlen(sections[i].name) + 1;
	}
	headers[SECTION(SYMBOLS)].sh_info = 1;
	headers[SECTION(VERSIONS)].sh_info = (ElfW(Word))layout->stub->version_count + OWN_VERSIONS;
}

static void
stub_write_headers(struct layout *layout)
{
	const size_t second = layout->part[DYNAMIC];
	const ElfW(Phdr) segments[SEGMENTS] = {
		{ .p_type = PT_LOAD,
		    .p_flags = PF_R | PF_X,
		    .p_filesz = second,
		    .p_memsz = second,
		    .p_align = PAGE },
		{ .p_type = PT_LOAD,
		    .p_flags = PF_R | PF_W,
		    .p_offset = second,
		    .p_vaddr = second + PAGE,
		    .p_paddr = second + PAGE,
		    .p_filesz = layout->end - second,
		    .p_memsz = layout->zeros - second,
		    .p_align = PAGE },
		{ .p_type = PT_DYNAMIC,
		    .p_flags = PF_R | PF_W,
		    .p_offset = second,
		    .p_vaddr = second + PAGE,
		    .p_paddr = second + PAGE,
		    .p_filesz = layout->part[SLOT] - second,
		    .p_memsz = layout->part[SLOT] - second,
		    .p_align = sizeof(void *) },
		{ .p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W, .p_align = 16 },
	};
	ElfW(Ehdr) header = { .e_type = ET_DYN,
		.e_machine = __ehdr_start.e_machine,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof header,
		.e_flags = __ehdr_start.e_flags,
		.e_ehsize = sizeof header,
		.e_phentsize = sizeof *segments,
		.e_phnum = SEGMENTS,
		.e_shoff = layout->headers,
		.e_shentsize = sizeof(ElfW(Shdr)),
		.e_shnum = SECTION(PARTS),
		.e_shstrndx = SECTION(NAMES) };

	memcpy(header.e_ident, __ehdr_start.e_ident, EI_NIDENT);
	memcpy(layout->image, &header, sizeof header);
	memcpy(layout->image + sizeof header, segments, sizeof segments);
}

/* Where everything goes. */
static void
stub_lay_out(struct layout *layout)
{
	const struct soft_stub *stub = layout->stub;
	const size_t served = stub_served(stub), symbols = SYMBOL(stub->symbol_count) + served;
	size_t strings = 1 + sizeof REFUSE + sizeof FIRST_VERSION + 2 * (strlen(stub->soname) + 1) +
			 strlen(stub->needed) + 1;
	size_t records = 0, *size = layout->size;

	for (size_t i = 0; i < stub->version_count; i++)
		strings += strlen(stub->versions[i]) + 1;
	for (size_t i = 0; i < stub->symbol_count; i++) {
		strings += strlen(stub->symbols[i].name) + 1;
		records += strlen(stub->symbols[i].name) + 2;
		if (stub->symbols[i].served)
			strings += sizeof SOFT_SERVED_PREFIX + strlen(stub->symbols[i].name);
	}
	size[HASH] = (2 + BUCKETS + symbols) * sizeof(uint32_t);
	size[SYMBOLS] = symbols * sizeof(ElfW(Sym));
	size[STRINGS] = strings;
	size[INDICES] = symbols * sizeof(ElfW(Half));
	size[VERSIONS] =
	    (stub->version_count + OWN_VERSIONS) * (sizeof(ElfW(Verdef)) + sizeof(ElfW(Verdaux)));
	size[RELOCATION] = (1 + served) * sizeof(ElfW(Rela));
	size[CODE] = stub->symbol_count * ENTRY_SIZE;
	size[DYNAMIC] = 16 * sizeof(ElfW(Dyn));
	size[SLOT] = (1 + served) * sizeof(void *);
	size[RECORDS] = records;
	size[NAMES] = NAMES_SIZE;
	layout->end = sizeof(ElfW(Ehdr)) + SEGMENTS * sizeof(ElfW(Phdr));
	for (int i = 0; i < PARTS; i++) {
		layout->part[i] = stub_up(layout->end, 32);
		layout->end = layout->part[i] + size[i];
	}
	layout->headers = stub_up(layout->end, 32);
	layout->end = layout->headers + (PARTS + 1) * sizeof(ElfW(Shdr));
	layout->string = 1;
	layout->record = layout->part[RECORDS];
	/* after what is in the file: the segment has all of it */
	layout->zeros = stub_up(layout->end, 64);
}

unsigned char *
soft_stub_image(const struct soft_stub *stub, size_t *size)
{
	struct layout layout = { .stub = stub };

	stub_lay_out(&layout);
	layout.image = calloc(1, layout.end);
	if (!layout.image)
		return NULL;
	stub_write_tables(&layout);
	stub_write_dynamic(&layout);
	stub_write_sections(&layout);
	stub_write_headers(&layout);
	*size = layout.end;
	return layout.image;
}

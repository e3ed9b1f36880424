/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inquiry -- INQUIRY: the standard data, and the pages of vital product data
 */
#include "device.h"

#include <string.h>

#define SPC_4 6
#define VITAL 1

/* Text of a fixed width, padded with blanks. */
static void
put_text(struct data_in *in, const char *text, size_t width)
{
	size_t n = strlen(text);

	data_put(in, text, n);
	for (; n < width; n++)
		data_put(in, " ", 1);
}

static void
put_standard(struct data_in *in, const struct scsi_lun *lun)
{
	static const uint8_t versions[][2] = {
		{ 0x00, 0xa0 }, /* SAM-5 */
		{ 0x09, 0x60 }, /* iSCSI */
		{ 0x04, 0x60 }, /* SPC-4 */
		{ 0x04, 0xc0 }, /* SBC-3 */
	};
	/* HISUP and format 2; 91 bytes follow the 5th; commands are queued. */
	uint8_t head[8] = { 0, 0, SPC_4, 0x12, 91, 0, 0, 0x02 };

	if (!lun)
		head[0] = 0x7f; /* no unit can be here */
	else if (lun->removable)
		head[1] = 0x80;
	data_put(in, head, sizeof head);
	put_text(in, lun ? lun->vendor : "", 8);
	put_text(in, lun ? lun->product : "", 16);
	put_text(in, lun ? lun->revision : "", 4);
	data_put_zeros(in, 58 - 36);
	data_put(in, versions, sizeof versions);
	data_put_zeros(in, 96 - 58 - sizeof versions);
}

static void put_pages(struct data_in *in, const struct scsi_lun *lun);

static void
put_serial(struct data_in *in, const struct scsi_lun *lun)
{
	put_text(in, lun->serial, 0);
}

/* Code set, protocol and type, and what it designates: 0 the unit, 1 the target port. */
static void
put_designator(struct data_in *in, uint8_t code_set, uint8_t type, uint8_t of, size_t length)
{
	const uint8_t head[4] = { (uint8_t)(code_set | (of ? SCSI_PROTOCOL_ID << 4 : 0)),
		(uint8_t)((of ? 0x80 : 0) | of << 4 | type), 0, (uint8_t)length };

	data_put(in, head, sizeof head);
}

static void
put_designators(struct data_in *in, const struct scsi_lun *lun)
{
	const struct scsi_target *target = lun->target;
	/* It ends with 1 to 4 zeros. */
	const size_t port = (strlen(target->port_name) + 1 + 3) & ~(size_t)3;
	const uint8_t relative[4] = { 0, 0, 0, target->port_id };
	uint8_t name[8];

	scsi_put64(name, lun->name);
	put_designator(in, 1, 3, 0, sizeof name); /* NAA */
	data_put(in, name, sizeof name);
	put_designator(in, 2, 1, 0, 8 + strlen(lun->serial)); /* T10 vendor and serial number */
	put_text(in, lun->vendor, 8);
	put_text(in, lun->serial, 0);
	put_designator(in, 1, 4, 1, sizeof relative); /* relative target port */
	data_put(in, relative, sizeof relative);
	put_designator(in, 3, 8, 1, port); /* SCSI name of the port */
	put_text(in, target->port_name, 0);
	data_put_zeros(in, port - strlen(target->port_name));
}

static void
put_limits(struct data_in *in, const struct scsi_lun *lun)
{
	const uint32_t most = lun->max_transfer / lun->block_bytes, page = 4096 / lun->block_bytes;
	uint8_t p[60] = { 0 };

	p[0] = 1;					   /* WRITE SAME of 0 blocks is refused */
	p[1] = (uint8_t)(most / 2 < 255 ? most / 2 : 255); /* COMPARE AND WRITE */
	scsi_put16(p + 2, (uint16_t)page);		   /* granularity of transfers */
	scsi_put32(p + 4, most);
	scsi_put32(p + 8, most); /* optimal */
	if (lun->thin) {
		scsi_put32(p + 16, SCSI_MAX_UNMAP);
		scsi_put32(p + 20, SCSI_MAX_UNMAP_DESCRIPTORS);
		scsi_put32(p + 24, page); /* granularity of UNMAP */
		p[28] = 0x80;		  /* which begins at block 0 */
	}
	scsi_put64(p + 32, SCSI_MAX_SAME);
	data_put(in, p, sizeof p);
}

static void
put_characteristics(struct data_in *in, const struct scsi_lun *lun)
{
	const uint8_t rotation[2] = { 0, 1 }; /* it does not rotate */

	(void)lun;
	data_put(in, rotation, sizeof rotation);
	data_put_zeros(in, 58);
}

static void
put_provisioning(struct data_in *in, const struct scsi_lun *lun)
{
	/* UNMAP, WRITE SAME(16), WRITE SAME(10); what is not mapped reads as zeros.  Thin. */
	static const uint8_t thin[4] = { 0, 0xe4, 2, 0 };

	if (lun->thin)
		data_put(in, thin, sizeof thin);
	else
		data_put_zeros(in, sizeof thin);
}

static const struct page {
	uint8_t code;
	void (*put)(struct data_in *in, const struct scsi_lun *lun);
} pages[] = {
	{ 0x00, put_pages },
	{ 0x80, put_serial },
	{ 0x83, put_designators },
	{ 0xb0, put_limits },
	{ 0xb1, put_characteristics },
	{ 0xb2, put_provisioning },
};
#define PAGES (sizeof pages / sizeof pages[0])

static void
put_pages(struct data_in *in, const struct scsi_lun *lun)
{
	(void)lun;
	for (size_t i = 0; i < PAGES; i++)
		data_put(in, &pages[i].code, 1);
}

static const struct page *
page_find(uint8_t code)
{
	for (size_t i = 0; i < PAGES; i++)
		if (pages[i].code == code)
			return &pages[i];
	return NULL;
}

bool
plan_inquiry(struct scsi_task *task)
{
	const bool vital = task->cdb[1] & VITAL;

	if (vital ? !task->logical_unit || !page_find(task->cdb[2]) : task->cdb[2] != 0)
		return task_fail_field(task, SENSE_CDB_FIELD, 2, 7);
	return plan_data_in(task, 3, 2, 1024);
}

enum scsi_progress
start_inquiry(struct scsi_task *task)
{
	struct data_in in = { .task = task };
	const struct page *page = page_find(task->cdb[2]);
	uint8_t head[4] = { 0, task->cdb[2] };

	if (!(task->cdb[1] & VITAL)) {
		put_standard(&in, task->logical_unit);
		return data_end(&in);
	}
	data_put(&in, head, sizeof head);
	page->put(&in, task->logical_unit);
	scsi_put16(head + 2, (uint16_t)(in.length - sizeof head));
	data_patch(&in, 0, head, sizeof head);
	return data_end(&in);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/target_report.h"

#include "iser/report.h"

#include <inttypes.h>

static void
count_of(const struct target *target, unsigned int number, struct scsi_lun_counts *counts)
{
	scsi_lun_count(scsi_target_lun(target->scsi, number), counts);
}

void
target_report_table(const struct program_options *options, const struct target *target, FILE *out)
{
	const struct target_counts *c = &target->counts;
	const struct report_side side = { "target", &target->adapter.tally };

	fprintf(out,
	    "served    %llu logins (%llu refused), %llu discoveries, %u sessions at most, %u "
	    "lost\n",
	    atomic_load(&c->logins), atomic_load(&c->logins_refused), atomic_load(&c->discoveries),
	    target->most, target->lost);
	fprintf(out,
	    "          %llu commands, %llu task management functions, %llu rejects\n"
	    "          %llu bytes by RDMA read, %llu by RDMA write; pool: %" PRIu64
	    " bytes at most, %" PRIu64 " waits\n",
	    atomic_load(&c->commands), atomic_load(&c->managed), atomic_load(&c->rejects),
	    atomic_load(&c->bytes_in), atomic_load(&c->bytes_out), target->pool.most,
	    target->pool.waits);
	fprintf(out, "\n%-5s %10s %10s %10s %14s %14s %8s %9s %9s %7s\n", "LUN", "commands",
	    "reads", "writes", "bytes read", "written", "syncs", "failures", "conflicts", "aborts");
	for (unsigned int i = 0; i < options->lun_count; i++) {
		struct scsi_lun_counts n;

		count_of(target, options->luns[i].number, &n);
		fprintf(out,
		    "%-5u %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %14" PRIu64 " %14" PRIu64
		    " %8" PRIu64 " %9" PRIu64 " %9" PRIu64 " %7" PRIu64 "\n",
		    options->luns[i].number, n.commands, n.reads, n.writes, n.read_bytes,
		    n.written_bytes, n.syncs, n.failures, n.conflicts, n.aborts);
	}
	report_print_sides(&side, 1, out);
}

void
target_report_json(const struct program_options *options, const struct target *target, FILE *out)
{
	const struct target_counts *c = &target->counts;

	fprintf(out,
	    "{\"name\":\"%s\",\"engine\":\"%s\",\"logins\":%llu,\"logins_refused\":%llu,"
	    "\"discoveries\":%llu,\"replaced\":%llu,\"sessions_most\":%u,\"lost\":%u,"
	    "\"commands\":%llu,\"task_management\":%llu,\"rejects\":%llu,"
	    "\"rdma_read_bytes\":%llu,\"rdma_write_bytes\":%llu,"
	    "\"pool\":{\"bytes\":%zu,\"most\":%" PRIu64 ",\"waits\":%" PRIu64 "},\"luns\":[",
	    options->target.name, scsi_target_engine(target->scsi), atomic_load(&c->logins),
	    atomic_load(&c->logins_refused), atomic_load(&c->discoveries),
	    atomic_load(&c->replaced), target->most, target->lost, atomic_load(&c->commands),
	    atomic_load(&c->managed), atomic_load(&c->rejects), atomic_load(&c->bytes_in),
	    atomic_load(&c->bytes_out), (size_t)options->target.pool_bytes, target->pool.most,
	    target->pool.waits);
	for (unsigned int i = 0; i < options->lun_count; i++) {
		struct scsi_lun_counts n;

		count_of(target, options->luns[i].number, &n);
		fprintf(out,
		    "%s{\"lun\":%u,\"commands\":%" PRIu64 ",\"reads\":%" PRIu64
		    ",\"writes\":%" PRIu64 ",\"read_bytes\":%" PRIu64 ",\"written_bytes\":%" PRIu64
		    ",\"syncs\":%" PRIu64 ",\"failures\":%" PRIu64 ",\"conflicts\":%" PRIu64
		    ",\"aborts\":%" PRIu64 "}",
		    i ? "," : "", options->luns[i].number, n.commands, n.reads, n.writes,
		    n.read_bytes, n.written_bytes, n.syncs, n.failures, n.conflicts, n.aborts);
	}
	fprintf(out, "],\"upcalls\":");
	report_print_tally(&target->adapter.tally, out);
	fprintf(out, "}\n");
}

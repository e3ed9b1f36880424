/* SPDX-License-Identifier: BSD-3-Clause */
#include "examine.h"
#include "adapter.h"
#include "host.h"
#include "lines.h"
#include "pair.h"
#include "text.h"
#include "trial.h"

#include <stdio.h>
#include <string.h>

enum { TRANSFER = 65536 };

/*
 * The records of the name, what keeps programs from them, and the interface of the first that
 * counts.
 */
static void
examine_records(
    struct steps *steps, const char *name, const DAT_REARM_RECORD *records, DAT_COUNT count)
{
	json_t *place, *obstacle;
	const char *where;
	bool usable, first = true;
	DAT_COUNT i;

	for (i = 0; i < count; i++) {
		if (strcmp(records[i].name, name) != 0)
			continue;
		place = record_place(&records[i]);
		obstacle = record_obstacle(&records[i], records);
		if (obstacle != NULL)
			step_add(steps, "record", FACT,
			    text_format(
				"%s: %s", json_string_value(place), json_string_value(obstacle)));
		else
			step_add(steps, "record", GOOD,
			    text_format("%s: %s \"%s\"", json_string_value(place),
				records[i].library, records[i].parameters));
		json_decref(place);
		if (obstacle == NULL && first) {
			char word[256];

			where = records[i].parameters + strspn(records[i].parameters, " \t");
			snprintf(word, sizeof word, "%.*s", (int)strcspn(where, " \t"), where);
			place = host_interface(word, &usable);
			step_add(steps, "interface", usable ? GOOD : FACT, place);
			first = false;
		}
		json_decref(obstacle);
	}
}

/* The lines that say which library was loaded.  Takes them over. */
static void
examine_library(struct steps *steps, json_t *notes)
{
	json_t *note;
	size_t i;

	json_array_foreach(
	    notes, i, note) if (strncmp(json_string_value(note), "loaded ", strlen("loaded ")) == 0)
	    step_add(steps, "library", GOOD, json_incref(note));
	json_decref(notes);
}

/* True if the adapter is open. */
static bool
examine_open(struct steps *steps, const char *name, struct adapter *adapter)
{
	json_t *errors;
	const char *call;
	DAT_RETURN ret;

	ret = adapter_open(adapter, name, NULL, &call);
	errors = ret == DAT_SUCCESS ? lines_take_errors() : lines_explain(call, ret);
	examine_library(steps, lines_take_notes());
	step_add_all(steps, "open", WRONG, errors);
	if (ret != DAT_SUCCESS)
		return false;
	step_add(steps, "open", GOOD,
	    text_format("device %s, port %s", adapter->ia_attr.adapter_name,
		adapter_named(adapter, "DAT_IB_PORT_STATUS") != NULL ?
		    adapter_named(adapter, "DAT_IB_PORT_STATUS") :
		    "in an unknown state"));
	return true;
}

static DAT_SEG_LENGTH
examine_length(const DAT_IA_ATTR *attr)
{
	DAT_SEG_LENGTH length = TRANSFER;

	if (attr->max_message_size < length)
		length = attr->max_message_size;
	return attr->max_rdma_size < length ? attr->max_rdma_size : length;
}

/* What else can be tried, because a device alone may be the cause. */
static json_t *
examine_connect(struct pair *pair)
{
	json_t *failure = pair_connect(pair);

	if (failure != NULL)
		json_array_append_new(failure,
		    json_string(
			"try to connect without DAT: rping -s, and rping -c -a ADDRESS with the "
			"address of the adapter; if that fails, too, the cause is in the device "
			"or its network"));
	return failure;
}

/* True if the data is right. */
static bool
examine_transfer(struct steps *steps, const struct adapter *adapter, struct pair *pair)
{
	const DAT_SEG_LENGTH length = examine_length(&adapter->ia_attr);

	return step_judge(steps, "memory", pair_register(pair),
		   text_format("2 regions of %d bytes are registered", PAIR_MEMORY)) &&
	       step_judge(steps, "endpoints", pair_create(pair), json_string("2 endpoints")) &&
	       step_judge(steps, "connection", examine_connect(pair), json_string("established")) &&
	       step_judge(steps, "transfer", pair_transfer(pair, length),
		   text_format("%u bytes written, sent and read are right", length));
}

/* Opens the adapter and uses it.  What libraries wrote goes to *output. */
static bool
examine_use(struct steps *steps, const char *name, json_t **output)
{
	struct adapter adapter = { 0 };
	struct pair pair;
	bool works = false;

	step_keep_output(steps);
	if (examine_open(steps, name, &adapter)) {
		pair_init(&pair, &adapter);
		works = examine_transfer(steps, &adapter, &pair);
		adapter_close(&adapter);
		pair_free(&pair);
	}
	*output = step_take_output(steps);
	return works && steps->ok;
}

/* Why it could not be opened in the trial. */
static void
examine_refusal(struct steps *steps, const json_t *trial, enum result result)
{
	examine_library(steps, json_incref(json_object_get(trial, "notes")));
	step_add_all(steps, "open", result, json_incref(json_object_get(trial, "lines")));
}

json_t *
examine_adapter(const struct subject *subject, bool quiet, bool verbose)
{
	struct steps steps = { .list = json_array(), .quiet = quiet, .ok = true };
	json_t *report = json_object(), *output;
	bool works = false;

	if (!quiet)
		text_print(0, 0, "", subject->name);
	if (subject->asked)
		examine_records(&steps, subject->name, subject->records, subject->count);
	if (trial_opens(subject->trial)) {
		works = examine_use(&steps, subject->name, &output);
	} else {
		examine_refusal(&steps, subject->trial, subject->must_open ? WRONG : FACT);
		output = json_incref(json_object_get(subject->trial, "output"));
	}
	if (subject->asked || verbose)
		step_add_all(&steps, "output", FACT, json_incref(output));
	json_object_set_new(report, "name", text_json(subject->name));
	json_object_set_new(report, "ok", json_boolean(steps.ok));
	json_object_set_new(report, "works", json_boolean(works));
	json_object_set_new(report, "steps", steps.list);
	json_object_set_new(report, "output", output);
	return report;
}

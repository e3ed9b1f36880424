/* SPDX-License-Identifier: BSD-3-Clause */
#include "show.h"
#include "adapter.h"
#include "attribute.h"
#include "feature.h"
#include "lines.h"
#include "output.h"
#include "text.h"
#include "trial.h"

#include <stdio.h>

#include <dat2/dat_version.h>

static json_t *
show_versions(const struct adapter *adapter)
{
	const DAT_PROVIDER_ATTR *attr = &adapter->provider_attr;
	const char *provider = adapter_named(adapter, "DAT_IB_PROVIDER_NAME");
	json_t *versions = json_object();

	json_object_set_new(versions, "libdat2", text_json(dat_rearm_version()));
	json_object_set_new(versions, "headers", text_json(REARM_VERSION));
	json_object_set_new(versions, "provider",
	    text_format("%s%s%u.%u", provider != NULL ? provider : "", provider != NULL ? " " : "",
		attr->provider_version_major, attr->provider_version_minor));
	json_object_set_new(versions, "api",
	    text_format("u%u.%u", attr->dapl_version_major, attr->dapl_version_minor));
	json_object_set_new(
	    versions, "extension", json_integer(adapter->ia_attr.extension_version));
	return versions;
}

static void
show_add_adapter(json_t *report, const struct adapter *adapter)
{
	json_object_set_new(report, "versions", show_versions(adapter));
	json_object_set_new(report, "ia_attributes", attribute_report_ia(adapter));
	json_object_set_new(report, "provider_attributes", attribute_report_provider(adapter));
	json_object_set_new(report, "units", attribute_units());
	json_object_set_new(report, "features", feature_report(adapter));
}

json_t *
show_report(const char *name, const json_t *trial)
{
	json_t *report = json_object(), *said;
	struct adapter adapter = { 0 };
	const char *call;
	DAT_RETURN ret;

	json_object_set_new(report, "name", text_json(name));
	if (!trial_opens(trial)) {
		json_object_set_new(report, "opens", json_false());
		json_object_set(report, "lines", json_object_get(trial, "lines"));
		json_object_set(report, "output", json_object_get(trial, "output"));
		return report;
	}
	output_begin();
	ret = adapter_open(&adapter, name, NULL, &call);
	said = ret == DAT_SUCCESS ? lines_take_errors() : lines_explain(call, ret);
	json_object_set_new(report, "opens", json_boolean(ret == DAT_SUCCESS));
	json_object_set_new(report, "lines", said);
	if (ret == DAT_SUCCESS) {
		show_add_adapter(report, &adapter);
		adapter_close(&adapter);
	}
	json_object_set_new(report, "output", output_end());
	return report;
}

void
show_print(const json_t *report)
{
	json_t *value;
	const char *key;
	char number[32];
	size_t i;

	text_print(0, 0, "", json_string_value(json_object_get(report, "name")));
	json_array_foreach(json_object_get(report, "lines"), i, value)
	    text_print(2, 0, "", json_string_value(value));
	json_array_foreach(json_object_get(report, "output"), i, value)
	    text_print(2, 8, i == 0 ? "output:" : "", json_string_value(value));
	if (!json_is_true(json_object_get(report, "opens")))
		return;
	text_print(2, 0, "", "Versions:");
	json_object_foreach(json_object_get(report, "versions"), key, value)
	{
		snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value));
		text_print(4, 36, key, json_is_string(value) ? json_string_value(value) : number);
	}
	text_print(2, 0, "", "Attributes of the adapter:");
	attribute_print(json_object_get(report, "ia_attributes"));
	text_print(2, 0, "", "Attributes of the provider:");
	attribute_print(json_object_get(report, "provider_attributes"));
	text_print(2, 0, "", "Calls that a device may not serve:");
	feature_print(json_object_get(report, "features"));
}

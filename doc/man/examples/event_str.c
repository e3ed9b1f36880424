/* SPDX-License-Identifier: BSD-3-Clause */
#include <dat2/dat_event_str.h>
#include <stdio.h>

static void
print_event(const DAT_EVENT *event)
{
	const DAT_DTO_COMPLETION_EVENT_DATA *dto =
	    &event->event_data.dto_completion_event_data;

	printf("%s", dat_event_str(event->event_number));
	if (event->event_number == DAT_DTO_COMPLETION_EVENT)
		printf(": %s", dat_dto_status_str(dto->status));
	printf("\n");
}

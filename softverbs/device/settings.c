/* SPDX-License-Identifier: BSD-3-Clause */
#include "settings.h"
#include "complaint.h"
#include "number.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THOUSANDTHS_MIN 10
#define THOUSANDTHS_MAX 100000

/* Milliseconds that a connection request waits for its listener. */
#define LISTENER_WAIT 200
#define LISTENER_WAIT_MAX 60000

static atomic_uint thousandths = 1000;
static atomic_uint listener_wait = LISTENER_WAIT;
static atomic_bool memlock, memlock_is_right = true;
static atomic_bool listeners_return;
static atomic_bool rnr_timer;
static atomic_bool without_rings;
static atomic_bool without_pulls;
static atomic_bool debugging;

/*
 * A decimal number with at most three places, in thousandths, or 0.  strtod(3) expects another
 * decimal point in other locales.
 */
static unsigned int
settings_parse_factor(const char *text)
{
	unsigned int value = 0, places = 0;
	bool point = false;

	for (; *text; text++) {
		if (*text == '.' && !point) {
			point = true;
			continue;
		}
		if (*text < '0' || *text > '9' || places == 3 || value > THOUSANDTHS_MAX)
			return 0;
		value = value * 10 + (unsigned int)(*text - '0');
		places += point;
	}
	for (; places < 3; places++)
		value *= 10;
	return value >= THOUSANDTHS_MIN && value <= THOUSANDTHS_MAX ? value : 0;
}

/* A number of milliseconds, or more than the maximum. */
static unsigned int
settings_parse_wait(const char *text)
{
	unsigned int value = 0;

	for (; *text; text++) {
		if (*text < '0' || *text > '9' || value > LISTENER_WAIT_MAX)
			return LISTENER_WAIT_MAX + 1;
		value = value * 10 + (unsigned int)(*text - '0');
	}
	return value;
}

/* Each is read, so that each that is wrong has its line. */
static bool
settings_read_switches(void)
{
	static const struct {
		const char *variable;
		atomic_bool *value;
	} switches[] = {
		{ "SOFTVERBS_LISTENERS_RETURN", &listeners_return },
		{ "SOFTVERBS_RNR_TIMER", &rnr_timer },
		{ "SOFTVERBS_SOCKETS", &without_rings },
		{ "SOFTVERBS_NO_PULL", &without_pulls },
		{ "SOFTVERBS_DEBUG", &debugging },
	};
	bool right = true, value;

	for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
		value = false;
		right &= soft_number_read_switch(switches[i].variable, &value);
		*switches[i].value = value;
	}
	return right;
}

int
soft_settings_read(void)
{
	const char *factor = secure_getenv("SOFTVERBS_TIME_FACTOR");
	const char *wait = secure_getenv("SOFTVERBS_LISTENER_WAIT");
	unsigned int value = factor && *factor ? settings_parse_factor(factor) : 1000;
	unsigned int milliseconds = wait && *wait ? settings_parse_wait(wait) : LISTENER_WAIT;

	if (!value) {
		soft_complain("SOFTVERBS_TIME_FACTOR=%s: not a number from 0.01 to 100", factor);
		return -EINVAL;
	}
	if (milliseconds > LISTENER_WAIT_MAX) {
		soft_complain("SOFTVERBS_LISTENER_WAIT=%s: not a number from 0 to %d", wait,
		    LISTENER_WAIT_MAX);
		return -EINVAL;
	}
	thousandths = value;
	listener_wait = milliseconds;
	return settings_read_switches() && memlock_is_right ? 0 : -EINVAL;
}

bool
soft_settings_read_control(void)
{
	bool control = false;

	(void)soft_number_read_switch("SOFTVERBS_CONTROL", &control);
	return control;
}

void
soft_settings_read_memlock(void)
{
	bool value = false;

	memlock_is_right = soft_number_read_switch("SOFTVERBS_MEMLOCK", &value);
	memlock = value;
}

uint64_t
soft_settings_scale_time(uint64_t nanoseconds)
{
	return nanoseconds / 1000 * thousandths;
}

uint64_t
soft_settings_listener_wait(void)
{
	return soft_settings_scale_time(listener_wait * 1000000ull);
}

bool
soft_settings_memlock(void)
{
	return memlock;
}

bool
soft_settings_listeners_return(void)
{
	return listeners_return;
}

bool
soft_settings_rnr_timer(void)
{
	return rnr_timer;
}

bool
soft_settings_rings(void)
{
	return !without_rings;
}

bool
soft_settings_pulls(void)
{
	return !without_pulls;
}

void
soft_debug(const char *format, ...)
{
	char text[256], line[512];
	int saved = errno, n;
	va_list args;

	if (!debugging)
		return;
	n = snprintf(text, sizeof text, "softverbs[%d]: ", (int)getpid());
	va_start(args, format);
	(void)vsnprintf(text + n, sizeof text - (size_t)n, format, args);
	va_end(args);
	soft_show(line, sizeof line - 1, text);
	n = (int)strlen(line);
	line[n++] = '\n';
	if (soft_stderr_is_read())
		(void)syscall(SYS_write, STDERR_FILENO, line, n);
	errno = saved;
}

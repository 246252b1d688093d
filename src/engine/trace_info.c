/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/trace_info.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/text.h"

/* As plecoc describes events/. */
static const char events[] =
#include "events_json.inc"
	;

static void put_member(struct text *out, const char *key, const char *value)
{
	text_printf(out, "\"%s\":", key);
	text_put_json_string(out, value);
	text_put(out, ",");
}

/* Which of the boots of this machine it is: times of two boots have nothing to do with each other. */
static void put_boot(struct text *out)
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	char boot[64] = "";

	if (file && fgets(boot, sizeof(boot), file))
		boot[strcspn(boot, "\n")] = '\0';
	if (file)
		fclose(file);
	put_member(out, "boot_id", boot);
}

static void put_schema(struct text *out)
{
	text_put(out, "\"clock\":\"CLOCK_MONOTONIC\",\"schema\":");
	text_put(out, events);
	text_put(out, "}\n");
}

void trace_info_put(struct text *out)
{
	struct utsname system;

	uname(&system);
	text_put(out, "{");
	put_member(out, "pinch", PINCH_VERSION);
	put_member(out, "host", system.nodename);
	put_member(out, "kernel", system.release);
	put_member(out, "kernel_version", system.version);
	put_member(out, "machine", system.machine);
	put_boot(out);
	put_schema(out);
}

void trace_info_put_of(struct text *out, const char *info, size_t size_bytes)
{
	static const char *const keys[] = {
		"pinch", "host", "kernel", "kernel_version", "machine", "boot_id",
	};

	text_put(out, "{");
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		text_printf(out, "\"%s\":\"", keys[i]);
		trace_info_find(info, size_bytes, keys[i], out);
		text_put(out, "\",");
	}
	put_schema(out);
}

/* What stands between quotes at *at, which then is behind them. NULL: there are none. */
static const char *take_string(const char **at, const char *end, size_t *length)
{
	const char *begin, *quote;

	if (*at == end || **at != '"')
		return NULL;
	begin = quote = *at + 1;
	while (quote < end && *quote != '"')
		quote += *quote == '\\' && end - quote > 1 ? 2 : 1;
	if (quote == end)
		return NULL;
	*length = quote - begin;
	*at = quote + 1;
	return begin;
}

bool trace_info_find(const char *info, size_t size_bytes, const char *key, struct text *out)
{
	const char *at = info, *end = info + size_bytes, *name, *value;
	size_t name_length, length;

	while (at < end && (*at == '{' || *at == ',')) {
		at++;
		name = take_string(&at, end, &name_length);
		if (!name || at == end || *at++ != ':')
			return false;
		value = take_string(&at, end, &length);
		if (!value)
			return false;
		if (name_length == strlen(key) && !memcmp(name, key, name_length)) {
			text_put_bytes(out, value, length);
			return true;
		}
	}
	return false;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/trace_info.h"

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
	text_put(out, "\"clock\":\"CLOCK_MONOTONIC\",\"schema\":");
	text_put(out, events);
	text_put(out, "}\n");
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pinch trace: switches and triggers. */
#pragma once

#include <stdbool.h>

struct outside_programs;
struct outside_settings;
struct settings;

/* Whether triggers are set; a duration is heeded with these, or sets them alone. */
bool trace_sets_triggers(const struct settings *settings);

/* Does what the settings say to each of the programs, after all names have been found. 0, or a negative errno after a message. */
int trace_change(const struct settings *settings, const struct outside_programs *programs);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What pinch record does, for the commands that show what it records. */
#pragma once

#include "options/command.h"

struct inheritance;

/* Of pinch record alone. */
extern const struct option_spec record_options[];

/*
 * Records what the settings name, or else the command or the scopes from argv[rest] on, whose inheritance was taken before anything else was
 * done. Returns an exit status, after a message.
 */
int record_traced(struct settings *settings, struct inheritance *inheritance, int argc, char **argv, int rest);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the process that traces may still do once it does: read and fill maps, and write what was asked for. All the
 * rest is given up for good, so that whoever took it over, by what traced programs say, gains little.
 */
#pragma once

#include <stdbool.h>

struct settings;

/* All that is needed is attached and running; signals_command: a command was started that may be another user's. */
void privileges_give_up(const struct settings *settings, bool signals_command);

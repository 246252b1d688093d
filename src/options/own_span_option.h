/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A span that a trace does not have as one, but whose two events it has: given where one of its own is chosen. */
#pragma once

struct settings;

/*
 * word: what --span was given. If it is two events of a program's own, perhaps with ":slowest" or a number behind, they are
 * settings->own_span from here on. 0, or -EINVAL after having said what is wrong with them.
 */
int own_span_option(struct settings *settings, const char *word);

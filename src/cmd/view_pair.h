/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pinch view of two traces: on one page, one above the other, and compared. */
#pragma once

struct settings;

/* names: of two files. Returns an exit status, after a message. */
int view_pair(const struct settings *settings, char *const names[static 2]);

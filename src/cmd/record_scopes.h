/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several scopes are recorded at once, into one trace. */
#pragma once

#include <stddef.h>

struct settings;

/* Their merged trace goes to the file that the settings name. Returns an exit status, after a message. */
int record_scopes(const struct settings *settings, char *const *addresses, size_t count);

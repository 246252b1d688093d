/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a script says of all events and activities together: statistics{...}, a table of rows. */
#pragma once

#include <stdbool.h>

struct lua_State;
struct script_host;

/* Sets it among the globals. It is an error unless *is_allowed. Both arguments live as long as the state. */
void lua_statistics_open(struct lua_State *lua, const struct script_host *host, const bool *is_allowed);

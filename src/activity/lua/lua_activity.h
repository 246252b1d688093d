/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a script says: activity{...}, and print(...). */
#pragma once

struct lua_State;
struct lua_event;
struct script_host;

/* Sets both among the globals. host and current live as long as the state. */
void lua_activity_open(struct lua_State *lua, const struct script_host *host, const struct lua_event *current);

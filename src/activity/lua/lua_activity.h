/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a script says: activity{...}, which its own on_activity() sees at once, and print(...). */
#pragma once

struct activity;
struct lua_State;
struct lua_event;
struct script_host;

/* Sets both among the globals. host and current live as long as the state. */
void lua_activity_open(struct lua_State *lua, const struct script_host *host, const struct lua_event *current);

/* The function on top of the stack, or nil, is on_activity(); it is popped. */
void lua_activity_set_handler(struct lua_State *lua);

/* Calls on_activity(), which there is. Raises its errors. */
void lua_activity_call_handler(struct lua_State *lua, const struct script_host *host, const struct activity *activity);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An activity that was found, as on_activity() gets it: a table of its own, which a script may keep. */
#pragma once

struct activity;
struct event_context;
struct lua_State;

/* Pushes it. context: who threads are; NULL: nobody is known. */
void lua_found_push(struct lua_State *lua, const struct activity *activity, const struct event_context *context);

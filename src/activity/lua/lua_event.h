/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The event that a script is asked about: one object, whose members are made when a script asks for them. It is another event with each
 * call, and none between calls.
 */
#pragma once

struct lua_State;
struct named_event;

/* What the object refers to; the caller owns it and sets event, to NULL between calls. */
struct lua_event {
	const struct named_event *event;
};

/* Pushes the object. current lives as long as the state. */
void lua_event_push(struct lua_State *lua, struct lua_event *current);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of the string library that could run for a long time without an instruction: find, match, gmatch, gsub, rep. */
#pragma once

struct lua_State;

/* Sets them in the table on top of the stack, in place of Lua's own. */
void lua_strings_set(struct lua_State *lua);

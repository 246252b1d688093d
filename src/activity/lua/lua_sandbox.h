/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a script finds: of Lua's own libraries, functions that compute and reach nothing outside the script. There is no io, os,
 * package, debug or coroutine library, nothing that loads code, no finalizers (Lua runs them without the hook that counts
 * instructions), and no function that works without an instruction for a time that nothing bounds.
 */
#pragma once

struct lua_State;

/* Makes the globals of a new state. May raise errors, of memory. */
void lua_sandbox_open(struct lua_State *lua);

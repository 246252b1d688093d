/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a script may use: instructions and CPU time of one call, memory of all of it. Whoever runs into a limit of time is stopped
 * for good: each further instruction fails, too, so that no pcall() goes on behind it.
 *
 * Instructions are counted by Lua's hook. Work that has no instructions is charged in units of the same account: memory by its
 * size, library functions that go over strings and tables by how far they go (lua_limits_charge()).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lua_State;

enum {
	LUA_UNITS_MAX = 20 * 1000 * 1000, /* of one call */
	LUA_MEMORY_BYTES_MAX = 64 << 20,
	LUA_STRING_BYTES_MAX = 1 << 20,
	LUA_CPU_MS_MAX = 2000, /* of one call, whatever its units say */
	LUA_MESSAGE_BYTES_MAX = 512,
};

/* Owned by whoever owns the state. */
struct lua_limits {
	struct lua_State *lua;
	size_t used_bytes;
	int64_t units_left;   /* of the call that runs */
	uint64_t call_cpu_ns; /* the thread's CPU time when it was first looked at in this call; 0: not yet */
	bool is_exhausted;    /* for good */
	char message[LUA_MESSAGE_BYTES_MAX];    /* why */
	char refused_at[LUA_MESSAGE_BYTES_MAX]; /* "script:12", where memory was refused in this call; empty: nowhere */
};

/* A state without libraries, for lua_close(); NULL: there is no memory. limits is zeroed, and lives longer. */
struct lua_State *lua_limits_open(struct lua_limits *limits);

/* Before each call into a script. */
void lua_limits_begin(struct lua_limits *limits);

/* Inside a function that a script has called: it will do so many units of work. Raises an error if these are not left. */
void lua_limits_charge(struct lua_State *lua, uint64_t units);

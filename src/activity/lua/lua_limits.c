/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "activity/lua/lua_limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <lauxlib.h>
#include <lua.h>

enum {
	HOOK_INSTRUCTIONS = 1000,
	BYTES_A_UNIT = 16,
	REFUSED_UNITS = 100 * 1000, /* Lua collects all its garbage before it gives up */
};

static struct lua_limits *limits_of(lua_State *lua)
{
	return *(struct lua_limits **)lua_getextraspace(lua);
}

/* The innermost line of the script that runs. */
static void find_place(lua_State *lua, lua_Debug *at)
{
	for (int level = 0; lua_getstack(lua, level, at); level++) {
		lua_getinfo(lua, "Sl", at);
		if (at->currentline > 0)
			return;
	}
	snprintf(at->short_src, sizeof(at->short_src), "?");
}

/* Lua's error of memory has no place: it is looked up while that is known, which needs no memory. */
static void *refuse(struct lua_limits *limits)
{
	lua_Debug at = { 0 };

	limits->units_left -= REFUSED_UNITS;
	if (!limits->lua || limits->refused_at[0])
		return NULL;
	find_place(limits->lua, &at);
	snprintf(limits->refused_at, sizeof(limits->refused_at), "%s:%d", at.short_src, at.currentline);
	return NULL;
}

/* Lua's lua_Alloc: of new blocks, old_bytes is the type of the object. */
static void *allocate(void *data, void *block, size_t old_bytes, size_t new_bytes)
{
	struct lua_limits *limits = data;
	bool is_string = !block && old_bytes == LUA_TSTRING;
	void *moved;

	if (!block)
		old_bytes = 0;
	if (!new_bytes) {
		free(block);
		limits->used_bytes -= old_bytes;
		return NULL;
	}
	if (new_bytes > old_bytes) {
		if (limits->used_bytes + (new_bytes - old_bytes) > LUA_MEMORY_BYTES_MAX ||
		    (is_string && new_bytes > LUA_STRING_BYTES_MAX))
			return refuse(limits);
		limits->units_left -= new_bytes / BYTES_A_UNIT;
	}
	moved = realloc(block, new_bytes);
	if (moved)
		limits->used_bytes += new_bytes - old_bytes;
	return moved;
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static bool is_too_long(struct lua_limits *limits)
{
	uint64_t now_ns = cpu_ns();

	if (!limits->call_cpu_ns)
		limits->call_cpu_ns = now_ns;
	return now_ns - limits->call_cpu_ns > LUA_CPU_MS_MAX * 1000000ull;
}

static void on_count(lua_State *lua, lua_Debug *at);

/* The first message is the one that names the place. */
static void stop(lua_State *lua, struct lua_limits *limits, const char *script, int line, const char *why)
{
	if (!limits->is_exhausted)
		snprintf(limits->message, sizeof(limits->message), "%s:%d: %s", script, line, why);
	limits->is_exhausted = true;
	lua_sethook(lua, on_count, LUA_MASKCOUNT, 1);
	lua_pushstring(lua, limits->message);
	lua_error(lua);
}

static const char *reason(struct lua_limits *limits)
{
	if (limits->units_left < 0)
		return "stopped: one call did more than 20 million instructions, or as much work in library functions";
	return is_too_long(limits) ? "stopped: one call took more than 2 s of CPU time" : NULL;
}

static void on_count(lua_State *lua, lua_Debug *at)
{
	struct lua_limits *limits = limits_of(lua);
	const char *why;

	limits->units_left -= HOOK_INSTRUCTIONS;
	why = limits->is_exhausted ? limits->message : reason(limits);
	if (!why)
		return;
	lua_getinfo(lua, "Sl", at);
	stop(lua, limits, at->short_src, at->currentline, why);
}

/* The line of the script that called the function that runs. */
static void stop_caller(lua_State *lua, struct lua_limits *limits, const char *why)
{
	lua_Debug at = { 0 };

	find_place(lua, &at);
	stop(lua, limits, at.short_src, at.currentline, why);
}

void lua_limits_charge(lua_State *lua, uint64_t units)
{
	struct lua_limits *limits = limits_of(lua);

	if (units <= (uint64_t)LUA_UNITS_MAX)
		limits->units_left -= units;
	else
		limits->units_left = -1;
	if (limits->units_left < 0)
		stop_caller(lua, limits, reason(limits));
}

lua_State *lua_limits_open(struct lua_limits *limits)
{
	lua_State *lua = lua_newstate(allocate, limits);

	if (!lua)
		return NULL;
	limits->lua = lua;
	*(struct lua_limits **)lua_getextraspace(lua) = limits;
	lua_sethook(lua, on_count, LUA_MASKCOUNT, HOOK_INSTRUCTIONS);
	return lua;
}

void lua_limits_begin(struct lua_limits *limits)
{
	limits->units_left = LUA_UNITS_MAX;
	limits->call_cpu_ns = 0;
	limits->refused_at[0] = '\0';
}

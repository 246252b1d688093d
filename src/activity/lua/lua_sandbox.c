/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "activity/lua/lua_sandbox.h"

#include <string.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "activity/lua/lua_limits.h"
#include "activity/lua/lua_strings.h"

/* Not xpcall: Lua calls its message handler inside the hook that stops a script, where no instructions are counted. */
static const char *const base_names[] = {
	"assert", "error",  "getmetatable", "ipairs",   "next",     "pairs", "pcall",    "rawequal", "rawget",
	"rawlen", "rawset", "select",       "tonumber", "tostring", "type",  "_VERSION", NULL,
};

static const char *const string_names[] = { "byte", "char",    "format", "len",   "lower",
					    "rep",  "reverse", "sub",    "upper", NULL };

static const char *const utf8_names[] = { "char", "charpattern", "codepoint", "codes", "len", "offset", NULL };

static const char *const math_names[] = { "abs", "acos",       "asin", "atan",      "ceil", "cos",    "deg",
					  "exp", "floor",      "fmod", "huge",      "log",  "max",    "maxinteger",
					  "min", "mininteger", "modf", "pi",        "rad",  "random", "randomseed",
					  "sin", "sqrt",       "tan",  "tointeger", "type", "ult",    NULL };

/* Functions that go over a table, and how much work that is for so many elements. */
enum walk { WALK_CONCAT, WALK_INSERT, WALK_MOVE, WALK_PACK, WALK_REMOVE, WALK_SORT, WALK_UNPACK, WALKS };

static const char *const walk_names[WALKS] = { "concat", "insert", "move", "pack", "remove", "sort", "unpack" };

/* From one argument to another one; too many for int64_t are as many as these. */
static uint64_t range_length(lua_State *lua, int first_index, lua_Integer first, int last_index, lua_Integer last)
{
	first = luaL_optinteger(lua, first_index, first);
	last = luaL_optinteger(lua, last_index, last);
	return last < first ? 0 : (lua_Unsigned)last - (lua_Unsigned)first;
}

static uint64_t walk_units(lua_State *lua, enum walk walk)
{
	lua_Integer length;

	if (walk == WALK_PACK)
		return lua_gettop(lua);
	luaL_checktype(lua, 1, LUA_TTABLE);
	/* Its metamethods would say how long it is, and something else the next time. */
	if (lua_getmetatable(lua, 1))
		luaL_error(lua, "table.%s: the table has a metatable", walk_names[walk]);
	length = lua_rawlen(lua, 1);
	switch (walk) {
	case WALK_CONCAT:
		return range_length(lua, 3, 1, 4, length) + 1;
	case WALK_UNPACK:
		return range_length(lua, 2, 1, 3, length) + 1;
	case WALK_MOVE:
		return range_length(lua, 2, 1, 3, length) + 1;
	case WALK_SORT:
		return 32 * (uint64_t)length + 1;
	default:
		return lua_gettop(lua) > 1 ? length + 1 : 1;
	}
}

/* Its upvalues: the function of Lua's, and which it is. */
static int walk_table(lua_State *lua)
{
	lua_limits_charge(lua, walk_units(lua, lua_tointeger(lua, lua_upvalueindex(2))));
	lua_pushvalue(lua, lua_upvalueindex(1));
	lua_insert(lua, 1);
	lua_call(lua, lua_gettop(lua) - 1, LUA_MULTRET);
	return lua_gettop(lua);
}

/* Its upvalue: the function of Lua's. */
static int set_metatable(lua_State *lua)
{
	if (lua_type(lua, 2) == LUA_TTABLE) {
		lua_pushliteral(lua, "__gc");
		if (lua_rawget(lua, 2) != LUA_TNIL)
			luaL_error(lua, "setmetatable: scripts have no finalizers (__gc)");
		lua_pop(lua, 1);
	}
	lua_pushvalue(lua, lua_upvalueindex(1));
	lua_insert(lua, 1);
	lua_call(lua, lua_gettop(lua) - 1, 1);
	return 1;
}

/* From the table on top to the one below it. */
static void copy_fields(lua_State *lua, const char *const *names)
{
	for (; *names; names++) {
		lua_getfield(lua, -1, *names);
		lua_setfield(lua, -3, *names);
	}
}

/* Puts a library into the globals, which are on top: of it, what names say. */
static void open_library(lua_State *lua, const char *name, lua_CFunction open, const char *const *names)
{
	lua_newtable(lua);
	lua_pushcfunction(lua, open);
	lua_call(lua, 0, 1);
	copy_fields(lua, names);
	lua_pop(lua, 1);
	lua_setfield(lua, -2, name);
}

static void open_base(lua_State *lua)
{
	lua_pushcfunction(lua, luaopen_base);
	lua_call(lua, 0, 1);
	copy_fields(lua, base_names);
	lua_getfield(lua, -1, "setmetatable");
	lua_pushcclosure(lua, set_metatable, 1);
	lua_setfield(lua, -3, "setmetatable");
	lua_pop(lua, 1);
}

static void open_table(lua_State *lua)
{
	lua_newtable(lua);
	lua_pushcfunction(lua, luaopen_table);
	lua_call(lua, 0, 1);
	for (int walk = 0; walk < WALKS; walk++) {
		lua_getfield(lua, -1, walk_names[walk]);
		lua_pushinteger(lua, walk);
		lua_pushcclosure(lua, walk_table, 2);
		lua_setfield(lua, -3, walk_names[walk]);
	}
	lua_pop(lua, 1);
	lua_setfield(lua, -2, "table");
}

/* Methods of strings are those of the library, too, and their metatable is out of reach. */
static void close_strings(lua_State *lua)
{
	lua_getfield(lua, -1, "string");
	lua_strings_set(lua);
	lua_pushliteral(lua, "");
	lua_getmetatable(lua, -1);
	lua_pushvalue(lua, -3);
	lua_setfield(lua, -2, "__index");
	lua_pushboolean(lua, false);
	lua_setfield(lua, -2, "__metatable");
	lua_pop(lua, 3);
}

void lua_sandbox_open(lua_State *lua)
{
	lua_newtable(lua);
	open_base(lua);
	open_library(lua, "string", luaopen_string, string_names);
	open_library(lua, "math", luaopen_math, math_names);
	open_library(lua, "utf8", luaopen_utf8, utf8_names);
	open_table(lua);
	close_strings(lua);
	lua_pushvalue(lua, -1);
	lua_setfield(lua, -2, "_G");
	lua_rawseti(lua, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
}

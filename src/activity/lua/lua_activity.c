/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "activity/lua/lua_activity.h"

#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "activity/activity.h"
#include "activity/lua/lua_event.h"
#include "activity/lua/lua_found.h"
#include "activity/named_event.h"
#include "activity/script_language.h"

enum { PARAMETERS_MAX = 16, NAME_BYTES_MAX = 64 };

/* Their addresses are keys of the registry, which scripts do not reach: on_activity(), and whether it runs. */
static const char handler_key, is_handled_key;

/* A member of the table that is the argument. */
static lua_Integer integer_member(lua_State *lua, const char *name)
{
	lua_Integer value;
	int is_integer;

	lua_getfield(lua, 1, name);
	value = lua_tointegerx(lua, -1, &is_integer);
	if (!is_integer)
		luaL_error(lua, "activity: %s has to be an integer, not %s", name, luaL_typename(lua, -1));
	lua_pop(lua, 1);
	return value;
}

/* The string stays on the stack. */
static const char *name_member(lua_State *lua)
{
	const char *name;
	size_t length;

	if (lua_getfield(lua, 1, "name") != LUA_TSTRING)
		luaL_error(lua, "activity: name has to be a string, not %s", luaL_typename(lua, -1));
	name = lua_tolstring(lua, -1, &length);
	if (!length || length > NAME_BYTES_MAX || memchr(name, '\0', length))
		luaL_error(lua, "activity: name has to have 1 to %d bytes, none of them 0", NAME_BYTES_MAX);
	return name;
}

static uint32_t number_member(lua_State *lua, const char *name, uint32_t otherwise)
{
	lua_Integer value;

	if (lua_getfield(lua, 1, name) == LUA_TNIL) {
		lua_pop(lua, 1);
		return otherwise;
	}
	lua_pop(lua, 1);
	value = integer_member(lua, name);
	if (value < 0 || value >= UINT32_MAX)
		luaL_error(lua, "activity: %s is out of range", name);
	return value;
}

static bool is_member(const char *name)
{
	static const char *const names[] = { "name", "begin", "end", "thread", "cpu" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* Of what is on top of the stack. */
static struct activity_parameter parameter_of(lua_State *lua, const char *name)
{
	struct activity_parameter parameter = { .name = name };

	if (lua_isinteger(lua, -1)) {
		parameter.type = PARAMETER_INTEGER;
		parameter.integer = lua_tointeger(lua, -1);
	} else if (lua_type(lua, -1) == LUA_TNUMBER) {
		parameter.type = PARAMETER_REAL;
		parameter.real = lua_tonumber(lua, -1);
	} else if (lua_type(lua, -1) == LUA_TSTRING) {
		parameter.type = PARAMETER_STRING;
		parameter.string = lua_tostring(lua, -1);
	} else {
		luaL_error(lua, "activity: parameter %s has to be a number or a string, not %s", name,
			   luaL_typename(lua, -1));
	}
	return parameter;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct activity_parameter *)a)->name, ((const struct activity_parameter *)b)->name);
}

/* The strings belong to the table, which is an argument of the function that runs. Sorted: a table has no order. */
static size_t take_parameters(lua_State *lua, struct activity_parameter *parameters)
{
	size_t count = 0;

	for (lua_pushnil(lua); lua_next(lua, 1); lua_pop(lua, 1)) {
		if (lua_type(lua, -2) != LUA_TSTRING)
			luaL_error(lua, "activity: names of parameters have to be strings");
		if (is_member(lua_tostring(lua, -2)))
			continue;
		if (count == PARAMETERS_MAX)
			luaL_error(lua, "activity: more than %d parameters", PARAMETERS_MAX);
		parameters[count++] = parameter_of(lua, lua_tostring(lua, -2));
	}
	qsort(parameters, count, sizeof(*parameters), by_name);
	return count;
}

/* --- Handling --------------------------------------------------------------------------------- */

void lua_activity_set_handler(lua_State *lua)
{
	lua_rawsetp(lua, LUA_REGISTRYINDEX, &handler_key);
}

static void set_handled(lua_State *lua, bool is_handled)
{
	lua_pushboolean(lua, is_handled);
	lua_rawsetp(lua, LUA_REGISTRYINDEX, &is_handled_key);
}

static bool is_handled(lua_State *lua)
{
	bool is_so;

	lua_rawgetp(lua, LUA_REGISTRYINDEX, &is_handled_key);
	is_so = lua_toboolean(lua, -1);
	lua_pop(lua, 1);
	return is_so;
}

void lua_activity_call_handler(lua_State *lua, const struct script_host *host, const struct activity *activity)
{
	int status;

	lua_rawgetp(lua, LUA_REGISTRYINDEX, &handler_key);
	lua_found_push(lua, activity, host->context);
	set_handled(lua, true);
	status = lua_pcall(lua, 1, 0, 0);
	set_handled(lua, false);
	if (status)
		lua_error(lua);
}

/* One that the script itself has made. */
static void handle_own(lua_State *lua, const struct script_host *host, const struct activity *activity)
{
	if (lua_rawgetp(lua, LUA_REGISTRYINDEX, &handler_key) == LUA_TFUNCTION)
		lua_activity_call_handler(lua, host, activity);
	lua_pop(lua, 1);
}

/* --- Making ----------------------------------------------------------------------------------- */

/* Upvalues: the host, the current event. */
static int activity(lua_State *lua)
{
	const struct script_host *host = lua_touserdata(lua, lua_upvalueindex(1));
	const struct lua_event *current = lua_touserdata(lua, lua_upvalueindex(2));
	struct activity_parameter parameters[PARAMETERS_MAX];
	struct activity made = { .parameters = parameters };
	lua_Integer begin, end;

	luaL_checktype(lua, 1, LUA_TTABLE);
	lua_settop(lua, 1);
	if (lua_getmetatable(lua, 1))
		luaL_error(lua, "activity: the table has a metatable");
	if (is_handled(lua))
		luaL_error(lua, "activity: on_activity() cannot make another one");
	begin = integer_member(lua, "begin");
	end = integer_member(lua, "end");
	if (begin < 0 || end < begin)
		luaL_error(lua, "activity: end is before begin");
	made.begin_ns = begin;
	made.end_ns = end;
	made.thread = number_member(lua, "thread", current->event ? current->event->thread : 0);
	made.cpu = number_member(lua, "cpu", current->event ? named_event_cpu(current->event) : CPU_UNKNOWN);
	made.name = name_member(lua);
	made.parameter_count = take_parameters(lua, parameters);
	if (host->emit(host->data, &made))
		handle_own(lua, host, &made);
	return 0;
}

/* Upvalue: the host. */
static int print(lua_State *lua)
{
	const struct script_host *host = lua_touserdata(lua, lua_upvalueindex(1));
	int count = lua_gettop(lua);
	luaL_Buffer line;
	size_t length;

	luaL_buffinit(lua, &line);
	for (int i = 1; i <= count; i++) {
		if (i > 1)
			luaL_addchar(&line, '\t');
		luaL_tolstring(lua, i, NULL);
		luaL_addvalue(&line);
	}
	luaL_pushresult(&line);
	lua_tolstring(lua, -1, &length);
	host->print(host->data, lua_tostring(lua, -1), length);
	return 0;
}

void lua_activity_open(lua_State *lua, const struct script_host *host, const struct lua_event *current)
{
	lua_pushlightuserdata(lua, (void *)host);
	lua_pushlightuserdata(lua, (void *)current);
	lua_pushcclosure(lua, activity, 2);
	lua_setglobal(lua, "activity");
	lua_pushlightuserdata(lua, (void *)host);
	lua_pushcclosure(lua, print, 1);
	lua_setglobal(lua, "print");
}

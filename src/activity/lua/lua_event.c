/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "activity/lua/lua_event.h"

#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "activity/named_event.h"
#include "session/hosts.h"
#include "session/threads.h"

enum { NAME_BYTES_MAX = 256 };

enum member {
	MEMBER_NONE,
	MEMBER_APPLICATION,
	MEMBER_ARGUMENT,
	MEMBER_CPU,
	MEMBER_EVENT,
	MEMBER_FIELD,
	MEMBER_HOST,
	MEMBER_NAME,
	MEMBER_PID,
	MEMBER_SECONDS,
	MEMBER_SUBSYSTEM,
	MEMBER_TEXT,
	MEMBER_THREAD,
	MEMBER_THREAD_NAME,
	MEMBER_TID,
	MEMBER_TIME,
};

static const char *const members[] = {
	[MEMBER_APPLICATION] = "application",
	[MEMBER_ARGUMENT] = "argument",
	[MEMBER_CPU] = "cpu",
	[MEMBER_EVENT] = "event",
	[MEMBER_FIELD] = "field",
	[MEMBER_HOST] = "host",
	[MEMBER_NAME] = "name",
	[MEMBER_PID] = "pid",
	[MEMBER_SECONDS] = "seconds",
	[MEMBER_SUBSYSTEM] = "subsystem",
	[MEMBER_TEXT] = "text",
	[MEMBER_THREAD] = "thread",
	[MEMBER_THREAD_NAME] = "thread_name",
	[MEMBER_TID] = "tid",
	[MEMBER_TIME] = "time",
};

enum { MEMBERS = sizeof(members) / sizeof(*members) };

/* Upvalues of the functions below. */
enum { UPVALUE_EVENT = 1, UPVALUE_MEMBERS = 2, UPVALUE_NAMES = 3, UPVALUE_FIELD = 4 };

static const struct named_event *event_of(lua_State *lua)
{
	const struct lua_event *current = lua_touserdata(lua, lua_upvalueindex(UPVALUE_EVENT));

	if (!current->event)
		luaL_error(lua, "there is no event here: it is valid in filter() and on_event() only");
	return current->event;
}

/* --- Fields ----------------------------------------------------------------------------------- */

static void push_strings(lua_State *lua, const char *at, size_t size_bytes)
{
	const char *end = at + size_bytes;

	lua_newtable(lua);
	for (lua_Integer i = 1; at < end; i++) {
		size_t length = strnlen(at, end - at);

		lua_pushlstring(lua, at, length);
		lua_rawseti(lua, -2, i);
		at += length + 1;
	}
}

static void push_numbers(lua_State *lua, const struct event_field *field, const char *at, size_t size_bytes)
{
	size_t count = size_bytes / field->width_bytes;

	lua_createtable(lua, count, 0);
	for (size_t i = 0; i < count; i++) {
		lua_pushinteger(lua, event_field_number(field, at + i * field->width_bytes));
		lua_rawseti(lua, -2, i + 1);
	}
}

static void push_field(lua_State *lua, const struct event_field *field, const void *bytes, size_t size_bytes)
{
	bool has_many = field->strings == STRINGS_ANY || field->strings == STRINGS_BY_FIELD ||
			(field->strings == STRINGS_COUNT && field->string_count > 1);

	if (field->kind == FIELD_CHAR && field->is_flexible && has_many)
		push_strings(lua, bytes, size_bytes);
	else if (field->kind == FIELD_CHAR)
		lua_pushlstring(lua, bytes, strnlen(bytes, size_bytes));
	else if (field->is_flexible && field->width_bytes == 1)
		lua_pushlstring(lua, bytes, size_bytes);
	else if (field->count || field->is_flexible)
		push_numbers(lua, field, bytes, size_bytes);
	else
		lua_pushinteger(lua, event_field_number(field, bytes));
}

/* nil: the event has no such field. */
static int push_named_field(lua_State *lua, const struct named_event *event, const char *name)
{
	const struct event_field *field;
	const void *bytes;
	size_t size_bytes;

	if (named_event_field(event, name, &field, &bytes, &size_bytes))
		push_field(lua, field, bytes, size_bytes);
	else
		lua_pushnil(lua);
	return 1;
}

/* event:field(name): the field, where a member of that name hides it. */
static int event_field(lua_State *lua)
{
	return push_named_field(lua, event_of(lua), luaL_checkstring(lua, 2));
}

/* --- Members ---------------------------------------------------------------------------------- */

static void put_name(lua_State *lua, const struct named_event *event)
{
	size_t length = strnlen(event->subsystem, NAME_BYTES_MAX / 2 - 1), event_length;
	char name[NAME_BYTES_MAX];

	event_length = strnlen(event->event, NAME_BYTES_MAX / 2);
	memcpy(name, event->subsystem, length);
	name[length] = '.';
	memcpy(name + length + 1, event->event, event_length);
	lua_pushlstring(lua, name, length + 1 + event_length);
}

/* The string is kept: the kind lives as long as the state. */
static void push_name(lua_State *lua, const struct named_event *event)
{
	if (lua_rawgetp(lua, lua_upvalueindex(UPVALUE_NAMES), event->kind) == LUA_TSTRING)
		return;
	lua_pop(lua, 1);
	put_name(lua, event);
	lua_pushvalue(lua, -1);
	lua_rawsetp(lua, lua_upvalueindex(UPVALUE_NAMES), event->kind);
}

static void push_cpu(lua_State *lua, const struct named_event *event)
{
	uint32_t cpu = named_event_cpu(event);

	if (cpu == CPU_UNKNOWN)
		lua_pushnil(lua);
	else
		lua_pushinteger(lua, cpu);
}

static void push_of_thread(lua_State *lua, const struct named_event *event, enum member member)
{
	const struct thread *thread = named_event_thread(event);

	if (!thread)
		lua_pushnil(lua);
	else if (member == MEMBER_PID)
		lua_pushinteger(lua, id_on_host(thread->pid));
	else if (member == MEMBER_TID)
		lua_pushinteger(lua, id_on_host(thread->tid));
	else if (member == MEMBER_THREAD_NAME)
		lua_pushstring(lua, thread->name);
	else
		lua_pushstring(lua, event_context_application(event->context, thread->pid));
}

static void push_argument(lua_State *lua, const struct named_event *event)
{
	if (event->is_own)
		lua_pushinteger(lua, event->argument);
	else
		lua_pushnil(lua);
}

static void push_seconds(lua_State *lua, const struct named_event *event)
{
	lua_pushnumber(lua, (int64_t)(event->time_ns - event->first_ns) / 1e9);
}

static void push_member(lua_State *lua, const struct named_event *event, enum member member)
{
	switch (member) {
	case MEMBER_ARGUMENT:
		push_argument(lua, event);
		break;
	case MEMBER_CPU:
		push_cpu(lua, event);
		break;
	case MEMBER_EVENT:
		lua_pushstring(lua, event->event);
		break;
	case MEMBER_FIELD:
		lua_pushvalue(lua, lua_upvalueindex(UPVALUE_FIELD));
		break;
	case MEMBER_HOST:
		lua_pushstring(lua, named_event_host(event));
		break;
	case MEMBER_NAME:
		push_name(lua, event);
		break;
	case MEMBER_SECONDS:
		push_seconds(lua, event);
		break;
	case MEMBER_SUBSYSTEM:
		lua_pushstring(lua, event->subsystem);
		break;
	case MEMBER_TEXT:
		lua_pushstring(lua, event->text);
		break; /* nil of NULL */
	case MEMBER_THREAD:
		lua_pushinteger(lua, event->thread);
		break;
	case MEMBER_TIME:
		lua_pushinteger(lua, event->time_ns);
		break;
	default:
		push_of_thread(lua, event, member);
		break;
	}
}

static int event_index(lua_State *lua)
{
	const struct named_event *event = event_of(lua);
	enum member member;

	lua_settop(lua, 2);
	lua_pushvalue(lua, 2);
	lua_rawget(lua, lua_upvalueindex(UPVALUE_MEMBERS));
	member = lua_tointeger(lua, -1);
	if (member != MEMBER_NONE)
		push_member(lua, event, member);
	else
		push_named_field(lua, event, luaL_checkstring(lua, 2));
	return 1;
}

static int event_newindex(lua_State *lua)
{
	return luaL_error(lua, "an event cannot be changed");
}

static void push_members(lua_State *lua)
{
	lua_createtable(lua, 0, MEMBERS);
	for (int i = 1; i < MEMBERS; i++) {
		lua_pushinteger(lua, i);
		lua_setfield(lua, -2, members[i]);
	}
}

static void push_metatable(lua_State *lua, struct lua_event *current)
{
	lua_createtable(lua, 0, 3);
	lua_pushlightuserdata(lua, current);
	push_members(lua);
	lua_newtable(lua);
	lua_pushlightuserdata(lua, current);
	lua_pushcclosure(lua, event_field, 1);
	lua_pushcclosure(lua, event_index, 4);
	lua_setfield(lua, -2, "__index");
	lua_pushcfunction(lua, event_newindex);
	lua_setfield(lua, -2, "__newindex");
	lua_pushboolean(lua, false);
	lua_setfield(lua, -2, "__metatable");
}

void lua_event_push(lua_State *lua, struct lua_event *current)
{
	lua_newuserdatauv(lua, 0, 0);
	push_metatable(lua, current);
	lua_setmetatable(lua, -2);
}

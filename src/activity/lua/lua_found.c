/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "activity/lua/lua_found.h"

#include <lauxlib.h>
#include <lua.h>

#include "activity/activity.h"
#include "activity/event_context.h"
#include "session/hosts.h"
#include "session/threads.h"

enum { MEMBERS = 16 };

/* Of the table on top of the stack. */
static void set_integer(lua_State *lua, const char *name, lua_Integer value)
{
	lua_pushinteger(lua, value);
	lua_setfield(lua, -2, name);
}

/* NULL: nil. */
static void set_string(lua_State *lua, const char *name, const char *value)
{
	lua_pushstring(lua, value);
	lua_setfield(lua, -2, name);
}

static void set_thread(lua_State *lua, const struct activity *activity, const struct event_context *context)
{
	const struct thread *thread = context ? event_context_thread(context, activity->thread) : NULL;

	set_integer(lua, "thread", activity->thread);
	set_integer(lua, "end_thread", activity->end_thread ? activity->end_thread : activity->thread);
	if (!thread)
		return;
	set_string(lua, "thread_name", thread->name);
	set_integer(lua, "tid", id_on_host(thread->tid));
	set_integer(lua, "pid", id_on_host(thread->pid));
	set_string(lua, "application", event_context_application(context, thread->pid));
	set_string(lua, "host", event_context_host(context, thread->pid));
}

static void set_parameters(lua_State *lua, const struct activity *activity)
{
	lua_createtable(lua, 0, activity->parameter_count);
	for (size_t i = 0; i < activity->parameter_count; i++) {
		const struct activity_parameter *parameter = &activity->parameters[i];

		if (parameter->type == PARAMETER_INTEGER)
			lua_pushinteger(lua, parameter->integer);
		else if (parameter->type == PARAMETER_REAL)
			lua_pushnumber(lua, parameter->real);
		else
			lua_pushstring(lua, parameter->string);
		lua_setfield(lua, -2, parameter->name);
	}
	lua_setfield(lua, -2, "parameters");
}

void lua_found_push(lua_State *lua, const struct activity *activity, const struct event_context *context)
{
	lua_createtable(lua, 0, MEMBERS);
	set_string(lua, "name", activity->name);
	set_string(lua, "source", activity->source);
	set_integer(lua, "begin", activity->begin_ns);
	set_integer(lua, "end", activity->end_ns);
	set_integer(lua, "length", activity->end_ns - activity->begin_ns);
	lua_pushboolean(lua, activity->is_message);
	lua_setfield(lua, -2, "is_message");
	if (activity->cpu != CPU_UNKNOWN)
		set_integer(lua, "cpu", activity->cpu);
	set_thread(lua, activity, context);
	set_parameters(lua, activity);
}

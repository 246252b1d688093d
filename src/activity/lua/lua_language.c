/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "activity/lua/lua_language.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "activity/lua/lua_activity.h"
#include "activity/lua/lua_event.h"
#include "activity/lua/lua_limits.h"
#include "activity/lua/lua_sandbox.h"
#include "activity/lua/lua_statistics.h"
#include "activity/script_language.h"
#include "base/memory.h"
#include "base/text.h"

enum { EVENTS_LISTED_MAX = 64 };

/* Where a script's functions and the event lie on the stack, from open() on: scripts cannot replace them later. */
enum slot { SLOT_HANDLER = 1, SLOT_EVENT, SLOT_FILTER, SLOT_ON_EVENT, SLOT_FINISH, SLOT_ON_ACTIVITY, SLOTS_END };

struct lua_script {
	lua_State *lua;
	struct lua_limits limits;
	struct lua_event current;
	bool is_finishing;               /* statistics may be given */
	const struct activity *activity; /* while on_activity() is called */
	const struct script_host *host;
	const char *path, *text; /* while it is opened */
	size_t text_bytes;
	char *events[EVENTS_LISTED_MAX];
	size_t event_count;
};

/* Puts the place before an error of a library function that another one called, which Lua does not do. */
static int add_place(lua_State *lua)
{
	const char *message = lua_tostring(lua, 1);
	lua_Debug at;

	if (!message)
		lua_pushfstring(lua, "error object is a %s", luaL_typename(lua, 1));
	message = lua_tostring(lua, -1);
	for (int level = 0; lua_getstack(lua, level, &at); level++) {
		lua_getinfo(lua, "Sl", &at);
		if (at.currentline <= 0)
			continue;
		if (strncmp(message, at.short_src, strlen(at.short_src)))
			lua_pushfstring(lua, "%s:%d: %s", at.short_src, at.currentline, message);
		break;
	}
	return 1;
}

/* Puts why a call has failed, which status says, and the error on top of the stack. */
static int failure(struct lua_script *script, int status, struct text *why)
{
	const struct lua_limits *limits = &script->limits;
	const char *message = lua_type(script->lua, -1) == LUA_TSTRING ? lua_tostring(script->lua, -1) : "an error";

	if (limits->is_exhausted)
		text_put(why, limits->message);
	else if (status == LUA_ERRMEM)
		text_printf(why, "%s: stopped: more than %d MB of memory, or a string of more than %d MB",
			    limits->refused_at, LUA_MEMORY_BYTES_MAX >> 20, LUA_STRING_BYTES_MAX >> 20);
	else if (script->path && !strstr(message, ".lua:")) /* outside its lines */
		text_printf(why, "%s: %.*s", script->path, LUA_MESSAGE_BYTES_MAX, message);
	else
		text_put_bytes(why, message, strnlen(message, LUA_MESSAGE_BYTES_MAX));
	lua_settop(script->lua, SLOTS_END - 1);
	return -EINVAL;
}

/* Calls the function in the slot. 0, with the result on top of the stack, for the caller to pop. */
static int call(struct lua_script *script, enum slot slot, const struct named_event *event, struct text *why)
{
	int status;

	lua_limits_begin(&script->limits);
	script->current.event = event;
	lua_pushvalue(script->lua, slot);
	if (event)
		lua_pushvalue(script->lua, SLOT_EVENT);
	status = lua_pcall(script->lua, event ? 1 : 0, 1, SLOT_HANDLER);
	script->current.event = NULL;
	if (status == LUA_OK && !script->limits.is_exhausted)
		return 0;
	return failure(script, status, why);
}

static int lua_filter(void *state, const struct named_event *event, bool *passes, struct text *why)
{
	struct lua_script *script = state;
	int err = call(script, SLOT_FILTER, event, why);

	if (err)
		return err;
	*passes = lua_toboolean(script->lua, -1);
	lua_pop(script->lua, 1);
	return 0;
}

static int lua_on_event(void *state, const struct named_event *event, struct text *why)
{
	struct lua_script *script = state;
	int err = call(script, SLOT_ON_EVENT, event, why);

	if (!err)
		lua_pop(script->lua, 1);
	return err;
}

static int lua_finish(void *state, struct text *why)
{
	struct lua_script *script = state;
	int err;

	script->is_finishing = true;
	err = call(script, SLOT_FINISH, NULL, why);
	script->is_finishing = false;
	if (!err)
		lua_pop(script->lua, 1);
	return err;
}

/* Its argument: the script. */
static int handle(lua_State *lua)
{
	const struct lua_script *script = lua_touserdata(lua, 1);

	lua_activity_call_handler(lua, script->host, script->activity);
	return 0;
}

static int lua_on_activity(void *state, const struct activity *activity, struct text *why)
{
	struct lua_script *script = state;
	int status;

	lua_limits_begin(&script->limits);
	script->activity = activity;
	lua_pushcfunction(script->lua, handle);
	lua_pushlightuserdata(script->lua, script);
	status = lua_pcall(script->lua, 1, 0, SLOT_HANDLER);
	script->activity = NULL;
	if (status == LUA_OK && !script->limits.is_exhausted)
		return 0;
	return failure(script, status, why);
}

/* --- Opening ---------------------------------------------------------------------------------- */

/* The list of events that the script wants to see, which is on top of the stack. */
static void take_events(lua_State *lua, struct lua_script *script)
{
	lua_Integer count = lua_rawlen(lua, -1);

	if (lua_getmetatable(lua, -1) || count < 1 || count > EVENTS_LISTED_MAX)
		luaL_error(lua, "events has to be a list of 1 to %d names of events", EVENTS_LISTED_MAX);
	for (lua_Integer i = 1; i <= count; i++) {
		if (lua_rawgeti(lua, -1, i) != LUA_TSTRING)
			luaL_error(lua, "events[%d] has to be a string, not %s", (int)i, luaL_typename(lua, -1));
		script->events[script->event_count++] = xstrdup(lua_tostring(lua, -1));
		lua_pop(lua, 1);
	}
}

static void find_function(lua_State *lua, const char *name)
{
	int type = lua_getglobal(lua, name);

	if (type != LUA_TNIL && type != LUA_TFUNCTION)
		luaL_error(lua, "%s has to be a function, not %s", name, luaL_typename(lua, -1));
}

/* Runs the text, protected; leaves the event and the functions. */
static int run_text(lua_State *lua)
{
	struct lua_script *script = lua_touserdata(lua, 1);
	const char *name;

	lua_sandbox_open(lua);
	lua_activity_open(lua, script->host, &script->current);
	lua_statistics_open(lua, script->host, &script->is_finishing);
	name = lua_pushfstring(lua, "@%s", script->path);
	if (luaL_loadbufferx(lua, script->text, script->text_bytes, name, "t"))
		return lua_error(lua);
	lua_call(lua, 0, 0);
	if (lua_getglobal(lua, "events") == LUA_TTABLE)
		take_events(lua, script);
	else if (!lua_isnil(lua, -1))
		return luaL_error(lua, "events has to be a list, not %s", luaL_typename(lua, -1));
	lua_event_push(lua, &script->current);
	find_function(lua, "filter");
	find_function(lua, "on_event");
	find_function(lua, "finish");
	find_function(lua, "on_activity");
	lua_pushvalue(lua, -1);
	lua_activity_set_handler(lua);
	return SLOTS_END - SLOT_EVENT;
}

static void lua_script_close(void *state)
{
	struct lua_script *script = state;

	if (!script)
		return;
	if (script->lua)
		lua_close(script->lua);
	for (size_t i = 0; i < script->event_count; i++)
		free(script->events[i]);
	free(script);
}

static int check_parts(const struct lua_script *script, const struct script_parts *parts, struct text *why)
{
	if (parts->has_filter || parts->has_decoder || parts->has_activity_handler)
		return 0;
	text_printf(why, "%s: defines neither filter(event) nor on_event(event) nor on_activity(activity)",
		    script->path);
	return -EINVAL;
}

/* 0, with all slots filled. */
static int start(struct lua_script *script, struct text *why)
{
	lua_State *lua = lua_limits_open(&script->limits);
	int status;

	script->lua = lua;
	if (!lua) {
		text_printf(why, "%s: there is no memory for it", script->path);
		return -EINVAL;
	}
	lua_limits_begin(&script->limits);
	lua_pushcfunction(lua, add_place);
	lua_pushcfunction(lua, run_text);
	lua_pushlightuserdata(lua, script);
	status = lua_pcall(lua, 1, SLOTS_END - SLOT_EVENT, SLOT_HANDLER);
	if (status == LUA_OK && !script->limits.is_exhausted)
		return 0;
	return failure(script, status, why);
}

static int lua_script_open(const char *path, const char *text, size_t text_bytes, const struct script_host *host,
			   void **state, struct script_parts *parts, struct text *why)
{
	struct lua_script *script = xcalloc(1, sizeof(*script));
	int err;

	script->path = path;
	script->text = text;
	script->text_bytes = text_bytes;
	script->host = host;
	err = start(script, why);
	if (!err) {
		*parts = (struct script_parts){
			.has_filter = lua_isfunction(script->lua, SLOT_FILTER),
			.has_decoder = lua_isfunction(script->lua, SLOT_ON_EVENT),
			.has_finish = lua_isfunction(script->lua, SLOT_FINISH),
			.has_activity_handler = lua_isfunction(script->lua, SLOT_ON_ACTIVITY),
			.events = (const char *const *)script->events,
			.event_count = script->event_count,
		};
		err = check_parts(script, parts, why);
	}
	if (err) {
		lua_script_close(script);
		return err;
	}
	script->path = script->text = NULL;
	*state = script;
	return 0;
}

const struct script_language lua_language = {
	.name = "Lua",
	.suffix = ".lua",
	.open = lua_script_open,
	.filter = lua_filter,
	.on_event = lua_on_event,
	.finish = lua_finish,
	.on_activity = lua_on_activity,
	.close = lua_script_close,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "activity/lua/lua_strings.h"

#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "activity/lua/lua_limits.h"
#include "activity/lua/lua_match.h"

enum { BYTES_A_UNIT = 16 };

/* Of a function that looks for a pattern: how far it is. */
struct search {
	struct match match;
	const char *at;   /* where it goes on */
	const char *last; /* where the last match ended: no empty one begins there; NULL: nowhere */
	bool is_anchored;
};

static struct search search_of(lua_State *lua, int subject_index, int pattern_index, size_t from)
{
	struct search search = { 0 };
	size_t subject_bytes, pattern_bytes;

	search.match.subject = luaL_checklstring(lua, subject_index, &subject_bytes);
	search.match.subject_end = search.match.subject + subject_bytes;
	search.match.pattern = luaL_checklstring(lua, pattern_index, &pattern_bytes);
	search.match.pattern_end = search.match.pattern + pattern_bytes;
	search.match.steps_max = LUA_UNITS_MAX;
	search.at = search.match.subject + from;
	return search;
}

static void take_anchor(struct search *search)
{
	search->is_anchored = search->match.pattern < search->match.pattern_end && *search->match.pattern == '^';
	search->match.pattern += search->is_anchored;
}

/* The match at search->at: NULL: there is none. Raises an error of a malformed pattern. */
static const char *match_here(lua_State *lua, struct search *search)
{
	const char *end = NULL;
	enum match_result result;
	uint64_t steps = search->match.steps;

	result = match_at(&search->match, search->at, &end);
	lua_limits_charge(lua, result == MATCH_TOO_LONG ? UINT64_MAX : search->match.steps - steps + 1);
	if (result == MATCH_MALFORMED)
		luaL_error(lua, "%s", search->match.what_is_wrong);
	return result == MATCH_FOUND ? end : NULL;
}

/* The next match from search->at on, where that is then; NULL: there is none. */
static const char *match_next(lua_State *lua, struct search *search)
{
	do {
		const char *end = match_here(lua, search);

		if (end && end != search->last)
			return end;
	} while (!search->is_anchored && search->at++ < search->match.subject_end);
	return NULL;
}

/* Capture i; of a pattern without captures, 0 is all of the match. */
static void push_capture(lua_State *lua, const struct search *search, uint32_t i, const char *end)
{
	const struct match_capture *capture = &search->match.captures[i];

	if (i >= search->match.capture_count && i)
		luaL_error(lua, "invalid capture index %%%d", (int)i + 1);
	if (i >= search->match.capture_count)
		lua_pushlstring(lua, search->at, end - search->at);
	else if (capture->length == CAPTURE_POSITION)
		lua_pushinteger(lua, capture->begin - search->match.subject + 1);
	else if (capture->length == CAPTURE_OPEN)
		luaL_error(lua, "unfinished capture");
	else
		lua_pushlstring(lua, capture->begin, capture->length);
}

/* All of them, or the match where the pattern has none. Returns how many. */
static int push_captures(lua_State *lua, const struct search *search, const char *end)
{
	uint32_t count = search->match.capture_count ? search->match.capture_count : 1;

	luaL_checkstack(lua, count, "too many captures");
	for (uint32_t i = 0; i < count; i++)
		push_capture(lua, search, i, end);
	return count;
}

/* The third argument of find and match as an offset; above the length: behind the end. */
static size_t offset_of(lua_State *lua, size_t length)
{
	lua_Integer from = luaL_optinteger(lua, 3, 1);

	if (from > 0)
		return from - 1;
	return from < 0 && (lua_Unsigned)-from <= length ? length - (lua_Unsigned)-from : 0;
}

static int find_plain(lua_State *lua, size_t from)
{
	size_t subject_bytes, wanted_bytes;
	const char *subject = luaL_checklstring(lua, 1, &subject_bytes);
	const char *wanted = luaL_checklstring(lua, 2, &wanted_bytes);
	const char *found;

	/* What memmem() needs is proportional to both together. */
	lua_limits_charge(lua, (subject_bytes + wanted_bytes) / BYTES_A_UNIT + 1);
	found = memmem(subject + from, subject_bytes - from, wanted, wanted_bytes);
	if (!found) {
		luaL_pushfail(lua);
		return 1;
	}
	lua_pushinteger(lua, found - subject + 1);
	lua_pushinteger(lua, found - subject + wanted_bytes);
	return 2;
}

static bool is_plain(const char *pattern, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (pattern[i] && strchr("^$*+?.([%-", pattern[i]))
			return false;
	return true;
}

static int find_or_match(lua_State *lua, bool is_find)
{
	size_t subject_bytes, pattern_bytes, from;
	const char *pattern = luaL_checklstring(lua, 2, &pattern_bytes);
	struct search search;
	const char *end;
	int count = 0;

	luaL_checklstring(lua, 1, &subject_bytes);
	from = offset_of(lua, subject_bytes);
	if (from > subject_bytes) {
		luaL_pushfail(lua);
		return 1;
	}
	if (is_find && (lua_toboolean(lua, 4) || is_plain(pattern, pattern_bytes)))
		return find_plain(lua, from);
	search = search_of(lua, 1, 2, from);
	take_anchor(&search);
	end = match_next(lua, &search);
	if (!end) {
		luaL_pushfail(lua);
		return 1;
	}
	if (is_find) {
		lua_pushinteger(lua, search.at - search.match.subject + 1);
		lua_pushinteger(lua, end - search.match.subject);
		count = 2;
	}
	return is_find && !search.match.capture_count ? count : count + push_captures(lua, &search, end);
}

static int string_find(lua_State *lua)
{
	return find_or_match(lua, true);
}

static int string_match(lua_State *lua)
{
	return find_or_match(lua, false);
}

/* Its upvalues: subject, pattern, offset, and where the last match ended, -1: nowhere. */
static int gmatch_next(lua_State *lua)
{
	struct search search =
		search_of(lua, lua_upvalueindex(1), lua_upvalueindex(2), lua_tointeger(lua, lua_upvalueindex(3)));
	lua_Integer last = lua_tointeger(lua, lua_upvalueindex(4));
	const char *end;

	if (search.at > search.match.subject_end)
		return 0;
	search.last = last < 0 ? NULL : search.match.subject + last;
	end = match_next(lua, &search);
	if (!end)
		return 0;
	lua_pushinteger(lua, end - search.match.subject);
	lua_copy(lua, -1, lua_upvalueindex(3));
	lua_replace(lua, lua_upvalueindex(4));
	return push_captures(lua, &search, end);
}

static int string_gmatch(lua_State *lua)
{
	size_t subject_bytes, from;

	luaL_checklstring(lua, 1, &subject_bytes);
	luaL_checkstring(lua, 2);
	from = offset_of(lua, subject_bytes);
	lua_settop(lua, 2);
	lua_pushinteger(lua, from > subject_bytes ? subject_bytes + 1 : from);
	lua_pushinteger(lua, -1);
	lua_pushcclosure(lua, gmatch_next, 4);
	return 1;
}

/* The replacement is a string in which %1 stands for a capture. */
static void add_string(lua_State *lua, luaL_Buffer *buffer, const struct search *search, const char *end)
{
	size_t bytes;
	const char *at = lua_tolstring(lua, 3, &bytes), *string_end = at + bytes;

	for (; at < string_end; at++) {
		if (*at != '%') {
			luaL_addchar(buffer, *at);
		} else if (++at < string_end && *at == '%') {
			luaL_addchar(buffer, '%');
		} else if (at < string_end && *at == '0') {
			luaL_addlstring(buffer, search->at, end - search->at);
		} else if (at < string_end && *at >= '1' && *at <= '9') {
			push_capture(lua, search, *at - '1', end);
			luaL_tolstring(lua, -1, NULL);
			lua_remove(lua, -2);
			luaL_addvalue(buffer);
		} else {
			luaL_error(lua, "invalid use of '%%' in replacement string");
		}
	}
}

/* It is a table or a function; false or nil keeps the match. */
static void add_value(lua_State *lua, luaL_Buffer *buffer, const struct search *search, const char *end)
{
	if (lua_type(lua, 3) == LUA_TFUNCTION) {
		lua_pushvalue(lua, 3);
		lua_call(lua, push_captures(lua, search, end), 1);
	} else {
		push_capture(lua, search, 0, end);
		lua_gettable(lua, 3);
	}
	if (!lua_toboolean(lua, -1)) {
		lua_pop(lua, 1);
		luaL_addlstring(buffer, search->at, end - search->at);
	} else if (lua_isstring(lua, -1)) {
		luaL_addvalue(buffer);
	} else {
		luaL_error(lua, "invalid replacement value (a %s)", luaL_typename(lua, -1));
	}
}

/* Replaces up to count matches; returns how many there were. */
static lua_Integer replace_all(lua_State *lua, luaL_Buffer *buffer, struct search *search, lua_Integer count)
{
	lua_Integer done = 0;
	const char *end;

	while (done < count) {
		end = match_here(lua, search);
		if (end && end != search->last) {
			done++;
			if (lua_type(lua, 3) <= LUA_TSTRING)
				add_string(lua, buffer, search, end);
			else
				add_value(lua, buffer, search, end);
			search->at = search->last = end;
		} else if (search->at < search->match.subject_end) {
			luaL_addchar(buffer, *search->at++);
		} else {
			break;
		}
		if (search->is_anchored)
			break;
	}
	return done;
}

static int string_gsub(lua_State *lua)
{
	struct search search = search_of(lua, 1, 2, 0);
	int type = lua_type(lua, 3);
	lua_Integer count = luaL_optinteger(lua, 4, LUA_MAXINTEGER);
	luaL_Buffer buffer;

	luaL_argcheck(lua, type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TFUNCTION || type == LUA_TTABLE, 3,
		      "string, function or table expected");
	if (type == LUA_TNUMBER)
		lua_tostring(lua, 3); /* in place */
	take_anchor(&search);
	luaL_buffinit(lua, &buffer);
	count = replace_all(lua, &buffer, &search, count);
	luaL_addlstring(&buffer, search.at, search.match.subject_end - search.at);
	luaL_pushresult(&buffer);
	lua_pushinteger(lua, count);
	return 2;
}

/* Lua's own, which repeats an empty string, too, as often as is asked for. */
static int string_rep(lua_State *lua)
{
	lua_Integer count = luaL_checkinteger(lua, 2);
	size_t bytes, separator_bytes;

	luaL_checklstring(lua, 1, &bytes);
	luaL_optlstring(lua, 3, "", &separator_bytes);
	lua_limits_charge(lua, count > 0 ? count : 1);
	lua_settop(lua, 3);
	lua_pushvalue(lua, lua_upvalueindex(1));
	lua_insert(lua, 1);
	lua_call(lua, 3, 1);
	return 1;
}

static const luaL_Reg functions[] = {
	{ "find", string_find }, { "match", string_match }, { "gmatch", string_gmatch }, { "gsub", string_gsub },
	{ NULL, NULL },
};

void lua_strings_set(lua_State *lua)
{
	luaL_setfuncs(lua, functions, 0);
	lua_getfield(lua, -1, "rep");
	lua_pushcclosure(lua, string_rep, 1);
	lua_setfield(lua, -2, "rep");
}

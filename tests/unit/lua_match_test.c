/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Patterns, beside those of Lua itself: whatever it says of a pattern and a subject, the sandbox says, too. */
#include "test.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "activity/lua/lua_limits.h"
#include "activity/lua/lua_sandbox.h"

enum { ROUNDS = 30000, LENGTH_MAX = 12 };

/* All results of one call as one string; of an error only that there was one. */
static const char code[] =
	"return function(name, ...)\n"
	"  local function list(...)\n"
	"    local text = ''\n"
	"    for i = 1, select('#', ...) do text = text .. tostring((select(i, ...))) .. '|' end\n"
	"    return text\n"
	"  end\n"
	"  if name == 'gmatch' then\n"
	"    local all, s, p = '', ...\n"
	"    local ok = pcall(function() for a, b in string.gmatch(s, p) do all = all .. list(a, b) .. ';' end end)\n"
	"    return ok and all or 'error'\n"
	"  end\n"
	"  local text = list(pcall(string[name], ...))\n"
	"  return text:sub(1, 5) == 'false' and 'error' or text\n"
	"end\n";

static lua_State *open_own(void)
{
	static struct lua_limits limits;
	lua_State *lua;

	limits = (struct lua_limits){ 0 };
	lua = lua_limits_open(&limits);
	lua_limits_begin(&limits);
	lua_sandbox_open(lua);
	CHECK_EQUAL(luaL_dostring(lua, code), LUA_OK);
	return lua;
}

static lua_State *open_theirs(void)
{
	lua_State *lua = luaL_newstate();

	luaL_openlibs(lua);
	CHECK_EQUAL(luaL_dostring(lua, code), LUA_OK);
	return lua;
}

static const char *ask(lua_State *lua, const char *name, const char *subject, const char *pattern, const char *other)
{
	lua_settop(lua, 1);
	lua_pushvalue(lua, 1);
	lua_pushstring(lua, name);
	lua_pushstring(lua, subject);
	lua_pushstring(lua, pattern);
	if (other)
		lua_pushstring(lua, other);
	CHECK_EQUAL(lua_pcall(lua, other ? 4 : 3, 1, 0), LUA_OK);
	return lua_tostring(lua, -1);
}

static void draw(char *text, const char *const *pieces, size_t count)
{
	*text = '\0';
	for (int i = rand() % LENGTH_MAX; i > 0; i--)
		strcat(text, pieces[rand() % count]);
}

TEST(random_patterns_match_as_in_lua)
{
	static const char *const pieces[] = { "a",    "b",     "c",     ".",    "%a", "%d",   "%S",     "[ab]",
					      "[^a]", "[a-c]", "[%w_]", "*",    "+",  "-",    "?",      "(",
					      ")",    "()",    "^",     "$",    "%1", "%b()", "%f[%a]", "%%",
					      "%",    "[",     "]",     "[]a]", "1",  " " };
	static const char *const parts[] = { "a", "b", "c", "ab", "1", " ", "(", ")", "_", "%", "]", "aaa" };
	static const char *const names[] = { "find", "match", "gmatch", "gsub" };
	static const char *const replacements[] = { "<%0>", "%1", "x", "%%", "%2", "%" };
	lua_State *own = open_own(), *theirs = open_theirs();

	srand(7);
	for (int i = 0; i < ROUNDS; i++) {
		char pattern[LENGTH_MAX * 8], subject[LENGTH_MAX * 8];
		const char *name = names[i % 4];
		const char *other = i % 4 == 3 ? replacements[rand() % 6] : NULL;
		const char *wanted, *got;

		draw(pattern, pieces, sizeof(pieces) / sizeof(*pieces));
		draw(subject, parts, sizeof(parts) / sizeof(*parts));
		wanted = ask(theirs, name, subject, pattern, other);
		got = ask(own, name, subject, pattern, other);
		if (strcmp(wanted, got))
			test_fail(__FILE__, __LINE__, "%s('%s', '%s'): %s, not %s", name, subject, pattern, got,
				  wanted);
	}
	lua_close(own);
	lua_close(theirs);
}

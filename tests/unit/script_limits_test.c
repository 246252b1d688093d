/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a hostile script tries, and that it is stopped, with its line, and alone. */
#include "test.h"

#include <errno.h>

#include "script_fixture.h"

static struct script_stage stage;

/* The body of on_event(), which fails with these words in its message, and in that line of it. */
static void check_stopped(const char *body, int line, const char *words)
{
	struct text script = { 0 }, place = { 0 };

	text_printf(&script, "function on_event(event)\n%s\nend\n", body);
	text_printf(&place, "test.lua:%d: ", line + 1);
	script_stage_begin(&stage);
	assert_int_equal(script_stage_open(&stage, script.bytes), 0);
	CHECK_EQUAL(script_stage_event(&stage, script_stage_switch(&stage, 2000)), -EINVAL);
	if (!strstr(stage.why.bytes, words) || strncmp(stage.why.bytes, place.bytes, place.length))
		test_fail(__FILE__, __LINE__, "%s: said: %s", body, stage.why.bytes);
	script_stage_end(&stage);
	text_fini(&script);
	text_fini(&place);
}

TEST(an_endless_loop_is_stopped)
{
	check_stopped("while true do end", 1, "million instructions");
	check_stopped("\nrepeat\nuntil false", 3, "million instructions");
}

TEST(no_pcall_goes_on_behind_the_limit)
{
	check_stopped("while true do pcall(function() while true do end end) end", 1, "million instructions");
	check_stopped(
		"local t <close> = setmetatable({}, {__close = function() while true do end end}) while true do end", 1,
		"million instructions");
}

TEST(an_exhausted_script_stays_so)
{
	script_stage_begin(&stage);
	assert_int_equal(script_stage_open(&stage, "function on_event(e) pcall(function() while true do end end) end"),
			 0);
	CHECK_EQUAL(script_stage_event(&stage, script_stage_switch(&stage, 2000)), -EINVAL);
	CHECK_EQUAL(script_stage_event(&stage, script_stage_switch(&stage, 2000)), -EINVAL);
	script_stage_end(&stage);
}

TEST(memory_is_limited)
{
	check_stopped("local t = {} while true do t[#t + 1] = {1, 2, 3, 4} end", 1, "");
	check_stopped("local s = 'x' while true do s = s .. s end", 1, "MB");
	check_stopped("return ('x'):rep(1 << 40)", 1, "million instructions");
	check_stopped("return ('x'):rep(1 << 25)", 1, "");
	check_stopped("local t = {} for i = 1, 1e9 do t[i] = (('x'):rep(1024)):rep(512) .. i end", 1, "MB");
	check_stopped("while true do pcall(string.rep, 'x', 1 << 21) end", 1, "");
}

TEST(recursion_is_limited)
{
	check_stopped("local function f() return 1 + f() end return f()", 1, "");
	check_stopped(
		"local t = setmetatable({}, {}) getmetatable(t).__index = function(t, k) return t[k] end return t.x", 1,
		"overflow");
	check_stopped("local s = '' for i = 1, 300 do s = s .. '(' end return ('x'):find(s)", 1, "");
}

TEST(library_functions_do_not_run_without_end)
{
	check_stopped("return (''):rep(1 << 60)", 1, "million instructions");
	check_stopped("return table.move({}, 1, 1 << 60, 2)", 1, "million instructions");
	check_stopped("return table.concat({}, '', 1, math.maxinteger)", 1, "million instructions");
	check_stopped("return table.insert(setmetatable({}, {__len = function() return 1 << 60 end}), 1, 2)", 1,
		      "metatable");
	check_stopped("return table.unpack({}, math.mininteger, math.maxinteger)", 1, "too many results");
	check_stopped("while true do pcall(table.unpack, {}, 1, 900000) end", 1, "million instructions");
	check_stopped("local t = {} for i = 1, 1e5 do t[i] = i end while true do table.insert(t, 1, 0) end", 1,
		      "million instructions");
}

TEST(a_pathological_pattern_is_stopped)
{
	check_stopped("return (('a'):rep(3000)):find(('a-'):rep(20) .. 'b')", 1, "million instructions");
	check_stopped("return (('a'):rep(3000)):match(('.*'):rep(20) .. 'b')", 1, "million instructions");
	check_stopped("return (('a'):rep(100000)):gsub('.-b', '')", 1, "million instructions");
	check_stopped("for w in (('a'):rep(3000)):gmatch(('a*'):rep(9) .. 'b') do end", 1, "million instructions");
	check_stopped("return (('('):rep(100000)):find('%b()')", 1, "million instructions");
	check_stopped("pcall(string.find, ('a'):rep(3000), ('a-'):rep(20) .. 'b') while true do end", 1,
		      "million instructions");
}

TEST(what_reaches_outside_is_not_there)
{
	static const char *const names[] = {
		"io",     "os",          "package",     "debug",         "coroutine", "require",
		"xpcall", "load",        "loadstring",  "loadfile",      "dofile",    "collectgarbage",
		"warn",   "string.dump", "string.pack", "string.unpack", NULL,
	};

	script_stage_begin(&stage);
	for (size_t i = 0; names[i]; i++) {
		struct text script = { 0 };

		text_printf(&script, "function on_event(e) end assert(%s == nil)", names[i]);
		if (script_stage_open(&stage, script.bytes))
			test_fail(__FILE__, __LINE__, "%s: %s", names[i], stage.why.bytes);
		script_stage_end(&stage);
		script_stage_begin(&stage);
		text_fini(&script);
	}
	script_stage_end(&stage);
}

TEST(metatables_are_out_of_reach)
{
	check_stopped("assert(getmetatable('') == false) assert(getmetatable(event) == false); ('').x.y = 1", 1,
		      "index");
	check_stopped("setmetatable('', {})", 1, "table expected");
	check_stopped("setmetatable({}, {__gc = function() while true do end end})", 1, "finalizers");
	check_stopped("event.time = 1", 1, "cannot be changed");
	check_stopped("assert((''):find('') == 1); (''):dump()", 1, "dump");
}

TEST(errors_of_any_kind_have_a_message)
{
	check_stopped("error({})", 1, "error object is a table");
	check_stopped("error(nil)", 1, "error object is a nil");
	check_stopped("error('plain', 0)", 1, "plain");
	check_stopped("error('\\xff\\0\\n')", 1, "\xff");
	check_stopped("error(setmetatable({}, {__tostring = function() while true do end end}))", 1, "error object");
	check_stopped("\n\nlocal x = nil + 1", 3, "arithmetic");
}

TEST(the_text_itself_is_limited)
{
	script_stage_begin(&stage);
	CHECK_EQUAL(script_stage_open(&stage, "while true do end"), -EINVAL);
	CHECK(strstr(stage.why.bytes, "test.lua:1: stopped"));
	script_stage_end(&stage);
}

TEST(a_text_that_is_no_script_is_refused)
{
	static const char *const texts[] = { "\x1bLua",
					     "function",
					     "events = 1",
					     "events = {} function filter() end",
					     "events = {{}} function filter() end",
					     "filter = 1",
					     "x = 1",
					     "" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		script_stage_begin(&stage);
		CHECK_EQUAL(script_stage_open(&stage, texts[i]), -EINVAL);
		CHECK(strstr(stage.why.bytes, "test.lua"));
		script_stage_end(&stage);
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What needs most of a stack, in a thread that has half of what the threads have that answer browsers: libiberty's demanglers, scripts of
 * readers, and every request that the fuzzer of the server has a seed for.
 */
#include "test.h"

#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "query/trace_states_make.h"
#include "script_fixture.h"
#include "serve/answer.h"
#include "serve/answer_thread.h"
#include "serve/viewer.h"
#include "serve/viewer_load.h"
#include "serve/viewer_pair.h"
#include "symbol/elf/demangle.h"
#include "trace/trace_writer.h"
#include "trace_fixture.h"

/* Of base/fail.h, whose fail() is a macro of cmocka here. */
void fail_set_sink(void (*sink)(const char *line));

/* Sanitizers add to each frame. */
#ifdef __SANITIZE_ADDRESS__
enum { HALF_BYTES = 8 * ANSWER_STACK_BYTES };
#else
enum { HALF_BYTES = ANSWER_STACK_BYTES / 2 };
#endif

/* Reports are made by other processes, of which there are none here. */
int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[])
{
	(void)pid, (void)path, (void)actions, (void)attributes, (void)arguments, (void)environment;
	return ENOSYS;
}

static void do_in_half(void (*work)(void *data), void *data)
{
	struct answer_thread *thread = answer_thread_new(HALF_BYTES);

	assert_non_null(thread);
	answer_thread_do(thread, work, data);
	answer_thread_free(thread);
}

/* --- The threads themselves ---------------------------------------------------------------------- */

static void add_one(void *data)
{
	++*(int *)data;
}

TEST(a_thread_does_one_work_after_the_other_and_is_waited_for)
{
	struct answer_thread *thread = answer_thread_new(HALF_BYTES);
	int count = 0;

	assert_non_null(thread);
	for (int i = 0; i < 1000; i++) {
		answer_thread_do(thread, add_one, &count);
		assert_int_equal(count, i + 1);
	}
	answer_thread_free(thread);
	answer_thread_free(NULL);
}

#ifndef __SANITIZE_ADDRESS__
/* As deep as the stack is and deeper, in frames as large as those of pinch may be, of which each touches its end alone. */
static __attribute__((noinline)) unsigned int descend(unsigned int depth)
{
	volatile char frame[24 << 10];

	frame[0] = depth;
	return depth ? descend(depth - 1) + frame[0] : 0;
}

static void descend_below(void *data)
{
	*(unsigned int *)data = descend(2 * HALF_BYTES / (24 << 10));
}

TEST(who_needs_more_than_the_stack_comes_upon_its_guard)
{
	unsigned int sum;
	pid_t pid = fork();
	int status;

	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		do_in_half(descend_below, &sum);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}
#endif

/* --- Names ---------------------------------------------------------------------------------------- */

/* Names as deep as they are long: of so many bytes and of twice as many, up to what is taken for a name. */
static void name_deepest(void *data)
{
	static const struct {
		const char *begin, *repeated, *middle, *closing, *end;
	} shapes[] = {
		{ "_Z1f", "P", "i", "", "" },               /* pointers to pointers */
		{ "_Z1f", "1aI", "i", "E", "" },            /* templates of templates */
		{ "_Z1fI", "N1b1cI", "i", "EE", "Evv" },    /* of members */
		{ "_Z1f", "PF", "v", "vE", "" },            /* functions that return functions */
		{ "_Z1fI", "XplL", "i1E", "Li1EE", "Evv" }, /* expressions */
		{ "_Z1fIJ", "DpT_", "", "", "EEvv" },
		{ "_RINvC1a1f", "R", "l", "", "E" }, /* references, of Rust */
		{ "_RINvC1a1f", "T", "l", "E", "E" },
		{ "_RINvC1a1fINtC1a1S", "INtC1a1S", "l", "E", "EE" },
		{ "_ZN1a", "1b", "", "", "17h0123456789abcdefE" },
	};
	size_t *named = data;
	char name[4096];

	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		for (size_t count = 4; count < 16384; count += count / 4) {
			struct text symbol = { 0 };

			text_put(&symbol, shapes[i].begin);
			for (size_t k = 0; k < count; k++)
				text_put(&symbol, shapes[i].repeated);
			text_put(&symbol, shapes[i].middle);
			for (size_t k = 0; k < count; k++)
				text_put(&symbol, shapes[i].closing);
			text_put(&symbol, shapes[i].end);
			demangle(symbol.bytes, name, sizeof(name));
			*named += strncmp(name, symbol.bytes, 8) != 0;
			text_fini(&symbol);
		}
}

TEST(the_deepest_names_of_templates_are_read)
{
	size_t named = 0;

	do_in_half(name_deepest, &named);
	assert_true(named > 100); /* most were names */
}

/* --- Scripts -------------------------------------------------------------------------------------- */

static struct script_stage stage;

/* Whatever they say: an error is an answer. */
static void run_script(void *data)
{
	script_stage_begin(&stage);
	if (!script_stage_open(&stage, data))
		script_stage_event(&stage, script_stage_switch(&stage, 2000));
	script_stage_end(&stage);
}

static void nest(struct text *out, const char *begin, const char *open, const char *middle, const char *close,
		 const char *end)
{
	text_put(out, begin);
	for (size_t i = 0; i < 10000; i++)
		text_put(out, open);
	text_put(out, middle);
	for (size_t i = 0; i < 10000; i++)
		text_put(out, close);
	text_put(out, end);
}

TEST(the_deepest_scripts_are_read)
{
	static const char *const nested[][3] = {
		{ "(", "1", ")" }, { "{", "1", "}" },   { "function() return ", "1", " end" },
		{ "-", "1", "" },  { "1 ..", "1", "" },
	};

	for (size_t i = 0; i < sizeof(nested) / sizeof(*nested); i++) {
		struct text script = { 0 };

		nest(&script, "x = ", nested[i][0], nested[i][1], nested[i][2], "\n");
		do_in_half(run_script, script.bytes);
		text_fini(&script);
	}
}

TEST(scripts_that_call_themselves_through_c_are_stopped)
{
	static const char *const bodies[] = {
		"local function f() return (('x'):gsub('x', f)) end f()",
		"local function f() return pcall(f) end f()",
		"local function f() return f() + 1 end pcall(f)",
		"local function f() table.sort({1, 2, 3, 4}, function() f() return false end) end f()",
		"local t = {} setmetatable(t, {__index = function(t, k) return t[k .. 'x'] end}) return t.a",
		"local t = {} setmetatable(t, {__tostring = function() return tostring(t) end}) tostring(t)",
		"local function f() for _ in function() f() end do end end f()",
		"('x'):rep(100000):find(('x?'):rep(10000) .. 'y')",
		"('('):rep(100000):find('%b()')",
		"('x'):rep(100000):find(('('):rep(30) .. '.-x' .. (')'):rep(30) .. 'y')",
		"local f = function() return coroutine and coroutine.wrap(f)() end f()",
		"string.format(('%s'):rep(200), table.unpack({}, 1, 200))",
	};

	for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++) {
		struct text script = { 0 };

		text_printf(&script, "function on_event(e)\n%s\nend\n", bodies[i]);
		do_in_half(run_script, script.bytes);
		text_fini(&script);
	}
}

/* --- Requests ------------------------------------------------------------------------------------- */

static struct viewer_pair *pair;

/* A path, a question mark, a query; and, behind a newline, what a POST brings along: as tests/fuzz/serve_fuzz.c has them. */
static void ask(char *line)
{
	struct reply reply = { .status = 200, .type = "application/json", .fd = -1 };
	struct request request = { .path = line, .query = "" };
	char *body = strchr(line, '\n'), *query;

	if (body) {
		*body++ = '\0';
		request.is_post = true;
		request.body = body;
		request.body_bytes = strlen(body);
	}
	query = strchr(line, '?');
	if (query) {
		*query++ = '\0';
		request.query = query;
	}
	viewer_pair_answer(pair, &request, &reply);
	text_fini(&reply.body);
	if (reply.fd >= 0)
		close(reply.fd);
}

static void ask_all(void *data)
{
	glob_t *seeds = data;
	char line[8192];

	for (size_t i = 0; i < seeds->gl_pathc; i++) {
		FILE *file = fopen(seeds->gl_pathv[i], "r");
		size_t size_bytes = fread(line, 1, sizeof(line) - 1, file);

		fclose(file);
		line[size_bytes] = '\0';
		ask(line);
	}
}

static void take_no_pause(void *data)
{
	(void)data;
}

static void ignore(const char *line)
{
	(void)line;
}

TEST(every_request_is_answered)
{
	struct states_waiter waiter = { .pause = { .take = take_no_pause, .period_ns = UINT64_MAX / 2 } };
	struct trace_writer *writer;
	struct viewer *viewer;
	char states[256];
	glob_t seeds;

	assert_int_equal(glob("tests/fuzz/corpus/serve_fuzz/*", 0, NULL, &seeds), 0);
	fail_set_sink(ignore);
	trace_begin();
	writer = trace_write(20000, 100);
	assert_int_equal(trace_writer_close(writer), 0);
	viewer = viewer_new(&(struct viewer_options){ .path = trace_path, .name = "t.pinch" });
	assert_int_equal(viewer_load(viewer, &waiter, false), 0);
	pair = viewer_pair_new(&(struct viewer_sides){ viewer, viewer, trace_path, trace_path, false });
	do_in_half(ask_all, &seeds);
	viewer_pair_free(pair);
	viewer_free(viewer);
	snprintf(states, sizeof(states), "%s.states", trace_path);
	unlink(states);
	trace_end();
	trace_forget();
	globfree(&seeds);
	fail_set_sink(NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose garbage collection code is, and when that is a finding. */
#include "findings/names/collectors.h"
#include "findings/patterns/draft.h"
#include "test.h"

enum { MS = 1000000 };

static const char *name_of(const char *thread, const struct report_frame *frames, size_t count, size_t *own)
{
	const struct collector *collector = collector_of(thread, frames, count, own);

	return collector ? collector->name : NULL;
}

TEST(threads_of_the_jvm_are_known_by_their_names_where_they_run_its_code)
{
	const struct report_frame own_code = { .module = "libjvm.so", .offset = 0x1234 };
	const struct report_frame other_code = { .function = "render", .module = "game" };
	size_t own = 0;

	CHECK_STRING(name_of("GC Thread#1", &own_code, 1, &own), "the JVM");
	CHECK_EQUAL(own, 1);
	CHECK_STRING(name_of("VM Thread", &own_code, 1, &own), "the JVM");
	CHECK_STRING(name_of("G1 Conc#0", &own_code, 1, &own), "the JVM");
	CHECK(!name_of("GC Thread#1", &other_code, 1, &own));
	CHECK(!name_of("http-nio-8080", &own_code, 1, &own));
	CHECK(!name_of("GC Thread#1", NULL, 0, &own));
}

TEST(functions_are_known_with_their_arguments_and_members_and_who_called_them)
{
	const struct report_frame frames[] = {
		{ .function = "v8::internal::Scavenger::Process(v8::JobDelegate*)", .module = "node" },
		{ .function = "v8::internal::Heap::Scavenge()", .module = "node" },
		{ .function = "v8::internal::Heap::CollectGarbage(v8::internal::AllocationSpace)", .module = "node" },
		{ .function = "Builtins_ArrayPush", .module = "node" },
		{ .function = "buildOrders", .module = "[javascript]" },
	};
	size_t own = 0;

	CHECK_STRING(name_of("node", frames, 5, &own), "V8");
	CHECK_EQUAL(own, 3);
	CHECK_STRING(name_of("node", frames, 1, &own), "V8");
	CHECK_EQUAL(own, 1);
	CHECK(!name_of("node", frames + 3, 2, &own));
}

TEST(what_has_no_name_is_known_by_who_calls_it)
{
	const struct report_frame frames[] = {
		{ .module = "python3", .offset = 0x10a500 },
		{ .module = "python3", .offset = 0x230c00 },
		{ .function = "_PyObject_GC_New", .module = "python3" },
		{ .function = "PyList_New", .module = "python3" },
		{ .module = "python3", .offset = 0x1658c0 },
		{ .function = "add_row", .module = "[python]" },
	};
	size_t own = 0;

	CHECK_STRING(name_of("shop", frames, 6, &own), "CPython");
	CHECK_EQUAL(own, 2);
	CHECK(!name_of("shop", frames, 2, &own));
	CHECK(!name_of("shop", frames + 2, 4, &own));
}

TEST(names_that_only_begin_alike_or_are_of_another_program_are_none)
{
	const struct report_frame frames[] = {
		{ .function = "runtime.gcDrainer", .module = "shop" },
		{ .function = "gc_collect_main", .module = "shop" },
		{ .function = "gc_start", .module = "game" },
		{ .function = "v8::internal::ScavengerCollectors", .module = "node" },
		{ .module = "shop" },
	};
	size_t own = 0;

	CHECK(!name_of("shop", frames, 5, &own));
}

/* --- The finding ---------------------------------------------------------------------------------- */

static struct findings findings;
static struct draft draft;
static struct report_collection collection;
static const char *const names[] = { "GC Thread#*", "VM Thread" };

/* Ten seconds, of which the collector has 3.0 +- 0.1. */
static void begin(void)
{
	memset(&draft, 0, sizeof(draft));
	findings = (struct findings){ .arena = arena_new() };
	findings.report.target.wall_ns = 10000ull * MS;
	collection = (struct report_collection){
		.name = "the JVM",
		.advice = "a larger heap",
		.thread_names = names,
		.thread_name_count = 2,
		.time = { .samples = 900,
			  .cpu_ns = 6000ull * MS,
			  .cmetric_ns = 3000ull * MS,
			  .cmetric_error_ns = 100 * MS },
	};
	findings.report.code.collections = &collection;
	findings.report.code.collection_count = 1;
	patterns_add_collections(&findings, &draft);
}

static void again(void)
{
	draft.count = 0;
	patterns_add_collections(&findings, &draft);
}

TEST(a_collector_that_has_much_of_the_wall_time_is_a_finding_with_its_threads)
{
	begin();
	CHECK_EQUAL(draft.count, 1);
	CHECK_EQUAL(draft.rows[0].pattern, PATTERN_GARBAGE_COLLECTION);
	CHECK_STRING(draft.rows[0].title, "garbage collection of the JVM has 30 % of the wall time");
	CHECK(strstr(draft.rows[0].evidence[0], "900 samples"));
	CHECK(strstr(draft.rows[0].evidence[0], "GC Thread#*, VM Thread"));
	CHECK(draft.rows[0].collection == &collection);
	arena_free(findings.arena);
}

TEST(one_that_has_little_or_too_few_samples_is_none)
{
	begin();
	collection.time.samples = 19;
	again();
	CHECK_EQUAL(draft.count, 0);
	collection.time.samples = 900;
	collection.time.cmetric_error_ns = 1001ull * MS;
	again();
	CHECK_EQUAL(draft.count, 0);
	collection.time.cmetric_error_ns = 10 * MS;
	collection.time.cmetric_ns = 999ull * MS;
	again();
	CHECK_EQUAL(draft.count, 0);
	arena_free(findings.arena);
}

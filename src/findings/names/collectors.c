/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/names/collectors.h"

#include <stdbool.h>
#include <string.h>

#include "report/report.h"

enum runtime { JVM, GO, V8, CPYTHON, RUBY, PHP, DOTNET, OCAML, LUA };

static const struct collector collectors[] = {
	[JVM] = { "the JVM",
		  "a larger heap (-Xmx), fewer objects that live on, or fewer allocations: -Xlog:gc says more" },
	[GO] = { "Go", "a larger GOGC or GOMEMLIMIT, or fewer allocations: GODEBUG=gctrace=1 says more" },
	[V8] = { "V8",
		 "a larger heap (--max-old-space-size, --max-semi-space-size), or fewer allocations: --trace-gc says more" },
	[CPYTHON] = { "CPython", "gc.freeze() or a higher gc.set_threshold(), or fewer objects in cycles" },
	[RUBY] = { "Ruby", "a larger heap (RUBY_GC_HEAP_*), or fewer allocations: GC.stat says more" },
	[PHP] = { "PHP", "fewer objects in cycles, or gc_disable() in short requests" },
	[DOTNET] = { ".NET", "a larger heap (GCHeapHardLimit), or fewer allocations: dotnet-counters says more" },
	[OCAML] = { "OCaml", "a larger minor heap or space_overhead (OCAMLRUNPARAM), or fewer allocations" },
	[LUA] = { "Lua", "a larger pause of the collector, or fewer allocations" },
};

/* Threads that do nothing else, by the first 15 characters; and the file that their code is in. */
static const struct {
	enum runtime runtime;
	const char *prefix, *module;
} threads[] = {
	{ JVM, "GC Thread#", "libjvm" }, { JVM, "G1 ", "libjvm" },        { JVM, "ParGC Thread#", "libjvm" },
	{ JVM, "VM Thread", "libjvm" },  { JVM, "ZWorker", "libjvm" },    { JVM, "ZDriver", "libjvm" },
	{ JVM, "XWorker", "libjvm" },    { JVM, "Shenandoah", "libjvm" },
};

/* Functions that do nothing else, with what they call; module: NULL: their names are unmistakable. */
static const struct {
	enum runtime runtime;
	const char *function, *module;
} functions[] = {
	{ JVM, "DefNewGeneration", "libjvm" },
	{ JVM, "TenuredGeneration", "libjvm" },
	{ JVM, "GenCollectedHeap::do_collection", "libjvm" },
	{ JVM, "GenMarkSweep", "libjvm" },
	{ JVM, "MarkSweep", "libjvm" },
	{ JVM, "G1ParScanThreadState", "libjvm" },
	{ JVM, "G1ConcurrentMark", "libjvm" },
	{ JVM, "G1FullCollector", "libjvm" },
	{ JVM, "PSScavenge", "libjvm" },
	{ JVM, "PSPromotionManager", "libjvm" },
	{ JVM, "PSParallelCompact", "libjvm" },
	{ JVM, "ParCompactionManager", "libjvm" },
	{ GO, "runtime.gcBgMarkWorker", NULL },
	{ GO, "runtime.gcAssistAlloc", NULL },
	{ GO, "runtime.gcDrain", NULL },
	{ GO, "runtime.gcStart", NULL },
	{ GO, "runtime.gcMarkDone", NULL },
	{ GO, "runtime.gcMarkTermination", NULL },
	{ GO, "runtime.bgsweep", NULL },
	{ GO, "runtime.bgscavenge", NULL },
	{ V8, "v8::internal::Heap::CollectGarbage", NULL },
	{ V8, "v8::internal::Heap::PerformGarbageCollection", NULL },
	{ V8, "v8::internal::ConcurrentMarking", NULL },
	{ V8, "v8::internal::IncrementalMarking", NULL },
	{ V8, "v8::internal::MarkCompactCollector", NULL },
	{ V8, "v8::internal::MinorMarkCompactCollector", NULL },
	{ V8, "v8::internal::ScavengerCollector", NULL },
	{ V8, "v8::internal::Scavenger", NULL },
	{ V8, "v8::internal::Sweeper", NULL },
	{ CPYTHON, "gc_collect_main", "python" },
	{ CPYTHON, "gc_collect_main", "libpython" },
	{ CPYTHON, "gc_collect_generations", "python" },
	{ CPYTHON, "gc_collect_with_callback", "python" },
	{ CPYTHON, "PyGC_Collect", NULL },
	{ CPYTHON, "_Py_RunGC", NULL },
	{ RUBY, "gc_start", "ruby" },
	{ RUBY, "gc_start", "libruby" },
	{ RUBY, "rb_gc_start", NULL },
	{ RUBY, "gc_marks", "libruby" },
	{ RUBY, "gc_sweep_step", "libruby" },
	{ PHP, "zend_gc_collect_cycles", NULL },
	{ DOTNET, "WKS::gc_heap", NULL },
	{ DOTNET, "SVR::gc_heap", NULL },
	{ OCAML, "caml_major_collection_slice", NULL },
	{ OCAML, "caml_empty_minor_heap", NULL },
	{ OCAML, "caml_empty_minor_heaps_once", NULL },
	{ LUA, "luaC_step", NULL },
	{ LUA, "luaC_fullgc", NULL },
	{ LUA, "lj_gc_step", NULL },
	{ LUA, "lj_gc_fullgc", NULL },
};

/*
 * Functions of stripped libraries that call nothing else without a name (CPython, Modules/gcmodule.c: gc_alloc() calls
 * gc_collect_with_callback()).
 */
static const struct {
	enum runtime runtime;
	const char *caller, *module;
} nameless[] = {
	{ CPYTHON, "_PyObject_GC_New", "python" },    { CPYTHON, "_PyObject_GC_New", "libpython" },
	{ CPYTHON, "_PyObject_GC_NewVar", "python" }, { CPYTHON, "_PyObject_GC_NewVar", "libpython" },
	{ CPYTHON, "PyType_GenericAlloc", "python" }, { CPYTHON, "PyType_GenericAlloc", "libpython" },
};

static bool begins_with(const char *text, const char *prefix)
{
	return text && !strncmp(text, prefix, strlen(prefix));
}

/* The function itself, with arguments or without, or a member of that class. */
static bool is_function(const char *name, const char *function)
{
	size_t length = strlen(function);

	return begins_with(name, function) && (!name[length] || strchr("(:<.[", name[length]));
}

static bool has_module(const struct report_frame *frames, size_t count, const char *module)
{
	for (size_t i = 0; i < count; i++)
		if (begins_with(frames[i].module, module))
			return true;
	return false;
}

static const struct collector *of_frame(const struct report_frame *frame)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (is_function(frame->function, functions[i].function) &&
		    (!functions[i].module || begins_with(frame->module, functions[i].module)))
			return &collectors[functions[i].runtime];
	return NULL;
}

/* Of a function without a name, by who called it. */
static const struct collector *of_call(const struct report_frame *frame, const struct report_frame *caller)
{
	if (frame->function || !caller->function)
		return NULL;
	for (size_t i = 0; i < sizeof(nameless) / sizeof(*nameless); i++)
		if (!strcmp(caller->function, nameless[i].caller) && begins_with(frame->module, nameless[i].module) &&
		    begins_with(caller->module, nameless[i].module))
			return &collectors[nameless[i].runtime];
	return NULL;
}

const struct collector *collector_of(const char *thread, const struct report_frame *frames, size_t count, size_t *own)
{
	const struct collector *found = NULL;

	for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++) {
		if (!begins_with(thread, threads[i].prefix) || !has_module(frames, count, threads[i].module))
			continue;
		*own = count;
		return &collectors[threads[i].runtime];
	}
	for (size_t i = 0; i < count; i++) {
		const struct collector *collector = of_frame(&frames[i]);

		if (!collector && i + 1 < count)
			collector = of_call(&frames[i], &frames[i + 1]);
		if (!collector)
			continue;
		found = collector;
		*own = i + 1;
	}
	return found;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/symbol_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/table.h"
#include "helper/opener.h"
#include "helper/pair.h"
#include "helper/users.h"
#include "symbol/answer/answer.h"
#include "symbol/answer/answer_book.h"
#include "symbol/answer_cache.h"
#include "symbol/asker.h"
#include "symbol/elf/demangle.h"
#include "symbol/jit/jit_hints.h"
#include "symbol/jit_names.h"
#include "symbol/kernel_symbols.h"
#include "symbol/mapped_files.h"
#include "symbol/names.h"
#include "symbol/notes.h"
#include "symbol/places.h"
#include "symbol/python_frames.h"
#include "symbol/space/module.h"
#include "symbol/space/space.h"
#include "symbol/variables.h"
#include "symbol/worker/worker.h"
#include "values.h"

enum {
	NAMES_BYTES_MAX = 32 << 20,
	JIT_PLACE = 1u << 31,    /* such code is the same in one address space only */
	PYTHON_PLACE = 1u << 30, /* known by its names */
};

static void on_stuck(void *data, uint32_t pid, const char *path)
{
	struct symbols *symbols = data;

	if (path)
		notes_add(symbols->notes,
			  "%s, mapped by process %u, cannot be read: its functions are shown as offsets", path, pid);
	else
		notes_add(symbols->notes,
			  "process %u or its file tree cannot be read: functions may lack names and lines", pid);
}

static void on_barred(void *data, uint32_t user)
{
	struct symbols *symbols = data;

	notes_add(symbols->notes,
		  "programs of user %u repeatedly blocked or crashed the reader of symbols: they are no longer read",
		  user);
}

struct symbols *symbols_new(struct session *session)
{
	struct symbols *symbols = xcalloc(1, sizeof(*symbols));

	symbols->session = session;
	symbols->notes = notes_new();
	symbols->requests = arena_new();
	symbols->helpers = helper_pair_new(worker_roles());
	users_on_barred(helper_pair_users(symbols->helpers), on_barred, symbols);
	symbols->opener = opener_new(symbols->helpers, on_stuck, symbols);
	symbols->worker = worker_new(symbols->helpers, symbols->opener);
	symbols->files = mapped_files_new(session, symbols->opener, symbols->worker, symbols->notes);
	symbols->spaces = mapped_files_spaces(symbols->files);
	symbols->modules = mapped_files_modules(symbols->files);
	symbols->jit = mapped_files_jit(symbols->files);
	symbols->names = names_new(NAMES_BYTES_MAX, symbols->notes);
	symbols->asker = asker_new(symbols->worker, symbols->notes);
	symbols->places = places_new(symbols->asker, symbols->names);
	symbols->variables =
		variables_new(symbols->worker, symbols->asker, symbols->spaces, symbols->modules, symbols->names);
	symbols->python = python_frames_new(session, symbols->spaces, symbols->modules, symbols->worker, symbols->names,
					    symbols->notes);
	return symbols;
}

void symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return;
	variables_free(symbols->variables);
	places_free(symbols->places);
	answer_cache_free(symbols->cache);
	answer_book_free(symbols->book);
	asker_free(symbols->asker);
	python_frames_free(symbols->python);
	mapped_files_free(symbols->files);
	worker_free(symbols->worker);
	opener_free(symbols->opener);
	helper_pair_free(symbols->helpers);
	kernel_symbols_free(symbols->kernel);
	names_free(symbols->names);
	notes_free(symbols->notes);
	arena_free(symbols->requests);
	free(symbols);
}

struct sources_question {
	struct sources_answer *sources;
};

static int ask_sources(void *data, struct worker *worker, const struct module *module, bool has_debug, uint32_t *flags)
{
	struct sources_question *question = data;
	const struct sources_answer *answer;
	int err = worker_ask_sources(worker, module, &answer);

	(void)has_debug, (void)flags;
	if (!err)
		*question->sources = *answer;
	return err;
}

static int find_sources(void *data, const struct module *module, struct sources_answer *sources)
{
	struct sources_question question = { sources };
	struct symbols *symbols = data;

	return asker_ask(symbols->asker, modules_at(symbols->modules, module->number), true, ask_sources, &question);
}

static bool is_unchanged(void *data, const struct module *module)
{
	struct symbols *symbols = data;
	struct file_stamp now;

	return !opener_stamp(symbols->opener, module->number, module->device, module->pid, &now) &&
	       file_stamp_has_same_contents(&now, &module->stamp);
}

void symbols_use_cache(struct symbols *symbols)
{
	if (!symbols->cache)
		symbols->cache = answer_cache_new();
	answer_cache_use_sources(symbols->cache, find_sources, is_unchanged, symbols);
	places_use_cache(symbols->places, symbols->cache);
	variables_use_cache(symbols->variables, symbols->cache);
}

void symbols_save_cache(struct symbols *symbols)
{
	if (symbols->cache)
		answer_cache_save(symbols->cache);
}

void symbols_set_offline(struct symbols *symbols, bool opens_files)
{
	symbols->is_offline = true;
	if (!opens_files)
		symbols_use_recorded(symbols);
	mapped_files_set_offline(symbols->files);
}

/* It is only in recordings, and asked for when they need it. */
static void ask_build_id(struct symbols *symbols, struct module *module)
{
	struct build_id build_id = { 0 };

	if (!module->has_build_id && !worker_ask_build_id(symbols->worker, module, &build_id))
		modules_set_build_id(symbols->modules, module, &build_id);
	module->has_build_id = true;
}

int symbols_file(struct symbols *symbols, uint32_t pid, uint64_t address, struct symbol_file *file)
{
	struct module *module = NULL;
	struct space_hit hit;

	if (spaces_find(symbols->spaces, pid, UINT64_MAX, address, &hit) && hit.is_mapped)
		module = modules_at(symbols->modules, hit.mapping.module);
	if (!module || !module->has_stamp)
		return -ENOENT;
	ask_build_id(symbols, module);
	*file = (struct symbol_file){ module->device, module->inode, module->build_id };
	return 0;
}

int symbols_open_file(struct symbols *symbols, const struct module_identity *identity, struct symbol_open_file *file)
{
	struct module *module = modules_get(symbols->modules, identity);
	int fd;

	if (!module || module->kind != MODULE_FILE)
		return -ENOENT;
	fd = opener_give(symbols->opener, module->number, identity->pid);
	if (fd < 0)
		return fd;
	*file = (struct symbol_open_file){ fd, module->number };
	return 0;
}

void symbols_set_pause(struct symbols *symbols, struct pause *pause)
{
	helper_pair_set_pause(symbols->helpers, pause);
}

int symbols_add_process(struct symbols *symbols, uint32_t pid)
{
	return mapped_files_add(symbols->files, pid);
}

void symbols_keep_process(struct symbols *symbols, uint32_t pid)
{
	mapped_files_keep(symbols->files, pid);
}

void symbols_forget_process(struct symbols *symbols, uint32_t pid)
{
	mapped_files_forget(symbols->files, pid);
}

static bool find_mapping(struct symbols *symbols, uint32_t pid, uint64_t time_ns, uint64_t address,
			 struct space_hit *hit)
{
	return mapped_files_find(symbols->files, pid, time_ns, address, hit);
}

struct mapping_visitor {
	void (*on_mapping)(void *data, const struct symbol_mapping *mapping);
	void *data;
};

static void visit_mapping(void *data, const struct mapping *mapping)
{
	const struct mapping_visitor *visitor = data;
	struct symbol_mapping m = {
		mapping->start,
		mapping->end,
		mapping->file_offset,
		mapping->module,
	};

	visitor->on_mapping(visitor->data, &m);
}

void symbols_each_mapping(const struct symbols *symbols, uint32_t pid,
			  void (*on_mapping)(void *data, const struct symbol_mapping *mapping), void *data)
{
	struct mapping_visitor visitor = { on_mapping, data };

	spaces_each(symbols->spaces, pid, visit_mapping, &visitor);
}

int symbols_begin(struct symbols *symbols)
{
	/* Later the privilege to see addresses may be gone. */
	if (!symbols->kernel)
		symbols->kernel = kernel_symbols_new("/proc/kallsyms");
	return helper_pair_begin(symbols->helpers);
}

void symbols_step(struct symbols *symbols)
{
	opener_step(symbols->opener);
	worker_step(symbols->worker);
}

void symbols_settle(struct symbols *symbols, uint64_t limit_ns)
{
	opener_step(symbols->opener);
	worker_settle(symbols->worker, limit_ns);
}

int symbols_poll_fd(const struct symbols *symbols)
{
	return worker_poll_fd(symbols->worker);
}

/* Who asked for an unwind table. */
struct table_request {
	struct symbols *symbols;
	symbols_on_unwind_file *on_file;
	void *data;
};

/* A file that is hostile to one way of reading it may still have names. */
static void note_no_table(struct symbols *symbols, const struct module *module, int err)
{
	if (err == -EDQUOT)
		notes_add(symbols->notes,
			  "the time limit for files of the owner of %s is used up: its call frame information is not "
			  "used",
			  module->path);
	else if (err == -EFBIG)
		notes_add(symbols->notes,
			  "the unwind tables of %s exceed %d MB: its call frame information is not "
			  "used",
			  module->path, UNWIND_FILE_BYTES_MAX >> 20);
	else if (err == -ECHILD || err == -ETIMEDOUT)
		notes_add(symbols->notes, "%s takes too long to read: its call frame information is not used",
			  module->path);
}

static void on_table(void *data, const struct module *asked, int err, struct unwind_file *file)
{
	struct table_request *request = data;
	struct symbols *symbols = request->symbols;
	struct module *module = modules_at(symbols->modules, asked->number);

	if (!err)
		module->python_version = file->python_version;
	if (!err && symbols->book && module->python_version)
		answer_book_put(symbols->book, BOOK_FILE, module_owner(module), 0,
				&(struct book_file){ module->python_version }, sizeof(struct book_file));
	note_no_table(symbols, module, err);
	request->on_file(request->data, module->number, err ? -ENOENT : 0, file);
}

int symbols_ask_unwind_file(struct symbols *symbols, uint32_t number, symbols_on_unwind_file *on_file, void *data)
{
	struct module *module = modules_at(symbols->modules, number);
	struct table_request *request;

	if (!module || (module->kind != MODULE_FILE && module->kind != MODULE_VDSO) || module_has_failed(module))
		return -ENOENT;
	request = arena_alloc(symbols->requests, sizeof(*request));
	*request = (struct table_request){ symbols, on_file, data };
	return worker_ask_table(symbols->worker, module, on_table, request) ? -ENOENT : 0;
}

int symbols_find_function(struct symbols *symbols, const struct symbol_open_file *file, const char *name,
			  uint64_t *file_offset)
{
	const struct module *module = modules_at(symbols->modules, file->module);

	return worker_ask_function(symbols->worker, module, name, file_offset) ? -ENOENT : 0;
}

int symbols_find_functions(struct symbols *symbols, const struct symbol_open_file *file, const char *name,
			   struct symbol_functions *found)
{
	const struct module *module = modules_at(symbols->modules, file->module);
	const struct symbol_functions *answer;

	if (worker_ask_functions(symbols->worker, module, name, &answer) ||
	    (!answer->function_count && !answer->doubtful_count))
		return -ENOENT;
	*found = *answer;
	return 0;
}

/* A name that the program's JIT compiler gave, in this space or the one it was copied from. */
static const char *jit_name(struct symbols *symbols, uint32_t pid, const struct space_hit *hit, uint64_t address,
			    uint64_t *start)
{
	char name[ANSWER_NAME_BYTES];
	struct space_hit newest;
	uint32_t live_pid = 0;

	if (symbols->is_offline)
		return symbols->book ? symbols_recorded_jit_name(symbols, hit, address, start) : NULL;
	/* What /proc shows is the process after its last exec. */
	if (spaces_find(symbols->spaces, pid, UINT64_MAX, 0, &newest) && newest.space == hit->space)
		live_pid = pid;
	if (!jit_names_find(symbols->jit, hit->space, live_pid, address, name, sizeof(name), start) &&
	    !jit_names_find(symbols->jit, hit->base, 0, address, name, sizeof(name), start))
		return NULL;
	if (symbols->book)
		answer_book_put_function(symbols->book, BOOK_JIT, hit->space, address, *start, name, NULL);
	return names_get(symbols->names, name);
}

struct hint_search {
	const struct symbols *symbols;
	unsigned int hint;
};

static void find_hint(void *data, const struct mapping *mapping)
{
	struct hint_search *search = data;
	const struct module *module = modules_at(search->symbols->modules, mapping->module);

	if (module && !search->hint)
		search->hint = jit_hint_find(module->name);
}

/* Says once for each runtime what would give names to the code that it generates. */
static void note_nameless(struct symbols *symbols, uint32_t pid, const struct space_hit *hit)
{
	struct hint_search search = { .symbols = symbols };

	if (hit->space == symbols->hinted_space || jit_names_has(symbols->jit, hit->space) ||
	    jit_names_has(symbols->jit, hit->base))
		return;
	symbols->hinted_space = hit->space;
	spaces_each(symbols->spaces, pid, find_hint, &search);
	if (!(symbols->noted_hints >> search.hint & 1))
		notes_add(symbols->notes, "%s", jit_hint(search.hint));
	symbols->noted_hints |= 1u << search.hint;
}

static void resolve_unmapped(struct symbols *symbols, uint32_t pid, const struct space_hit *hit, uint64_t address,
			     const char *module, struct symbol_frame *frame)
{
	uint64_t start;

	frame->module = module;
	frame->function = jit_name(symbols, pid, hit, address, &start);
	if (frame->function)
		frame->module = "[jit]";
}

void symbols_follow_stacks(struct symbols *symbols, struct threads *threads)
{
	python_frames_follow(symbols->python, threads);
}

void symbols_function(struct symbols *symbols, uint32_t pid, uint64_t time_ns, uint64_t address,
		      struct symbol_frame *frame)
{
	const struct place *place;
	struct space_hit hit;
	struct module *module;
	uint64_t offset;

	*frame = (struct symbol_frame){ .offset = address };
	if (address & STACK_FRAME_MANAGED || !find_mapping(symbols, pid, time_ns, address, &hit))
		return;
	module = modules_at(symbols->modules, hit.mapping.module);
	if (!module || module->kind == MODULE_JIT || module->kind == MODULE_OTHER)
		return;
	offset = address - hit.mapping.start + hit.mapping.file_offset;
	place = places_get(symbols->places, module, offset, false);
	if (place->count)
		*frame = place->frames[place->count - 1];
	frame->module = module->name;
	frame->offset = offset;
}

size_t symbols_resolve(struct symbols *symbols, uint32_t pid, uint64_t time_ns, uint64_t address, bool is_return,
		       struct symbol_frame *frames, size_t max)
{
	uint64_t wanted = address - (is_return && address), offset, start;
	const struct place *place;
	struct space_hit hit;
	struct module *module;
	size_t count;

	if (address & STACK_FRAME_MANAGED) {
		python_frames_resolve(symbols->python, pid, time_ns, address, &frames[0]);
		return 1;
	}
	frames[0] = (struct symbol_frame){ .offset = address };
	if (!find_mapping(symbols, pid, time_ns, wanted, &hit)) {
		resolve_unmapped(symbols, pid, &hit, wanted, "[anon]", &frames[0]);
		return 1;
	}
	module = modules_at(symbols->modules, hit.mapping.module);
	if (!module || module->kind == MODULE_JIT) {
		resolve_unmapped(symbols, pid, &hit, wanted, module ? "[jit]" : "[file]", &frames[0]);
		if (module && !frames[0].function)
			note_nameless(symbols, pid, &hit);
		return 1;
	}
	offset = wanted - hit.mapping.start + hit.mapping.file_offset;
	frames[0].module = module->name;
	frames[0].offset = offset + (address - wanted);
	if (module->kind == MODULE_OTHER)
		return 1;
	notes_add_python(symbols->notes, module);
	place = places_get(symbols->places, module, offset, true);
	if (!place->count) {
		frames[0].function = jit_name(symbols, pid, &hit, wanted, &start);
		/* A function without a name is called after its beginning, wherever in it this is. */
		if (!frames[0].function && place->function_offset != UINT64_MAX)
			frames[0].offset = place->function_offset;
		return 1;
	}
	count = place->count < max ? place->count : max;
	for (size_t i = 0; i < count; i++) {
		frames[i] = place->frames[i];
		frames[i].module = module->name;
		frames[i].offset = offset + (address - wanted);
	}
	return count;
}

/* The places in files that are asked for; what is generated or managed is not in one. */
static size_t find_places(struct symbols *symbols, const struct symbol_request *requests, size_t count,
			  struct place_request *places)
{
	size_t place_count = 0;

	for (size_t i = 0; i < count; i++) {
		const struct symbol_request *request = &requests[i];
		uint64_t wanted = request->address - (request->is_return && request->address);
		struct module *module;
		struct space_hit hit;

		if (request->address & STACK_FRAME_MANAGED)
			continue;
		if (!find_mapping(symbols, request->pid, request->time_ns, wanted, &hit))
			continue;
		module = modules_at(symbols->modules, hit.mapping.module);
		if (module && (module->kind == MODULE_FILE || module->kind == MODULE_VDSO))
			places[place_count++] = (struct place_request){
				module,
				wanted - hit.mapping.start + hit.mapping.file_offset,
			};
	}
	return place_count;
}

void symbols_prepare(struct symbols *symbols, const struct symbol_request *requests, size_t count)
{
	struct place_request *places = xcalloc(count + 1, sizeof(*places));

	places_prepare(symbols->places, places, find_places(symbols, requests, count, places), true);
	free(places);
}

void symbols_prepare_code(struct symbols *symbols, const struct symbol_request *requests, size_t count,
			  size_t size_bytes)
{
	struct place_request *places = xcalloc(count + 1, sizeof(*places));
	struct worker_question *questions = xcalloc(count + 1, sizeof(*questions));
	size_t place_count = find_places(symbols, requests, count, places);

	places_prepare(symbols->places, places, place_count, false);
	for (size_t i = 0; i < place_count; i++)
		questions[i] = (struct worker_question){
			.module = places[i].module,
			.kind = WORKER_CODE,
			.file_offset = places[i].offset,
			.size_bytes = size_bytes,
		};
	asker_ask_ahead(symbols->asker, questions, place_count);
	free(questions);
	free(places);
}

void symbols_resolve_kernel(struct symbols *symbols, uint64_t address, struct symbol_frame *frame)
{
	struct kernel_function function;
	char name[512];

	*frame = (struct symbol_frame){
		.module = "[kernel]",
		.offset = address,
		.is_kernel = true,
	};
	if (symbols->is_offline && symbols->book) {
		symbols_resolve_recorded_kernel(symbols, address, frame);
		return;
	}
	if (!symbols->kernel)
		symbols->kernel = kernel_symbols_new(symbols->is_offline ? "" : "/proc/kallsyms");
	if (!kernel_symbols_count(symbols->kernel) && !symbols->has_noted_kernel) {
		symbols->has_noted_kernel = true;
		notes_add(symbols->notes,
			  symbols->is_offline
				  ? "a recording does not contain the kernel's functions"
				  : "the kernel hides its symbol addresses: run as root or with CAP_SYSLOG, or set "
				    "kernel.kptr_restrict to 0 and kernel.perf_event_paranoid to 1");
	}
	if (!kernel_symbols_find(symbols->kernel, address, &function))
		return;
	demangle(function.name, name, sizeof(name));
	frame->function = names_get(symbols->names, name);
	frame->module = function.module;
	frame->offset = address - function.start;
	if (symbols->book)
		answer_book_put_function(symbols->book, BOOK_KERNEL, 0, address, function.start, name, function.module);
}

int symbols_place(struct symbols *symbols, uint32_t pid, uint64_t time_ns, uint64_t address, bool whole_function,
		  uint32_t *module_number, uint64_t *offset)
{
	struct module *module;
	struct space_hit hit;
	uint64_t start;

	if (address & STACK_FRAME_MANAGED) {
		*module_number = PYTHON_PLACE;
		if (!python_frames_place(symbols->python, pid, time_ns, address, whole_function, offset, &hit.space)) {
			*module_number = JIT_PLACE | hit.space;
			*offset = address;
		}
		return 0;
	}
	if (!find_mapping(symbols, pid, time_ns, address, &hit))
		return -ENOENT;
	module = modules_at(symbols->modules, hit.mapping.module);
	if (!module || module->kind == MODULE_JIT) {
		*module_number = JIT_PLACE | hit.space;
		*offset = whole_function && jit_name(symbols, pid, &hit, address, &start) ? start : address;
		return 0;
	}
	*module_number = module->number;
	*offset = address - hit.mapping.start + hit.mapping.file_offset;
	if (whole_function && module->kind != MODULE_OTHER) {
		start = places_get(symbols->places, module, *offset, false)->function_offset;
		if (start != UINT64_MAX)
			*offset = start;
	}
	return 0;
}

int symbols_resolve_object(struct symbols *symbols, uint32_t pid, uint64_t time_ns, uint64_t address,
			   struct symbol_object *object)
{
	int err = variables_find(symbols->variables, pid, time_ns, address, object);

	if (err && mapped_files_read_again(symbols->files, pid))
		err = variables_find(symbols->variables, pid, time_ns, address, object);
	return err;
}

struct code_question {
	uint64_t file_offset;
	size_t size_bytes;
	const struct code_answer *answer;
};

static int ask_code(void *data, struct worker *worker, const struct module *module, bool has_debug, uint32_t *flags)
{
	struct code_question *question = data;

	(void)has_debug, (void)flags;
	return worker_ask_code(worker, module, question->file_offset, question->size_bytes, &question->answer);
}

size_t symbols_read_code(struct symbols *symbols, uint32_t pid, uint64_t time_ns, uint64_t address, uint8_t *code,
			 size_t size_bytes, uint64_t *start)
{
	struct code_question question = { .size_bytes = size_bytes };
	struct module *module;
	struct space_hit hit;

	if (address & STACK_FRAME_MANAGED || !find_mapping(symbols, pid, time_ns, address, &hit))
		return 0;
	module = modules_at(symbols->modules, hit.mapping.module);
	if (!module || (module->kind != MODULE_FILE && module->kind != MODULE_VDSO))
		return 0;
	question.file_offset = address - hit.mapping.start + hit.mapping.file_offset;
	if (asker_ask(symbols->asker, module, false, ask_code, &question) || question.answer->size_bytes > size_bytes ||
	    question.answer->file_offset > question.file_offset)
		return 0;
	memcpy(code, question.answer->code, question.answer->size_bytes);
	*start = address - (question.file_offset - question.answer->file_offset);
	return question.answer->size_bytes;
}

bool symbols_is_interpreter(const struct symbols *symbols, uint32_t number)
{
	const struct module *module = modules_at(symbols->modules, number);
	size_t size_bytes;

	if (!module || module->python_version || !symbols->is_offline || !symbols->book)
		return module && module->python_version;
	return answer_book_find(symbols->book, BOOK_FILE, module_owner(module), 0, &size_bytes) ||
	       answer_book_find(symbols->book, BOOK_FILE, module_old_owner(module), 0, &size_bytes);
}

size_t symbols_notes(const struct symbols *symbols, const char *const **notes)
{
	return notes_list(symbols->notes, notes);
}

uint64_t symbols_memory_bytes(const struct symbols *symbols)
{
	return helper_pair_memory_bytes(symbols->helpers);
}

struct symbol_counts symbols_counts(const struct symbols *symbols)
{
	struct space_counts spaces = spaces_counts(symbols->spaces);

	return (struct symbol_counts){
		.modules = modules_count(symbols->modules),
		.mappings = spaces.mappings,
		.spaces = spaces.spaces,
		.modules_dropped = modules_dropped(symbols->modules),
		.mappings_dropped = spaces.dropped,
	};
}

void symbols_set_kernel_types(struct symbols *symbols, symbol_member_fn *member, void *data)
{
	symbols->kernel_member = member;
	symbols->kernel_member_data = data;
}

/* In what is recorded a member is a function without a module, which begins at its offset. */
const char *symbols_kernel_member(struct symbols *symbols, const char *type, uint32_t offset)
{
	uint64_t owner = hash_string(0, type), start;
	const char *module, *known;
	char name[128];

	if (symbols->book) {
		known = answer_book_find_function(symbols->book, BOOK_KERNEL_MEMBER, owner, offset, &start, &module);
		if (known || symbols->is_offline)
			return known ? names_get(symbols->names, known) : NULL;
	}
	if (!symbols->kernel_member ||
	    symbols->kernel_member(symbols->kernel_member_data, type, offset, name, sizeof(name)))
		return NULL;
	if (symbols->book)
		answer_book_put_function(symbols->book, BOOK_KERNEL_MEMBER, owner, offset, offset, name, NULL);
	return names_get(symbols->names, name);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/symbol_internal.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"
#include "helper/opener.h"
#include "helper/pair.h"
#include "helper/users.h"
#include "symbol/answer/answer_book.h"
#include "symbol/answer_cache.h"
#include "symbol/asker.h"
#include "symbol/java_maps.h"
#include "symbol/java_methods.h"
#include "symbol/known_code.h"
#include "symbol/managed_frames.h"
#include "symbol/mapped_files.h"
#include "symbol/names/names.h"
#include "symbol/names/notes.h"
#include "symbol/places.h"
#include "symbol/names/program_names.h"
#include "symbol/space/module.h"
#include "symbol/space/space.h"
#include "symbol/tail_calls.h"
#include "symbol/variables.h"
#include "symbol/worker/worker.h"

enum { NAMES_BYTES_MAX = 32 << 20 };

/* The engine is called some 30 times a second, and has events to take. */
static const uint64_t methods_ns_step = 20000000;

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
	symbols->programs = program_names_new(session, symbols->names);
	symbols->asker = asker_new(symbols->worker, symbols->notes);
	symbols->places = places_new(symbols->asker, symbols->names);
	symbols->code = known_code_new();
	symbols->tail_calls = tail_calls_new(symbols->asker, symbols->names);
	symbols->variables =
		variables_new(symbols->worker, symbols->asker, symbols->spaces, symbols->modules, symbols->names);
	symbols->managed = managed_frames_new(session, symbols->spaces, symbols->modules, symbols->worker,
					      symbols->names, symbols->notes);
	symbols->methods = java_methods_new(session, symbols->spaces, symbols->modules, symbols->worker);
	return symbols;
}

void symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return;
	java_maps_free(symbols->java_maps);
	variables_free(symbols->variables);
	tail_calls_free(symbols->tail_calls);
	known_code_free(symbols->code);
	places_free(symbols->places);
	answer_cache_free(symbols->cache);
	answer_book_free(symbols->book);
	asker_free(symbols->asker);
	managed_frames_free(symbols->managed);
	java_methods_free(symbols->methods);
	mapped_files_free(symbols->files);
	worker_free(symbols->worker);
	opener_free(symbols->opener);
	helper_pair_free(symbols->helpers);
	kernel_functions_free(symbols->kernel);
	program_names_free(symbols->programs);
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
	tail_calls_use_cache(symbols->tail_calls, symbols->cache);
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
	return helper_pair_begin(symbols->helpers);
}

int symbols_read_words(struct symbols *symbols, uint32_t pid, struct process_words *words)
{
	return opener_read_words(symbols->opener, pid, words);
}

int symbols_open_area(struct symbols *symbols, uint32_t pid, uint32_t number)
{
	return opener_give_area(symbols->opener, pid, number);
}

int symbols_read_use(struct symbols *symbols, void (*on_each)(void *data, const struct process_use *use), void *data)
{
	return opener_read_use(symbols->opener, on_each, data);
}

void symbols_ask_java(struct symbols *symbols)
{
	symbols->java_maps = java_maps_new(symbols->session, symbols->helpers, symbols->files, symbols->notes);
}

void symbols_finish_java(struct symbols *symbols, uint64_t limit_ns)
{
	java_maps_finish(symbols->java_maps, limit_ns);
}

void symbols_step(struct symbols *symbols)
{
	opener_step(symbols->opener);
	worker_step(symbols->worker);
	java_methods_step(symbols->methods, methods_ns_step);
	java_maps_step(symbols->java_maps);
}

void symbols_settle(struct symbols *symbols, uint64_t limit_ns)
{
	opener_step(symbols->opener);
	java_methods_step(symbols->methods, limit_ns);
	worker_settle(symbols->worker, limit_ns);
}

int symbols_poll_fd(const struct symbols *symbols)
{
	return worker_poll_fd(symbols->worker);
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

int symbols_find_usdt(struct symbols *symbols, const struct symbol_open_file *file, const char *pattern, uint64_t first,
		      struct symbol_usdt *found)
{
	const struct module *module = modules_at(symbols->modules, file->module);
	const struct symbol_usdt *answer;

	if (worker_ask_usdt(symbols->worker, module, pattern, first, &answer) ||
	    (!answer->count && !answer->doubtful_count))
		return -ENOENT;
	*found = *answer;
	return 0;
}

void symbols_follow_stacks(struct symbols *symbols, struct threads *threads)
{
	managed_frames_follow(symbols->managed, threads);
	java_methods_follow(symbols->methods, threads);
}

int symbols_resolve_object(struct symbols *symbols, uint32_t pid, uint64_t time_ns, uint64_t address,
			   struct symbol_object *object)
{
	int err = variables_find(symbols->variables, pid, time_ns, address, object);

	if (err && mapped_files_read_again(symbols->files, pid))
		err = variables_find(symbols->variables, pid, time_ns, address, object);
	return err;
}

bool symbols_is_interpreter(const struct symbols *symbols, uint32_t number)
{
	const struct module *module = modules_at(symbols->modules, number);
	size_t size_bytes;

	if (!module || module->python_version || module->ruby_version || !symbols->is_offline || !symbols->book)
		return module && (module->python_version || module->ruby_version);
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

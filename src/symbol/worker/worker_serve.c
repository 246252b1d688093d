/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process that reads what traced programs wrote. It has no privileges, sees no file but those whose
 * descriptors it is given, and dies of whatever is too much.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/table.h"
#include "helper/close_file.h"
#include "helper/confine.h"
#include "helper/given.h"
#include "helper/message.h"
#include "symbol/elf/build_id.h"
#include "symbol/jit/jit_maps.h"
#include "symbol/object/file_source.h"
#include "symbol/object/object.h"
#include "symbol/python/python_code.h"
#include "symbol/worker/servers.h"
#include "symbol/worker/worker_message.h"

enum {
	ANSWER_CPU_MS_MAX = 20000, /* a large program's compressed debug file takes 5 s */
	TABLE_SECONDS_MAX = 10,
	TABLE_CPU_MS_MAX = 2000, /* 35,000 functions take 10 ms */
	PRIORITY = -10,          /* there is who waits for it; as nice(2) has it */
	CPU_SECONDS_MAX = 600,   /* of one process, for all its answers */
	MEMORY_MB_MAX = 1 << 10,
	ADDRESS_GB_MAX = 256, /* of files that are mapped: page tables take a 512th part of it */
	STACK_MB_MAX = 16,
	FILES_MAX = 1 << 16,
	OPENED_MAX = 4, /* times a file is opened before it may stay */
};

/* What the worker holds beyond what it began with: of its own, and of files' pages. */
static const size_t own_bytes_max = 16 << 20, own_bytes_last = 512 << 20;
static const size_t mapped_bytes_max = 12 << 20;
/* A file may be as large as what is left then. */
static const size_t address_bytes_max = (size_t)ADDRESS_GB_MAX << 29;

struct server;

struct file {
	const struct server *server;
	struct file_source source; /* data: this */
	struct object *object;     /* NULL: closed to save memory */
	uint32_t number;
	uint64_t used;     /* the question that last used it */
	size_t kept_bytes; /* stays as long as it is open */
	unsigned int opened_count;
	bool is_vdso;
	struct build_id build_id; /* that it must have; of no bytes: any */
	char *path;
};

/* Resident memory. */
struct memory {
	size_t own_bytes, mapped_bytes;
	/* Whether resident or not: what RLIMIT_DATA and RLIMIT_AS are about. */
	size_t data_bytes, address_bytes;
};

struct server {
	struct helper_sockets sockets;
	struct table *files; /* by module number + 1 */
	struct jit_maps *jits;
	struct python_code *python; /* what was read last */
	int statm_fd;
	struct memory first;
	size_t own_bytes_max;
	uint64_t question_count;
	uint64_t begin_cpu_ns, begin_ns; /* when the question came */
	uint32_t memory_mb_max;          /* as the last one had it */
	union worker_content content;
};

/* --- Files ----------------------------------------------------------------------------------- */

static int open_debug(void *data, const char *path, bool is_ours, char *real_path, size_t room_bytes)
{
	const struct file *file = data;

	return given_debug_file(file->server->sockets.other, file->number, path, is_ours, real_path, room_bytes);
}

static int fetch_debug(void *data, const uint8_t *build_id, size_t size_bytes)
{
	const struct file *file = data;

	return servers_ask(file->server->sockets.debuginfod, build_id, size_bytes);
}

static struct file *file_add(struct server *server, const struct question *question)
{
	struct file *file = xcalloc(1, sizeof(*file));

	file->server = server;
	file->source = (struct file_source){ open_debug, fetch_debug, file };
	file->number = question->module;
	file->is_vdso = question->is_vdso;
	file->build_id.size_bytes = question->build_id_bytes;
	memcpy(file->build_id.bytes, question->build_id, sizeof(file->build_id.bytes));
	file->path = xstrdup((const char *)(question + 1));
	table_put(server->files, (uint64_t)question->module + 1, file);
	return file;
}

/* What there is more than at first. The kernel's count takes far less time than malloc's. */
static struct memory memory_used(const struct server *server)
{
	size_t page_bytes = sysconf(_SC_PAGESIZE), all, resident, shared, data;
	struct memory memory = { 0 };
	char text[128];
	ssize_t n = pread(server->statm_fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	if (sscanf(text, "%zu %zu %zu %*u %*u %zu", &all, &resident, &shared, &data) != 4 || shared > resident)
		return memory;
	memory.address_bytes = all * page_bytes;
	memory.data_bytes = data * page_bytes;
	memory.own_bytes = (resident - shared) * page_bytes;
	memory.mapped_bytes = shared * page_bytes;
	memory.own_bytes -= memory.own_bytes < server->first.own_bytes ? memory.own_bytes : server->first.own_bytes;
	memory.mapped_bytes -=
		memory.mapped_bytes < server->first.mapped_bytes ? memory.mapped_bytes : server->first.mapped_bytes;
	return memory;
}

static struct file *find_oldest(const struct server *server, const struct file *current)
{
	struct file *file, *oldest = NULL;
	size_t cursor = 0;

	while ((file = table_next(server->files, &cursor)))
		if (file->object && file != current && (!oldest || file->used < oldest->used))
			oldest = file;
	return oldest;
}

static void object_close(struct file *file)
{
	object_free(file->object);
	file->object = NULL;
	file->kept_bytes = 0;
}

/* Files may be as large as nothing is that anybody needs: they must leave room for others. */
static void close_objects(const struct server *server)
{
	struct file *file;
	size_t cursor = 0;

	while ((file = table_next(server->files, &cursor)))
		if (file->object)
			object_close(file);
}

/*
 * Closes the files that were used least recently, then shrinks the current one, until memory is
 * within its bound. What even that leaves, such as unpacked sections, is the file's to keep.
 */
static void save_own_memory(struct server *server, struct file *current)
{
	size_t max = server->own_bytes_max + current->kept_bytes;
	struct file *oldest;

	do {
		if (memory_used(server).own_bytes <= max)
			return;
		oldest = find_oldest(server, current);
		if (oldest) {
			object_close(oldest);
			malloc_trim(0);
		}
	} while (oldest);
	if (current->object)
		object_shrink(current->object);
	malloc_trim(0);
	current->kept_bytes = memory_used(server).own_bytes;
}

static void save_memory(struct server *server, struct file *current)
{
	struct memory used = memory_used(server);
	struct file *file;
	size_t cursor = 0;

	if (used.address_bytes > address_bytes_max)
		close_objects(server);
	if (used.own_bytes > server->own_bytes_max)
		save_own_memory(server, current);
	if (used.mapped_bytes <= mapped_bytes_max)
		return;
	while ((file = table_next(server->files, &cursor)))
		if (file->object)
			object_release(file->object);
}

/* 0, or why the file cannot be opened. */
static int object_get(struct server *server, struct file *file)
{
	struct build_id build_id;
	int fd = -1;

	file->used = ++server->question_count;
	if (file->object)
		return 0;
	/* What keeps coming back is worth its memory: opening it each time takes far longer. Not that of anybody. */
	if (++file->opened_count >= OPENED_MAX && server->own_bytes_max < own_bytes_last &&
	    server->memory_mb_max >= MEMORY_MB_MAX)
		server->own_bytes_max *= 2;
	if (!file->is_vdso)
		fd = given_file(server->sockets.other, file->number);
	if (!file->is_vdso && fd < 0)
		return fd;
	build_id_read(fd, &build_id);
	if (file->build_id.size_bytes && !build_id_is_same(&build_id, &file->build_id)) {
		file_close(fd);
		return -ESTALE;
	}
	file->object = file->is_vdso ? object_new_vdso() : object_new(fd, &file->source, file->path);
	return 0;
}

/* --- Answers --------------------------------------------------------------------------------- */

/* Default actions of both signals end the process: no file may keep it for ever. 0: no limit. */
static void set_deadline(unsigned int seconds, unsigned int cpu_ms)
{
	struct itimerval cpu = { .it_value = { cpu_ms / 1000, cpu_ms % 1000 * 1000 } };

	alarm(seconds);
	setitimer(ITIMER_PROF, &cpu, NULL);
}

static struct worker_answer answer_header(const struct server *server, const struct question *question, int err)
{
	return (struct worker_answer){
		question->sequence,
		err,
		clock_cpu_ns() - server->begin_cpu_ns,
		clock_ns() - server->begin_ns,
	};
}

static void send_answer(const struct server *server, const struct worker_answer *header, const void *content,
			size_t content_bytes)
{
	const struct iovec parts[2] = {
		{ (void *)header, sizeof(*header) },
		{ (void *)content, content_bytes },
	};

	if (message_send(server->sockets.tool, parts, 2, -1, true))
		_exit(0);
}

static void answer(const struct server *server, const struct question *question, int err, size_t content_bytes)
{
	struct worker_answer header = answer_header(server, question, err);

	send_answer(server, &header, &server->content, err ? 0 : content_bytes);
}

struct table_parts {
	const struct server *server;
	struct worker_answer header;
};

static int send_parts(void *data, const void *bytes, size_t size_bytes)
{
	const struct table_parts *parts = data;

	for (size_t at = 0; at < size_bytes; at += WORKER_PART_BYTES) {
		size_t left = size_bytes - at;

		send_answer(parts->server, &parts->header, (const char *)bytes + at,
			    left < WORKER_PART_BYTES ? left : WORKER_PART_BYTES);
	}
	return 0;
}

static void answer_table(const struct server *server, const struct question *question, struct object *object)
{
	struct unwind_file file = { 0 };
	int err = object_unwind_file(object, &file);
	struct table_parts parts = { server, answer_header(server, question, WORKER_GOES_ON) };

	/* From here on it waits for the tool, and is done with the file. */
	set_deadline(0, 0);
	if (!err)
		err = unwind_file_write(&file, send_parts, &parts);
	parts.header.err = err;
	send_answer(server, &parts.header, NULL, 0);
	unwind_file_fini(&file);
}

/* The size of what is in server->content then. */
static size_t find_answer(struct server *server, struct object *object, const struct question *question)
{
	switch (question->kind) {
	case QUESTION_VARIABLE:
		object_find_variable(object, question->address, question->wants_debug, &server->content.variable);
		return offsetof(struct variable_answer, text) + server->content.variable.text_bytes;
	case QUESTION_SEGMENTS:
		object_segments(object, &server->content.segments);
		return sizeof(server->content.segments);
	case QUESTION_CODE:
		object_read_code(object, question->file_offset, question->size_bytes, &server->content.code);
		return offsetof(struct code_answer, code) + server->content.code.size_bytes;
	case QUESTION_FUNCTION:
		object_find_function(object, question->function, &server->content.function);
		return sizeof(server->content.function);
	case QUESTION_FUNCTIONS:
		object_find_functions(object, question->function, &server->content.functions);
		return sizeof(server->content.functions);
	case QUESTION_SOURCES:
		object_sources(object, &server->content.sources);
		return sizeof(server->content.sources);
	case QUESTION_BUILD_ID:
		object_build_id(object, &server->content.build_id);
		return sizeof(server->content.build_id);
	default:
		object_find(object, question->file_offset, question->wants_debug, &server->content.place);
		return offsetof(struct answer, text) + server->content.place.text_bytes;
	}
}

static void answer_of_file(struct server *server, const struct question *question)
{
	struct file *file = question->has_path ? file_add(server, question)
					       : table_find(server->files, (uint64_t)question->module + 1);
	int err;

	if (!file)
		_exit(1);
	err = object_get(server, file);
	if (err)
		answer(server, question, err, 0);
	else if (question->kind == QUESTION_TABLE)
		answer_table(server, question, file->object);
	else
		answer(server, question, 0, find_answer(server, file->object, question));
	save_memory(server, file);
}

/* --- Generated code and Python's ------------------------------------------------------------- */

static int give_jit(void *data, uint32_t space)
{
	const struct server *server = data;

	return given_jit(server->sockets.other, space);
}

static void answer_jit(struct server *server, const struct question *question)
{
	struct jit_answer *jit = &server->content.jit;
	int err = 0;

	memset(jit, 0, sizeof(*jit));
	if (question->kind == QUESTION_JIT_FORGET)
		jit_maps_forget(server->jits, question->module);
	else if (question->kind == QUESTION_JIT_READ)
		err = jit_maps_read(server->jits, question->module);
	else
		err = jit_maps_find(server->jits, question->module, question->address, jit->name, sizeof(jit->name),
				    &jit->start);
	jit->is_found = !err;
	answer(server, question, err, sizeof(*jit));
}

struct python_process_memory {
	const struct server *server;
	uint32_t pid;
};

static bool read_process(void *data, uint64_t address, void *bytes, size_t size_bytes)
{
	const struct python_process_memory *memory = data;

	return !given_memory(memory->server->sockets.other, memory->pid, address, bytes, size_bytes);
}

static void put_python(struct python_answer *found, const struct python_code *code)
{
	found->kind = PYTHON_IS_NEW;
	found->function_bytes = strlen(code->name) + 1;
	found->file_bytes = strlen(code->file) + 1;
	found->table_bytes = code->table_bytes;
	memcpy(found->data, code->name, found->function_bytes);
	memcpy(found->data + found->function_bytes, code->file, found->file_bytes);
	memcpy(found->data + found->function_bytes + found->file_bytes, code->table, code->table_bytes);
}

static void answer_python(struct server *server, const struct question *question)
{
	const struct python_version *version = python_version_find(question->python_version);
	struct python_process_memory process = { server, question->pid };
	struct python_memory memory = { read_process, &process };
	struct python_answer *found = &server->content.python;
	struct python_code_key key;

	memset(found, 0, offsetof(struct python_answer, data));
	if (version && python_code_read_key(&memory, &version->code, question->address, &key) &&
	    /* Else the code object was freed, and its memory is something else. */
	    (question->python_index == ~0u || question->python_index < key.unit_count)) {
		found->identity = python_code_identity(&key);
		found->first_line = key.first_line;
		if (found->identity == question->python_identity)
			found->kind = PYTHON_IS_KNOWN;
		else if (python_code_read(&memory, &version->code, &key, server->python))
			put_python(found, server->python);
	}
	answer(server, question, 0,
	       offsetof(struct python_answer, data) + found->function_bytes + found->file_bytes + found->table_bytes);
}

/* --- The process ----------------------------------------------------------------------------- */

/* So much, or what there may be at most. */
static void limit(int resource, rlim_t most)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit))
		return;
	if (limit.rlim_max > most)
		limit.rlim_max = most;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(resource, &limit);
}

/* Memory is its own, the stack's, of files that it would make, and what it takes to map all that. */
static void limit_resources(void)
{
	/* Some are never closed: file_close(). */
	limit(RLIMIT_NOFILE, FILES_MAX);
#ifndef __SANITIZE_ADDRESS__ /* which reserves terabytes that it never uses */
	limit(RLIMIT_DATA, (rlim_t)MEMORY_MB_MAX << 20);
	limit(RLIMIT_AS, (rlim_t)ADDRESS_GB_MAX << 30);
#endif
	limit(RLIMIT_STACK, (rlim_t)STACK_MB_MAX << 20);
	limit(RLIMIT_FSIZE, 0);
	limit(RLIMIT_NPROC, 0);
	limit(RLIMIT_CPU, CPU_SECONDS_MAX);
}

/* RLIMIT_DATA does not count what is shared, or grows as stacks do. */
static const unsigned long limited_flags = MAP_TYPE | MAP_GROWSDOWN | MAP_HUGETLB;

/*
 * Namespaces are root's, and a container's root may have none; Landlock is not in every kernel. That neither can
 * be had leaves it to the system calls that nothing is opened.
 */
static int confine_sight(void)
{
	int err = confine_namespaces();

	if (err)
		err = confine_paths(NULL, 0);
	return err == -ENOSYS ? 0 : err;
}

static int confine_calls(void)
{
	/* clang-format off */
	const struct confined_call allowed[] = {
		ALLOWED(read), ALLOWED(pread64), ALLOWED(close), ALLOWED(lseek),
		ALLOWED(fstat), ALLOWED(newfstatat), ALLOWED(fstatfs),
		ALLOWED_IF(fcntl, 1, CONFINED_INT, F_GETFD), ALLOWED_IF(fcntl, 1, CONFINED_INT, F_GETFL),
		ALLOWED(recvmsg), ALLOWED(sendmsg), ALLOWED(poll),
		{ SCMP_SYS(mmap), { { 2, PROT_EXEC, 0 }, { 3, limited_flags, MAP_PRIVATE } } },
		ALLOWED_IF(mprotect, 2, PROT_EXEC, 0),
		ALLOWED(munmap), ALLOWED(mremap), ALLOWED(madvise), ALLOWED(brk),
		ALLOWED(alarm), ALLOWED(setitimer), ALLOWED_IF(prlimit64, 0, CONFINED_INT, 0), ALLOWED(clock_gettime),
		ALLOWED(getpid), ALLOWED(gettid), ALLOWED_IF(tgkill, 0, CONFINED_INT, getpid()),
		ALLOWED(rt_sigprocmask), ALLOWED(rt_sigreturn),
		ALLOWED(restart_syscall), ALLOWED(futex), ALLOWED(getrandom), ALLOWED(exit),
		ALLOWED(exit_group),
	};
	/* clang-format on */

#ifdef __SANITIZE_ADDRESS__ /* which opens files and makes threads of its own */
	(void)allowed;
	return 0;
#endif
	return confine_to_calls(allowed, sizeof(allowed) / sizeof(*allowed));
}

/* In the order of what each still takes. */
static int confine(void)
{
	bool must_change_user = confine_can_change_user();
	int err = confine_sight();

	if (!err)
		err = confine_bounds(NULL, 0);
	if (!err && confine_user() && must_change_user)
		err = -EPERM;
	if (!err)
		err = confine_capabilities(NULL, 0);
	if (!err)
		err = confine_basics();
	return err ? err : confine_calls();
}

static void set_memory_limit(const struct server *server, uint32_t memory_mb_max)
{
#ifndef __SANITIZE_ADDRESS__
	struct rlimit data = { .rlim_max = (rlim_t)MEMORY_MB_MAX << 20 };

	data.rlim_cur = memory_used(server).data_bytes + ((rlim_t)memory_mb_max << 20);
	if (!memory_mb_max || data.rlim_cur > data.rlim_max)
		data.rlim_cur = data.rlim_max;
	setrlimit(RLIMIT_DATA, &data);
#endif
}

static unsigned int smaller(unsigned int limit, unsigned int asked)
{
	return asked && asked < limit ? asked : limit;
}

static void set_limits(struct server *server, const struct question *question)
{
	/* The tool gives these up before: it can end what the opener does for them, too. */
	if (question->kind == QUESTION_PYTHON)
		set_deadline(WORKER_PYTHON_SECONDS_MAX + 1, ANSWER_CPU_MS_MAX);
	else if (question->kind == QUESTION_JIT || question->kind == QUESTION_JIT_READ)
		set_deadline(WORKER_JIT_SECONDS_MAX + 1, ANSWER_CPU_MS_MAX);
	else if (question->kind == QUESTION_TABLE)
		set_deadline(TABLE_SECONDS_MAX, smaller(TABLE_CPU_MS_MAX, question->cpu_ms_max));
	else
		set_deadline(WORKER_ANSWER_SECONDS_MAX, smaller(ANSWER_CPU_MS_MAX, question->cpu_ms_max));
	if (question->memory_mb_max != server->memory_mb_max)
		set_memory_limit(server, question->memory_mb_max);
	server->memory_mb_max = question->memory_mb_max;
	server->begin_cpu_ns = clock_cpu_ns();
	server->begin_ns = clock_ns();
}

static void answer_question(struct server *server, const struct question *question)
{
	switch (question->kind) {
	case QUESTION_JIT:
	case QUESTION_JIT_READ:
	case QUESTION_JIT_FORGET:
		answer_jit(server, question);
		break;
	case QUESTION_PYTHON:
		answer_python(server, question);
		break;
	default:
		answer_of_file(server, question);
	}
}

void worker_serve(const struct helper_sockets *sockets)
{
	struct server *server = xcalloc(1, sizeof(*server));
	union {
		struct question question;
		char bytes[sizeof(struct question) + WORKER_PATH_BYTES_MAX + 1];
	} in;
	int err;

	prctl(PR_SET_NAME, "pinch-symbols");
	setpriority(PRIO_PROCESS, 0, PRIORITY);
	server->sockets = *sockets;
	server->files = table_new();
	server->jits = jit_maps_new(give_jit, server);
	server->python = xcalloc(1, sizeof(*server->python));
	server->own_bytes_max = own_bytes_max;
	server->statm_fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	limit_resources();
	err = confine();
	if (err)
		helper_refuse(sockets, err);
	server->first = memory_used(server);
	for (;;) {
		int fd;
		ssize_t n = message_get(sockets->tool, &in, sizeof(in) - 1, &fd);

		if (fd >= 0)
			close(fd);
		if (n < (ssize_t)sizeof(struct question))
			_exit(0);
		in.bytes[n] = '\0';
		set_limits(server, &in.question);
		answer_question(server, &in.question);
		set_deadline(0, 0);
	}
}

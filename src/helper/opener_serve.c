/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens what traced programs chose, and reads what the kernel says about them: all of it may take for ever,
 * and then this process is killed. It looks into no file except for its first four bytes, and hands descriptors
 * to the worker, which may open nothing itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/table.h"
#include "helper/area_file.h"
#include "helper/close_file.h"
#include "helper/confine.h"
#include "helper/given.h"
#include "helper/held_files.h"
#include "helper/jit_places.h"
#include "helper/maps_file.h"
#include "helper/message.h"
#include "helper/open_file.h"
#include "helper/opener_message.h"
#include "helper/process_use.h"

/* Each of the places takes a descriptor. */
enum { PLACES_OF_USER_MAX = 1024, PLACES_MAX = 4096, READABLE_MAX = 65536 };

struct opener {
	int tool, worker;
	struct held_files *files;
	struct jit_places *jits;
	struct table *readable; /* by pid: the worker may read its memory */
	union {
		struct given header;
		char bytes[sizeof(struct given) + OPENER_MEMORY_BYTES];
	} given;
};

/* --- For the tool ---------------------------------------------------------------------------- */

struct maps_answer {
	const struct opener *opener;
	uint32_t sequence;
};

static void emit_mapping(void *data, const struct file_mapping *mapping)
{
	const struct maps_answer *to = data;
	struct opener_mapping recorded = {
		.answer = { .sequence = to->sequence, .err = OPENER_GOES_ON },
		.start = mapping->start,
		.end = mapping->end,
		.file_offset = mapping->file_offset,
		.device = mapping->device,
		.inode = mapping->inode,
	};
	struct iovec parts[2] = {
		{ &recorded, sizeof(recorded) },
		{ (void *)mapping->path, strnlen(mapping->path, OPENER_PATH_BYTES - 1) + 1 },
	};
	char cut[OPENER_PATH_BYTES];

	if (parts[1].iov_len == OPENER_PATH_BYTES) {
		snprintf(cut, sizeof(cut), "%s", mapping->path);
		parts[1].iov_base = cut;
	}
	message_send(to->opener->tool, parts, 2, -1, true);
}

/* What a process wrote, as a path: words end with a line's end. */
static void emit_words(const struct maps_answer *to, char *words, size_t size_bytes)
{
	while (size_bytes && (!words[size_bytes - 1] || words[size_bytes - 1] == '\n'))
		size_bytes--;
	for (size_t i = 0; i < size_bytes; i++)
		if (!words[i])
			words[i] = '\n';
	words[size_bytes] = '\0';
	emit_mapping((void *)to, &(struct file_mapping){ .path = words });
}

static void emit_file(const struct maps_answer *to, uint32_t pid, const char *name)
{
	char path[32], words[OPENER_PATH_BYTES];
	size_t n = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	file = fopen(path, "re");
	if (file) {
		n = fread(words, 1, sizeof(words) - 1, file);
		fclose(file);
	}
	emit_words(to, words, n);
}

static int tell_title(const struct maps_answer *to, uint32_t pid)
{
	char path[32], words[OPENER_PATH_BYTES];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	n = readlink(path, words, sizeof(words) - 1);
	if (n < 0)
		return -ENOENT;
	emit_file(to, pid, "cmdline");
	emit_words(to, words, n);
	emit_file(to, pid, "comm");
	return 0;
}

static void emit_use(void *data, const struct process_use *use)
{
	emit_mapping(data, &(struct file_mapping){ .start = use->pid,
						   .end = use->read_bytes,
						   .file_offset = use->write_bytes,
						   .device = use->cpu_ns,
						   .inode = use->call_bytes,
						   .path = use->name });
}

static void allow_memory(struct opener *opener, uint32_t pid)
{
	if (table_count(opener->readable) < READABLE_MAX)
		table_put(opener->readable, pid, opener);
}

static void answer_tool(struct opener *opener, const struct opener_request *request)
{
	struct opener_answer answer = { .sequence = request->sequence };
	struct maps_answer maps = { opener, request->sequence };
	bool is_own = true;
	int fd = -1;

	switch (request->kind) {
	case OPENER_FILE:
		answer.err = held_files_add(opener->files, request, &answer.stamp);
		break;
	case OPENER_STAMP:
		answer.err = held_files_stamp(opener->files, request->number, &answer.stamp);
		break;
	case OPENER_DROP:
		held_files_drop(opener->files, request->number);
		break;
	case OPENER_MAPS:
		answer.err = maps_file_read(request->pid, emit_mapping, &maps);
		break;
	case OPENER_TITLE:
		answer.err = tell_title(&maps, request->pid);
		break;
	case OPENER_USE:
		answer.err = process_use_read(emit_use, &maps);
		break;
	case OPENER_JIT:
		answer.err = jit_places_find(opener->jits, request->number, request->pid);
		break;
	case OPENER_JIT_FORGET:
		jit_places_forget(opener->jits, request->number);
		break;
	case OPENER_MEMORY:
		allow_memory(opener, request->pid);
		break;
	case OPENER_GIVE:
		fd = held_files_open_local(opener->files, request->number, request->pid, &is_own);
		answer.err = fd < 0 ? fd : 0;
		break;
	case OPENER_AREA:
		fd = area_file_open(request->pid, request->number);
		answer.err = fd < 0 ? fd : 0;
		break;
	default:
		answer.err = -EINVAL;
	}
	message_put(opener->tool, &answer, sizeof(answer), fd);
	if (fd >= 0 && is_own)
		file_close(fd);
}

/* --- For the worker -------------------------------------------------------------------------- */

static bool is_elf(int fd)
{
	char magic[4];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) && !memcmp(magic, "\177ELF", 4);
}

/*
 * A debug file says what the program's functions are called: it must be root's, or belong to who owns the
 * program. Nothing but ELF files: the worker shall not read others.
 */
static int open_debug(struct opener *opener, const struct wanted *wanted)
{
	bool is_ours = wanted->kind == WANTED_OUR_DEBUG;
	struct given *given = &opener->given.header;
	struct file_stamp program, debug;
	bool skips_tree;
	char link[32];
	uint32_t pid;
	ssize_t n;
	int fd;

	if (held_files_known(opener->files, wanted->number, &program, &pid, &skips_tree) || (skips_tree && !is_ours))
		return -ENOENT;
	fd = file_open_in_root(is_ours ? 0 : pid, wanted->path, true);
	if (fd < 0)
		return fd;
	if (file_stamp_read(fd, &debug) || !file_stamp_may_describe(&debug, &program) || !is_elf(fd)) {
		file_close(fd);
		return -EPERM;
	}
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, given->bytes, OPENER_PATH_BYTES - 1);
	given->bytes[n > 0 ? n : 0] = '\0';
	given->size_bytes = (n > 0 ? n : 0) + 1;
	return fd;
}

static int read_memory(struct opener *opener, const struct wanted *wanted)
{
	struct given *given = &opener->given.header;
	struct iovec local = { given->bytes, wanted->size_bytes };
	struct iovec remote = { (void *)wanted->address, wanted->size_bytes };

	if (wanted->size_bytes > OPENER_MEMORY_BYTES || !table_find(opener->readable, wanted->pid))
		return -EPERM;
	if (process_vm_readv(wanted->pid, &local, 1, &remote, 1, 0) != (ssize_t)wanted->size_bytes)
		return -EFAULT;
	given->size_bytes = wanted->size_bytes;
	return 0;
}

/*
 * One call reads all of them, unless there is one that cannot be read: then the next call begins behind it. What is
 * not read is 0.
 */
static int read_pieces(struct opener *opener, const struct wanted *wanted)
{
	const struct memory_piece *pieces = (const struct memory_piece *)wanted->path;
	struct iovec remote[OPENER_PIECES_MAX];
	struct given *given = &opener->given.header;
	char *bytes = given->bytes + OPENER_PIECES_MAX / 8;
	size_t size_bytes = 0, at = 0, count = wanted->number;

	if (count > OPENER_PIECES_MAX || !table_find(opener->readable, wanted->pid))
		return -EPERM;
	for (size_t i = 0; i < count; i++) {
		if (pieces[i].size_bytes > OPENER_MEMORY_BYTES - OPENER_PIECES_MAX / 8 - size_bytes)
			return -E2BIG;
		size_bytes += pieces[i].size_bytes;
		remote[i] = (struct iovec){ (void *)pieces[i].address, pieces[i].size_bytes };
	}
	memset(given->bytes, 0, OPENER_PIECES_MAX / 8 + size_bytes);
	for (size_t i = 0; i < count; i++) {
		struct iovec local = { bytes + at, size_bytes - at };
		ssize_t n = process_vm_readv(wanted->pid, &local, 1, remote + i, count - i, 0);

		for (; n > 0 && i < count && (size_t)n >= remote[i].iov_len; i++) {
			given->bytes[i / 8] |= 1 << i % 8;
			n -= remote[i].iov_len;
			at += remote[i].iov_len;
		}
		if (i < count) {
			memset(bytes + at, 0, remote[i].iov_len);
			at += remote[i].iov_len;
		}
	}
	given->size_bytes = OPENER_PIECES_MAX / 8 + size_bytes;
	return 0;
}

static void answer_worker(struct opener *opener, const struct wanted *wanted)
{
	struct given *given = &opener->given.header;
	bool is_own = true;
	int result;

	*given = (struct given){ 0 };
	switch (wanted->kind) {
	case WANTED_FILE:
		result = held_files_open(opener->files, wanted->number, &is_own);
		break;
	case WANTED_DEBUG:
	case WANTED_OUR_DEBUG:
		result = open_debug(opener, wanted);
		break;
	case WANTED_JIT:
		result = jit_places_open(opener->jits, wanted->number);
		break;
	case WANTED_MEMORY:
		given->err = read_memory(opener, wanted);
		result = -1;
		break;
	case WANTED_PIECES:
		given->err = read_pieces(opener, wanted);
		result = -1;
		break;
	default:
		result = -EINVAL;
	}
	if (wanted->kind != WANTED_MEMORY && wanted->kind != WANTED_PIECES)
		given->err = result < 0 ? result : 0;
	if (given->err)
		given->size_bytes = 0;
	message_put(opener->worker, given, sizeof(*given) + given->size_bytes, result);
	if (result >= 0 && is_own)
		file_close(result);
}

/* --- The process ----------------------------------------------------------------------------- */

static int confine(void)
{
	static const int kept[] = { CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_CHECKPOINT_RESTORE };
	/* clang-format off */
	static const struct confined_call allowed[] = {
		ALLOWED(read), ALLOWED(pread64), ALLOWED(close), ALLOWED(lseek), ALLOWED(getdents64),
		ALLOWED_IF(openat, 2, O_ACCMODE, O_RDONLY), ALLOWED_IF(open, 1, O_ACCMODE, O_RDONLY),
		ALLOWED(openat2), ALLOWED(fstat), ALLOWED(newfstatat), ALLOWED(statx), ALLOWED(fstatfs), ALLOWED(statfs),
		ALLOWED(readlink), ALLOWED(readlinkat), ALLOWED(process_vm_readv),
		ALLOWED(recvmsg), ALLOWED(sendmsg), ALLOWED(poll), ALLOWED(ppoll),
		ALLOWED(brk), ALLOWED(mremap), ALLOWED(munmap), ALLOWED(madvise),
		ALLOWED_IF(mmap, 3, MAP_ANONYMOUS, MAP_ANONYMOUS),
		ALLOWED_IF(prctl, 0, CONFINED_INT, PR_SET_NAME),
		ALLOWED(futex), ALLOWED(getpid), ALLOWED(rt_sigreturn), ALLOWED(restart_syscall),
		ALLOWED(getrandom), ALLOWED(clock_gettime), ALLOWED(exit), ALLOWED(exit_group),
	};
	/* clang-format on */
	int err = confine_basics();

	if (!err)
		err = confine_capabilities(kept, sizeof(kept) / sizeof(*kept));
	return err ? err : confine_to_calls(allowed, sizeof(allowed) / sizeof(*allowed));
}

/* There may be many files. */
static void raise_limits(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* One message, its text ended; false: there is none, or nobody who could send one. */
static bool receive(int socket, void *bytes, size_t header_bytes, size_t capacity_bytes, int *fd, bool *is_closed)
{
	struct iovec part = { bytes, capacity_bytes - 1 };
	ssize_t n = message_receive(socket, &part, 1, fd, false);

	if (n == 0 || (n < 0 && n != -EAGAIN && n != -EMSGSIZE))
		*is_closed = true;
	if (n < (ssize_t)header_bytes)
		return false;
	((char *)bytes)[n] = '\0';
	return true;
}

union message {
	struct opener_request request;
	struct wanted wanted;
	char bytes[sizeof(struct opener_request) + OPENER_PATH_BYTES + 1];
};

static void take_worker(struct opener *opener, int fd)
{
	if (opener->worker >= 0)
		close(opener->worker);
	opener->worker = fd;
}

/* The tool's come first: what it says of a file is sent before the worker's questions about it. */
static bool step(struct opener *opener, const struct pollfd *fds)
{
	bool is_tool_gone = false, is_worker_gone = false;
	union message in = { .bytes = { 0 } };
	int fd = -1;

	if (fds[0].revents) {
		if (!receive(opener->tool, &in, sizeof(in.request), sizeof(in), &fd, &is_tool_gone))
			return !is_tool_gone;
		if (in.request.kind == OPENER_WORKER)
			take_worker(opener, fd);
		else
			answer_tool(opener, &in.request);
	} else if (receive(opener->worker, &in, sizeof(in.wanted), sizeof(in), &fd, &is_worker_gone)) {
		prctl(PR_SET_NAME, OPENER_NAME_FOR_WORKER);
		answer_worker(opener, &in.wanted);
		prctl(PR_SET_NAME, OPENER_NAME);
	} else if (is_worker_gone) {
		take_worker(opener, -1);
	}
	return true;
}

void opener_serve(const struct helper_sockets *sockets)
{
	struct opener *opener = xcalloc(1, sizeof(*opener));
	struct pollfd fds[2];
	int err;

	prctl(PR_SET_NAME, OPENER_NAME);
	raise_limits();
	/* Files must be opened before their processes end; it takes next to no time. */
	setpriority(PRIO_PROCESS, 0, -20);
	opener->tool = sockets->tool;
	opener->worker = sockets->other;
	opener->files = held_files_new();
	opener->jits = jit_places_new(PLACES_OF_USER_MAX, PLACES_MAX);
	opener->readable = table_new();
	err = confine();
	if (err)
		helper_refuse(sockets, err);
	do {
		fds[0] = (struct pollfd){ .fd = opener->tool, .events = POLLIN };
		fds[1] = (struct pollfd){ .fd = opener->worker, .events = POLLIN };
		poll(fds, 2, -1);
	} while (step(opener, fds));
	_exit(0);
}

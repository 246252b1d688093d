/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/opener.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/pause.h"
#include "base/table.h"
#include "helper/message.h"
#include "helper/opener_message.h"
#include "helper/pair.h"
#include "helper/users.h"

enum {
	WAITING_MAX = 4096,
	DISTRUSTED_MAX = 65536,
	WAIT_MS = 10,
	TRIES_MAX = 3, /* of what did not fail on its own */
};

/* How long neither helper may do anything, and how long a request may take however much is done. */
static const uint64_t stuck_ns = 1000000000, request_ns_max = 2000000000;

/* A request whose answer has not come. */
struct waiting {
	uint32_t sequence, kind, pid, user;
	uint64_t device;
	uint64_t begun_ns; /* when it was sent, or became the first */
	uint64_t held_ns;  /* when the worker was last seen to be in its way */
	char *path;        /* NULL: none */
};

/* What somebody waits for. */
struct wanted_answer {
	uint32_t sequence; /* 0: nobody waits */
	bool is_here;
	bool is_lost; /* with an opener that was given up for something else */
	int err, fd;
	struct file_stamp stamp;
	struct file_mapping *mappings; /* of a process, each with its path */
	size_t mapping_count, mapping_capacity;
};

struct opener {
	struct helper_pair *pair;
	void (*on_stuck)(void *data, uint32_t pid, const char *path);
	bool (*on_worker)(void *data, bool is_late); /* NULL: there is none */
	void *data, *on_worker_data;
	uint32_t number; /* of the process that knows what follows */
	uint32_t last_sequence;
	struct table *held;                  /* numbers + 1 */
	struct table *jits;                  /* spaces + 1 */
	struct table *readable;              /* processes */
	struct waiting waiting[WAITING_MAX]; /* a ring */
	size_t waiting_begin, waiting_count;
	/* What is not examined any more. */
	struct table *distrusted;         /* processes, +1 */
	struct table *distrusted_devices; /* +1 */
	struct table *distrusted_trees;   /* of processes, +1 */
	struct wanted_answer wanted;
	char in[sizeof(struct opener_mapping) + OPENER_PATH_BYTES + 1];
};

struct opener *opener_new(struct helper_pair *pair, void (*on_stuck)(void *data, uint32_t pid, const char *path),
			  void *data)
{
	struct opener *opener = xcalloc(1, sizeof(*opener));

	opener->pair = pair;
	opener->on_stuck = on_stuck;
	opener->data = data;
	opener->held = table_new();
	opener->jits = table_new();
	opener->readable = table_new();
	opener->distrusted = table_new();
	opener->distrusted_devices = table_new();
	opener->distrusted_trees = table_new();
	return opener;
}

void opener_on_worker(struct opener *opener, bool (*on_worker)(void *data, bool is_late), void *data)
{
	opener->on_worker = on_worker;
	opener->on_worker_data = data;
}

/* --- What is waited for ---------------------------------------------------------------------- */

static void waiting_pop(struct opener *opener)
{
	free(opener->waiting[opener->waiting_begin].path);
	opener->waiting_begin = (opener->waiting_begin + 1) % WAITING_MAX;
	opener->waiting_count--;
	opener->waiting[opener->waiting_begin].begun_ns = clock_ns();
}

static void waiting_push(struct opener *opener, const struct opener_request *request, const char *path)
{
	size_t at = (opener->waiting_begin + opener->waiting_count++) % WAITING_MAX;

	opener->waiting[at] = (struct waiting){
		.sequence = request->sequence,
		.kind = request->kind,
		.pid = request->pid,
		.user = users_of(helper_pair_users(opener->pair), request->pid),
		.device = request->device,
		.begun_ns = clock_ns(),
		.path = request->kind == OPENER_FILE ? xstrdup(path) : NULL,
	};
}

/* Nothing that the process before knew is known to the next one. */
static void forget(struct opener *opener)
{
	while (opener->waiting_count)
		waiting_pop(opener);
	table_free(opener->held);
	table_free(opener->jits);
	table_free(opener->readable);
	opener->held = table_new();
	opener->jits = table_new();
	opener->readable = table_new();
	opener->number = 0;
	if (opener->wanted.sequence && !opener->wanted.is_here) {
		opener->wanted.is_here = opener->wanted.is_lost = true;
		opener->wanted.err = -ETIMEDOUT;
	}
}

void opener_free(struct opener *opener)
{
	if (!opener)
		return;
	forget(opener);
	table_free(opener->held);
	table_free(opener->jits);
	table_free(opener->readable);
	table_free(opener->distrusted);
	table_free(opener->distrusted_devices);
	table_free(opener->distrusted_trees);
	free(opener);
}

static void put_bounded(struct table *table, uint64_t key)
{
	if (table_count(table) < DISTRUSTED_MAX)
		table_put(table, key, table);
}

/* Of a disk of this machine, one file says nothing of the others. */
static bool may_hang(uint64_t device)
{
	return device && !major(device);
}

bool opener_distrust_tree(struct opener *opener, uint32_t pid)
{
	if (table_find(opener->distrusted_trees, (uint64_t)pid + 1))
		return false;
	put_bounded(opener->distrusted_trees, (uint64_t)pid + 1);
	opener->on_stuck(opener->data, pid, NULL);
	return true;
}

void opener_distrust_file(struct opener *opener, uint64_t device, uint32_t pid, const char *path)
{
	if (may_hang(device))
		put_bounded(opener->distrusted_devices, device + 1);
	opener->on_stuck(opener->data, pid, path);
}

void opener_distrust(struct opener *opener, uint32_t pid)
{
	put_bounded(opener->distrusted, (uint64_t)pid + 1);
}

/* To open a file, its own file system is asked and, if its process has ended, the file tree of that. */
static void distrust(struct opener *opener, const struct waiting *waiting)
{
	if (waiting->kind == OPENER_FILE) {
		if (!opener_distrust_tree(opener, waiting->pid) || may_hang(waiting->device))
			opener_distrust_file(opener, waiting->device, waiting->pid, waiting->path);
		return;
	}
	if (waiting->kind == OPENER_STAMP) {
		opener_distrust_file(opener, waiting->device, waiting->pid, NULL);
		return;
	}
	if (waiting->kind == OPENER_USE)
		return; /* which process it was is not known */
	opener_distrust(opener, waiting->pid);
	opener->on_stuck(opener->data, waiting->pid, NULL);
}

/*
 * What the worker wants is in its way: one thing all the time, for the tool comes first. A worker that has been
 * taken over may have wanted it and died.
 */
static void on_held(struct opener *opener, struct waiting *first)
{
	bool is_late = clock_ns() > first->begun_ns + request_ns_max;

	first->held_ns = clock_ns();
	if (opener->on_worker && opener->on_worker(opener->on_worker_data, is_late))
		return;
	if (!is_late)
		return;
	helper_pair_fail(opener->pair, USER_UNKNOWN);
	forget(opener);
}

/* Both helpers are replaced if the first one that is waited for is stuck, or takes too long. */
static void check_stuck(struct opener *opener)
{
	struct waiting *first = &opener->waiting[opener->waiting_begin];
	uint64_t begun_ns;
	bool is_wanted;

	if (!opener->waiting_count)
		return;
	/* That is not its own fault. */
	if (helper_pair_opener_serves_worker(opener->pair)) {
		on_held(opener, first);
		return;
	}
	begun_ns = first->held_ns > first->begun_ns ? first->held_ns : first->begun_ns;
	if (!helper_pair_is_stuck(opener->pair, begun_ns, stuck_ns) && clock_ns() < begun_ns + request_ns_max)
		return;
	distrust(opener, first);
	helper_pair_fail(opener->pair, first->user);
	is_wanted = opener->wanted.sequence == first->sequence;
	forget(opener);
	opener->wanted.is_lost &= !is_wanted;
}

static void on_answer(struct opener *opener, const struct opener_answer *answer, int fd)
{
	while (opener->waiting_count && opener->waiting[opener->waiting_begin].sequence != answer->sequence)
		waiting_pop(opener);
	if (opener->waiting_count)
		waiting_pop(opener);
	if (opener->wanted.sequence == answer->sequence) {
		opener->wanted.is_here = true;
		opener->wanted.err = answer->err;
		opener->wanted.stamp = answer->stamp;
		opener->wanted.fd = fd;
	} else if (fd >= 0) {
		close(fd);
	}
}

static void on_mapping(struct opener *opener, const struct opener_mapping *recorded)
{
	struct wanted_answer *wanted = &opener->wanted;

	if (!wanted->sequence || wanted->sequence != recorded->answer.sequence)
		return;
	if (wanted->mapping_count == wanted->mapping_capacity) {
		wanted->mapping_capacity = 2 * wanted->mapping_capacity + 64;
		wanted->mappings = xrealloc(wanted->mappings, wanted->mapping_capacity, sizeof(*wanted->mappings));
	}
	wanted->mappings[wanted->mapping_count++] = (struct file_mapping){
		.start = recorded->start,
		.end = recorded->end,
		.file_offset = recorded->file_offset,
		.device = recorded->device,
		.inode = recorded->inode,
		.path = xstrdup(recorded->path),
	};
}

/* One answer, if there is one; false: none. */
static bool take_answer(struct opener *opener)
{
	struct iovec part = { opener->in, sizeof(opener->in) - 1 };
	const struct opener_answer *answer = (const void *)opener->in;
	int fd;
	ssize_t n = message_receive(helper_pair_opener(opener->pair), &part, 1, &fd, false);

	if (n == -EAGAIN)
		return false;
	if (n < (ssize_t)sizeof(*answer)) {
		/* It died, of nothing that we know of but what it may have said. */
		helper_pair_hear(opener->pair, opener->in, n);
		helper_pair_fail(opener->pair, USER_UNKNOWN);
		forget(opener);
		return false;
	}
	opener->in[n] = '\0';
	if (answer->err != OPENER_GOES_ON) {
		on_answer(opener, answer, fd);
		return true;
	}
	if (fd >= 0)
		close(fd);
	if (n >= (ssize_t)sizeof(struct opener_mapping))
		on_mapping(opener, (const void *)opener->in);
	return true;
}

void opener_step(struct opener *opener)
{
	if (opener->number && opener->number != helper_pair_opener_number(opener->pair))
		forget(opener);
	while (opener->number && take_answer(opener))
		;
	if (opener->number)
		check_stuck(opener);
}

/* --- Asking ---------------------------------------------------------------------------------- */

static int begin(struct opener *opener)
{
	int err = helper_pair_begin(opener->pair);

	if (opener->number != helper_pair_opener_number(opener->pair))
		forget(opener);
	opener->number = helper_pair_opener_number(opener->pair);
	return err;
}

/* Until something can be sent, or has come. */
static void wait_for(struct opener *opener, short events)
{
	struct pollfd poll_fd = { .fd = helper_pair_opener(opener->pair), .events = events | POLLIN };

	poll(&poll_fd, 1, WAIT_MS);
	opener_step(opener);
	pause_take_if_due(helper_pair_pause(opener->pair));
}

static int send_request(struct opener *opener, struct opener_request *request, const char *path)
{
	struct iovec parts[2] = { { request, sizeof(*request) }, { (void *)path, strlen(path) + 1 } };
	int err = strlen(path) < OPENER_PATH_BYTES ? begin(opener) : -ENAMETOOLONG;
	uint32_t number = opener->number;

	if (err)
		return err;
	if (!++opener->last_sequence)
		opener->last_sequence++;
	request->sequence = opener->last_sequence;
	for (;;) {
		err = opener->waiting_count == WAITING_MAX
			      ? -EAGAIN
			      : message_send(helper_pair_opener(opener->pair), parts, 2, -1, false);
		if (err != -EAGAIN)
			break;
		wait_for(opener, POLLOUT);
		if (opener->number != number) {
			opener->wanted.is_lost = true;
			return -ETIMEDOUT;
		}
	}
	if (err) {
		helper_pair_fail(opener->pair, USER_UNKNOWN);
		forget(opener);
		return -ECHILD;
	}
	return 0;
}

bool opener_refuses(const struct opener *opener, uint32_t pid)
{
	struct users *users = helper_pair_users(opener->pair);

	return pid &&
	       (table_find(opener->distrusted, (uint64_t)pid + 1) || users_are_barred(users, users_of(users, pid)));
}

static int send(struct opener *opener, struct opener_request *request, const char *path)
{
	int err;

	if (opener_refuses(opener, request->pid) ||
	    (request->device && table_find(opener->distrusted_devices, request->device + 1)))
		return -ETIMEDOUT;
	err = send_request(opener, request, path);
	if (!err)
		waiting_push(opener, request, path);
	return err;
}

bool opener_holds(const struct opener *opener, uint32_t number)
{
	return opener->number == helper_pair_opener_number(opener->pair) &&
	       table_find(opener->held, (uint64_t)number + 1);
}

void opener_find_jit(struct opener *opener, uint32_t number, uint32_t pid)
{
	if (!send(opener, &(struct opener_request){ .kind = OPENER_JIT, .number = number, .pid = pid }, ""))
		table_put(opener->jits, (uint64_t)number + 1, opener);
}

bool opener_knows_jit(const struct opener *opener, uint32_t number)
{
	return opener->number == helper_pair_opener_number(opener->pair) &&
	       table_find(opener->jits, (uint64_t)number + 1);
}

void opener_forget_jit(struct opener *opener, uint32_t number)
{
	table_take(opener->jits, (uint64_t)number + 1);
	if (opener->number)
		send(opener, &(struct opener_request){ .kind = OPENER_JIT_FORGET, .number = number }, "");
}

int opener_allow_memory(struct opener *opener, uint32_t pid)
{
	int err = begin(opener);

	if (err || table_find(opener->readable, pid))
		return err;
	err = send(opener, &(struct opener_request){ .kind = OPENER_MEMORY, .pid = pid }, "");
	if (!err)
		table_put(opener->readable, pid, opener);
	return err;
}

static void free_mappings(struct wanted_answer *wanted)
{
	for (size_t i = 0; i < wanted->mapping_count; i++)
		free((char *)wanted->mappings[i].path);
	free(wanted->mappings);
	wanted->mappings = NULL;
	wanted->mapping_count = 0;
}

/* Sends the request and waits for its answer, which is in opener->wanted then. */
static int ask_once(struct opener *opener, struct opener_request *request, const char *path)
{
	int err;

	free_mappings(&opener->wanted);
	opener->wanted = (struct wanted_answer){ .fd = -1 };
	err = send(opener, request, path);
	if (!err) {
		opener->wanted.sequence = opener->last_sequence;
		while (!opener->wanted.is_here)
			wait_for(opener, 0);
		err = opener->wanted.err;
	}
	opener->wanted.sequence = 0;
	return err;
}

/* The same again if the opener was lost at something else meanwhile. */
static int ask(struct opener *opener, struct opener_request *request, const char *path)
{
	int err, tries = 0;

	do
		err = ask_once(opener, request, path);
	while (err == -ETIMEDOUT && opener->wanted.is_lost && ++tries < TRIES_MAX);
	return err;
}

int opener_hold(struct opener *opener, const struct opener_file *file, struct file_stamp *stamp)
{
	struct opener_request request = {
		.kind = OPENER_FILE,
		.number = file->number,
		.pid = file->pid,
		.start = file->start,
		.end = file->end,
		.device = file->device,
		.inode = file->inode,
		.skips_tree = table_find(opener->distrusted_trees, (uint64_t)file->pid + 1) != NULL,
	};
	int err = ask(opener, &request, file->path);

	if (opener->number)
		table_put(opener->held, (uint64_t)file->number + 1, opener);
	*stamp = opener->wanted.stamp;
	return err;
}

int opener_stamp(struct opener *opener, uint32_t number, uint64_t device, uint32_t pid, struct file_stamp *stamp)
{
	struct opener_request request = {
		.kind = OPENER_STAMP,
		.number = number,
		.device = device,
		.pid = pid,
	};
	int err = ask(opener, &request, "");

	*stamp = opener->wanted.stamp;
	return err;
}

void opener_drop(struct opener *opener, uint32_t number)
{
	table_take(opener->held, (uint64_t)number + 1);
	if (opener->number)
		send(opener, &(struct opener_request){ .kind = OPENER_DROP, .number = number }, "");
}

int opener_read_maps(struct opener *opener, uint32_t pid,
		     void (*on_each)(void *data, const struct file_mapping *mapping), void *data)
{
	int err = ask(opener, &(struct opener_request){ .kind = OPENER_MAPS, .pid = pid }, "");
	struct wanted_answer recorded = opener->wanted;

	/* What is called may ask other things, of this opener, too. */
	opener->wanted = (struct wanted_answer){ .fd = -1 };
	for (size_t i = 0; i < recorded.mapping_count && (!err || err == -E2BIG); i++)
		on_each(data, &recorded.mappings[i]);
	free_mappings(&recorded);
	return err;
}

int opener_read_words(struct opener *opener, uint32_t pid, struct process_words *words)
{
	int err = ask(opener, &(struct opener_request){ .kind = OPENER_TITLE, .pid = pid }, "");
	const struct wanted_answer *recorded = &opener->wanted;

	if (!err && recorded->mapping_count != 3)
		err = -EIO;
	if (!err) {
		snprintf(words->line, sizeof(words->line), "%s", recorded->mappings[0].path);
		snprintf(words->path, sizeof(words->path), "%s", recorded->mappings[1].path);
		snprintf(words->name, sizeof(words->name), "%s", recorded->mappings[2].path);
	}
	free_mappings(&opener->wanted);
	return err;
}

int opener_read_use(struct opener *opener, void (*on_each)(void *data, const struct process_use *use), void *data)
{
	int err = ask(opener, &(struct opener_request){ .kind = OPENER_USE }, "");
	const struct wanted_answer *recorded = &opener->wanted;

	for (size_t i = 0; !err && i < recorded->mapping_count; i++) {
		const struct file_mapping *mapping = &recorded->mappings[i];
		struct process_use use = {
			.pid = mapping->start,
			.read_bytes = mapping->end,
			.write_bytes = mapping->file_offset,
			.call_bytes = mapping->inode,
			.cpu_ns = mapping->device,
		};

		snprintf(use.name, sizeof(use.name), "%s", mapping->path);
		on_each(data, &use);
	}
	free_mappings(&opener->wanted);
	return err;
}

static int ask_for_file(struct opener *opener, enum opener_request_kind kind, uint32_t number, uint32_t pid)
{
	int err = ask(opener, &(struct opener_request){ .kind = kind, .number = number, .pid = pid }, "");

	return err ? err : opener->wanted.fd >= 0 ? opener->wanted.fd : -EIO;
}

int opener_give(struct opener *opener, uint32_t number, uint32_t pid)
{
	return ask_for_file(opener, OPENER_GIVE, number, pid);
}

int opener_give_area(struct opener *opener, uint32_t pid, uint32_t number)
{
	return ask_for_file(opener, OPENER_AREA, number, pid);
}

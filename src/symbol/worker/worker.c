/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/worker/worker_internal.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/pause.h"
#include "helper/java/attacher.h"
#include "helper/message.h"
#include "helper/opener.h"
#include "helper/opener_message.h"
#include "helper/pair.h"
#include "helper/users.h"
#include "symbol/answer/answer_book.h"
#include "symbol/worker/budget.h"
#include "symbol/worker/servers.h"
#include "symbol/worker/worker_book.h"

enum {
	ASKED_MAX = 1024, /* questions without an answer; more are refused */
	WAIT_MS = 10,
	CHECK_MS = 100,
	SENT_AGAIN_MAX = 3, /* what the helpers were lost at something else with */
};

/* How long neither of the helpers may do anything. A disk can take a while; a process's memory cannot. */
static const uint64_t second_ns = 1000000000, stuck_ns = 2000000000, stuck_memory_ns = 1000000000,
		      stuck_servers_ns = 40000000000;

const struct helper_roles *worker_roles(void)
{
	static const struct helper_roles alone = { opener_serve, worker_serve, NULL, attacher_serve };
	static const struct helper_roles with_servers = { opener_serve, worker_serve, servers_serve, attacher_serve };

	return servers_are_wanted() ? &with_servers : &alone;
}

static bool on_opener_held(void *data, bool is_late);

struct worker *worker_new(struct helper_pair *pair, struct opener *opener)
{
	struct worker *worker = xcalloc(1, sizeof(*worker));

	worker->pair = pair;
	worker->opener = opener;
	worker->budget = budget_new();
	opener_on_worker(opener, on_opener_held, worker);
	asked_list_init(&worker->asked);
	asked_list_init(&worker->later);
	asked_list_init(&worker->answered);
	return worker;
}

void worker_free(struct worker *worker)
{
	if (!worker)
		return;
	asked_list_clear(&worker->asked);
	asked_list_clear(&worker->later);
	asked_list_clear(&worker->answered);
	answer_book_free(worker->ahead);
	budget_free(worker->budget);
	free(worker->is_known);
	free(worker);
}

void worker_use_book(struct worker *worker, struct answer_book *book, bool is_alone)
{
	worker->book = book;
	worker->is_book_alone = is_alone;
	if (is_alone)
		helper_pair_end(worker->pair);
}

int worker_poll_fd(const struct worker *worker)
{
	return worker->asked.count ? helper_pair_worker(worker->pair) : -1;
}

/* --- Answers --------------------------------------------------------------------------------- */

/* It is looked at when others have come, too. */
static struct go_answer *keep_goroutines(const struct worker *worker)
{
	return memcpy(xcalloc(1, worker->content_bytes), &worker->content.go, worker->content_bytes);
}

/* It has its answer, which is in worker->content if err is 0. */
static void settle_asked(struct worker *worker, struct asked *asked, int err)
{
	asked->err = err;
	if (asked->is_ahead) {
		worker->ahead_count--;
		if (!err)
			worker_put_in_book(worker, asked->module, &asked->question);
		asked_free(asked);
		return;
	}
	if (!err && asked->on_goroutines)
		asked->goroutines = keep_goroutines(worker);
	if (!err && asked->on_jvm)
		asked->jvm = worker->content.jvm;
	if (!asked->is_awaited) {
		asked_list_add(&worker->answered, asked);
		return;
	}
	worker->err = err;
	worker->is_here = true;
	asked_free(asked);
}

/* The same of the first one. */
static void finish(struct worker *worker, int err)
{
	struct asked *asked = asked_list_take(&worker->asked);

	if (worker->asked.first)
		worker->asked.first->first_ns = clock_ns();
	settle_asked(worker, asked, err);
}

/* The process is gone: what it had not answered is asked again. */
static void ask_again(struct worker *worker)
{
	struct asked_list others = worker->asked;
	struct asked *asked;
	int err;

	worker->number = 0;
	if (!others.first)
		others.end = &others.first;
	asked_list_init(&worker->asked);
	while ((asked = asked_list_take(&others))) {
		err = asked->sent_again_count++ < SENT_AGAIN_MAX ? worker_send(worker, asked) : -ECHILD;
		if (err)
			settle_asked(worker, asked, err);
	}
}

static bool reads_memory(const struct question *question)
{
	return question->kind == QUESTION_PYTHON || question->kind == QUESTION_RUBY ||
	       question->kind == QUESTION_JAVASCRIPT || question->kind == QUESTION_GOROUTINES ||
	       question->kind == QUESTION_JVM || question->kind == QUESTION_METHODS;
}

/* Not of a process, which a file may be needed for. */
static bool is_of_file(const struct asked *asked)
{
	return asked->module && !reads_memory(&asked->question);
}

/* What the question took is for whose file or process it is about to bear. */
static void spend(struct worker *worker, const struct asked *asked, uint64_t cpu_ns, uint64_t elapsed_ns, bool is_death)
{
	uint64_t waited_ns = elapsed_ns;

	if (is_of_file(asked) && is_death)
		budget_spend_death(worker->budget, asked->module, elapsed_ns);
	else if (is_of_file(asked))
		budget_spend(worker->budget, asked->module, cpu_ns, elapsed_ns);
	if (is_of_file(asked))
		return;
	/* How much is read of symbol files has bounds of its own. */
	if (!reads_memory(&asked->question))
		waited_ns -= cpu_ns < elapsed_ns ? cpu_ns : elapsed_ns;
	if (!budget_spend_process(worker->budget, asked->process, asked->user, waited_ns))
		users_bar(helper_pair_users(worker->pair), asked->user);
}

/* It is gone of the first question, or that is given up with err. */
static void lose(struct worker *worker, int err)
{
	const struct asked *first = worker->asked.first;

	if (first)
		spend(worker, first, 0, clock_ns() - first->first_ns, true);
	if (first)
		finish(worker, err);
	ask_again(worker);
}

static bool uses_debug_file(const struct question *question)
{
	switch (question->kind) {
	case QUESTION_PLACE:
	case QUESTION_VARIABLE:
	case QUESTION_FUNCTIONS:
	case QUESTION_SOURCES:
	case QUESTION_CODE:
	case QUESTION_GOROUTINES:
		return true;
	}
	return false;
}

/* However much is done meanwhile. The worker ends itself before, unless somebody else has taken it over. */
static uint64_t answer_ns_max(const struct question *question)
{
	switch (question->kind) {
	case QUESTION_PYTHON:
	case QUESTION_RUBY:
	case QUESTION_JAVASCRIPT:
		return WORKER_MANAGED_SECONDS_MAX * second_ns;
	case QUESTION_JIT:
	case QUESTION_JIT_READ:
		return WORKER_JIT_SECONDS_MAX * second_ns;
	case QUESTION_GOROUTINES:
		return WORKER_GO_SECONDS_MAX * second_ns;
	case QUESTION_JVM:
	case QUESTION_METHODS:
		return WORKER_JVM_SECONDS_MAX * second_ns;
	}
	return 2 * WORKER_ANSWER_SECONDS_MAX * second_ns;
}

static uint64_t limit_ns(const struct question *question)
{
	if (!question->module || question->kind == QUESTION_JIT || question->kind == QUESTION_JIT_READ)
		return stuck_memory_ns;
	return uses_debug_file(question) && servers_are_wanted() ? stuck_servers_ns : stuck_ns;
}

/* The first question goes on for ever. What it is about is not asked for any more, as far as that is known. */
static void give_up_first(struct worker *worker)
{
	const struct question *question = &worker->asked.first->question;
	const struct module *module = worker->asked.first->module;

	if (reads_memory(question))
		opener_distrust(worker->opener, question->pid);
	/* Its own file may be as good as any: without what its process says of it, it is tried once more. */
	if (module && uses_debug_file(question) && opener_distrust_tree(worker->opener, module->pid)) {
		ask_again(worker);
		return;
	}
	if (module)
		opener_distrust_file(worker->opener, module->has_stamp ? module->stamp.device : 0, module->pid,
				     module->path);
	lose(worker, -ETIMEDOUT);
}

/* The helpers are given up if the first question takes too long. It is settled when they are seen to be gone. */
static void give_up_if_late(struct worker *worker, bool is_late)
{
	const struct asked *first = worker->asked.first;

	if (!is_late && clock_ns() - worker->checked_ns < CHECK_MS * 1000000ull)
		return;
	worker->checked_ns = clock_ns();
	if (!is_late && clock_ns() - first->first_ns <= answer_ns_max(&first->question) &&
	    !helper_pair_is_stuck(worker->pair, first->first_ns, limit_ns(&first->question)))
		return;
	worker->late_sequence = first->question.sequence;
	helper_pair_fail(worker->pair, first->user);
}

static bool is_at_work(const struct worker *worker)
{
	return worker->asked.first && worker->number == helper_pair_worker_number(worker->pair);
}

static bool on_opener_held(void *data, bool is_late)
{
	struct worker *worker = data;
	bool is_asked = is_at_work(worker);

	if (is_asked)
		give_up_if_late(worker, is_late);
	return is_asked;
}

/* Both are gone: of the first question, or of something that somebody else has asked the opener. */
static void on_gone(struct worker *worker)
{
	bool is_late = worker->asked.first->question.sequence == worker->late_sequence;

	worker->late_sequence = 0;
	if (is_late)
		give_up_first(worker);
	else
		ask_again(worker);
}

/* The next part of a table; false: it is none, or too much. */
static bool take_part(const struct worker *worker, struct asked *asked)
{
	size_t end = asked->table_bytes + worker->content_bytes;

	if (asked->question.kind != QUESTION_TABLE || end > UNWIND_FILE_BYTES_MAX)
		return false;
	if (end > asked->table_capacity) {
		asked->table_capacity = 2 * end;
		asked->table = xrealloc(asked->table, asked->table_capacity, 1);
	}
	memcpy(asked->table + asked->table_bytes, worker->content.part, worker->content_bytes);
	asked->table_bytes = end;
	return true;
}

/* One answer, or a part of it, if there is one; false: none. */
static bool take_answer(struct worker *worker)
{
	struct asked *first = worker->asked.first;
	struct worker_answer header;
	struct iovec parts[2] = {
		{ &header, sizeof(header) },
		{ &worker->content, sizeof(worker->content) },
	};
	ssize_t n;
	int fd;

	if (!first)
		return false;
	if (worker->number != helper_pair_worker_number(worker->pair)) {
		on_gone(worker);
		return true;
	}
	n = message_receive(helper_pair_worker(worker->pair), parts, 2, &fd, false);
	if (n == -EAGAIN)
		return false;
	if (fd >= 0)
		close(fd);
	worker->content_bytes = n - sizeof(header);
	if (n < (ssize_t)sizeof(header) || header.sequence != first->question.sequence ||
	    (!header.err && !worker_content_is_valid(first->question.kind, &worker->content, worker->content_bytes))) {
		helper_pair_hear(worker->pair, &header, n);
		lose(worker, helper_pair_fail_worker(worker->pair, first->user));
		return true;
	}
	if (header.err == WORKER_GOES_ON && take_part(worker, first))
		return true;
	spend(worker, first, header.cpu_ns, header.elapsed_ns, false);
	finish(worker, header.err > 0 ? -EINVAL : header.err);
	return true;
}

static void take_answers(struct worker *worker)
{
	while (take_answer(worker))
		;
	if (is_at_work(worker))
		give_up_if_late(worker, false);
}

void worker_wait(struct worker *worker, short events)
{
	struct pollfd poll_fd = { .fd = helper_pair_worker(worker->pair), .events = events | POLLIN };

	poll(&poll_fd, 1, WAIT_MS);
	take_answers(worker);
	pause_take_if_due(helper_pair_pause(worker->pair));
}

/* --- Doing what was to be done --------------------------------------------------------------- */

static void do_table(struct asked *asked)
{
	struct unwind_file file;
	int err = asked->err;

	if (!err)
		err = unwind_file_read(asked->table, asked->table_bytes, &file);
	asked->on_table(asked->data, asked->module, err, &file);
}

/*
 * One at a time: what is waited for stands behind no more than that; and how much an answer may take is known when the ones
 * before have theirs.
 */
static void send_later(struct worker *worker)
{
	struct asked *asked;
	int err;

	while (!worker->asked.count && (asked = asked_list_take(&worker->later))) {
		err = worker_send(worker, asked);
		if (err)
			settle_asked(worker, asked, err);
	}
}

int worker_ask_later(struct worker *worker, struct asked *asked)
{
	if (worker->is_book_alone || worker->asked.count + worker->later.count >= ASKED_MAX) {
		asked_free(asked);
		return worker->is_book_alone ? -ENODATA : -EAGAIN;
	}
	asked_list_add(&worker->later, asked);
	send_later(worker);
	return 0;
}

void worker_step(struct worker *worker)
{
	struct asked *asked;

	take_answers(worker);
	send_later(worker);
	while ((asked = asked_list_take(&worker->answered))) {
		if (asked->on_table)
			do_table(asked);
		else if (asked->on_jit)
			asked->on_jit(asked->data, asked->question.module, asked->err);
		else if (asked->on_goroutines)
			asked->on_goroutines(asked->data, asked->question.pid, asked->err, asked->goroutines);
		else if (asked->on_jvm)
			asked->on_jvm(asked->data, asked->question.pid, asked->err, &asked->jvm);
		asked_free(asked);
	}
}

void worker_settle(struct worker *worker, uint64_t limit)
{
	uint64_t end_ns = clock_ns() + limit;

	worker_step(worker);
	while ((worker->asked.count || worker->later.count) && clock_ns() < end_ns) {
		worker_wait(worker, 0);
		worker_step(worker);
	}
}

/* --- Questions ------------------------------------------------------------------------------- */

static bool *known_get(struct worker *worker, uint32_t module)
{
	if (module >= worker->known_capacity) {
		size_t capacity = (size_t)module * 2 + 64;

		worker->is_known = xrealloc(worker->is_known, capacity, sizeof(*worker->is_known));
		memset(worker->is_known + worker->known_capacity, 0,
		       (capacity - worker->known_capacity) * sizeof(*worker->is_known));
		worker->known_capacity = capacity;
	}
	return &worker->is_known[module];
}


static void forget(struct worker *worker)
{
	if (worker->known_capacity)
		memset(worker->is_known, 0, worker->known_capacity * sizeof(*worker->is_known));
}

uint32_t worker_user_of(const struct worker *worker, uint32_t pid)
{
	return users_of(helper_pair_users(worker->pair), pid);
}

/* Who has made its file, unless others could say so; else who has mapped it. */
static uint32_t user_of(const struct worker *worker, const struct module *module)
{
	const struct file_stamp *stamp = &module->stamp;

	if (module->kind != MODULE_FILE)
		return USER_UNKNOWN;
	return module->has_stamp && !stamp->is_owner_doubtful && !stamp->is_overlay
		       ? stamp->owner
		       : worker_user_of(worker, module->pid);
}

/* What is left for it. -EDQUOT: nothing; -EACCES: nothing for anything of its user's. */
static int set_limits(const struct worker *worker, struct asked *asked)
{
	uint64_t left_ns;

	if (is_of_file(asked))
		asked->user = user_of(worker, asked->module);
	if (users_are_barred(helper_pair_users(worker->pair), asked->user))
		return is_of_file(asked) ? -EDQUOT : -EACCES;
	if (!is_of_file(asked))
		return budget_process_left_ns(worker->budget, asked->process, asked->user) ? 0 : -EDQUOT;
	left_ns = budget_left_ns(worker->budget, asked->module, asked->question.wants_debug);
	asked->question.cpu_ms_max = left_ns / 1000000;
	asked->question.memory_mb_max = budget_memory_bytes(worker->budget, asked->module) >> 20;
	return left_ns ? 0 : -EDQUOT;
}

/* Its path leads where root has put it. */
static bool is_roots(const struct module *module)
{
	const struct file_stamp *stamp = &module->stamp;

	return module->has_stamp && module->has_own_numbers && !stamp->owner && !stamp->is_owner_doubtful;
}

/* Makes sure that there are processes, and that they know of the module's file. */
static int prepare(struct worker *worker, struct asked *asked)
{
	const struct module *module = asked->module;
	int err = set_limits(worker, asked);

	if (!err)
		err = helper_pair_begin(worker->pair);
	if (err)
		return err;
	if (worker->number != helper_pair_worker_number(worker->pair)) {
		forget(worker);
		worker->number = helper_pair_worker_number(worker->pair);
	}
	if (module && module->kind == MODULE_FILE && !opener_holds(worker->opener, module->number)) {
		bool is_refused = is_roots(module) && opener_refuses(worker->opener, module->pid);
		const struct opener_file file = {
			.number = module->number,
			.path = module->path,
			/* Who mapped it first may not be examined any more; others have it, too. */
			.pid = is_refused ? 0 : module->pid,
			.start = is_refused ? 0 : module->start,
			.end = is_refused ? 0 : module->end,
			/* Its own numbers, where mappings have them, too. */
			.device = module->device,
			.inode = module->has_own_numbers ? module->inode : 0,
		};

		struct file_stamp stamp;

		/* The worker also learns what is wrong with the file. */
		err = opener_hold(worker->opener, &file, &stamp);
		err = err == -ETIMEDOUT ? err : 0;
	}
	if (!err && reads_memory(&asked->question))
		err = opener_allow_memory(worker->opener, asked->question.pid);
	/* Either may have found out that the opener was stuck. */
	return err ? err : helper_pair_begin(worker->pair);
}

/* Sends it to the process, which needs the module's path once; then the list owns it. */
int worker_send(struct worker *worker, struct asked *asked)
{
	const char *path = asked->module ? asked->module->path : "";
	struct iovec parts[2] = {
		{ &asked->question, sizeof(asked->question) },
		{ (void *)path, strlen(path) + 1 },
	};
	bool *is_known;
	int err = prepare(worker, asked);

	if (err)
		return err;
	if (strlen(path) >= WORKER_PATH_BYTES_MAX)
		return -ENAMETOOLONG;
	asked->table_bytes = 0; /* of a worker that has died of it */
	if (!++worker->last_sequence)
		worker->last_sequence++;
	asked->question.sequence = worker->last_sequence;
	is_known = asked->module ? known_get(worker, asked->module->number) : NULL;
	asked->question.has_path = is_known && !*is_known;
	for (;;) {
		err = message_send(helper_pair_worker(worker->pair), parts, asked->question.has_path ? 2 : 1, -1,
				   false);
		if (err != -EAGAIN)
			break;
		worker_wait(worker, POLLOUT);
	}
	/* A socket that does not take it has nobody on its other end: not because of this question. */
	if (err) {
		helper_pair_fail_worker(worker->pair, USER_UNKNOWN);
		return asked->sent_again_count++ < SENT_AGAIN_MAX ? worker_send(worker, asked) : -ECHILD;
	}
	if (is_known)
		*known_get(worker, asked->module->number) = true;
	if (!worker->asked.first)
		asked->first_ns = clock_ns();
	asked_list_add(&worker->asked, asked);
	return 0;
}

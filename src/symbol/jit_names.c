/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/jit_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/table.h"
#include "helper/opener.h"
#include "helper/users.h"
#include "symbol/names/notes.h"
#include "symbol/worker/worker.h"

enum { LOOKED_NEVER = -1, MEMOS = 4096 /* a power of two */ };

struct jit_space {
	uint32_t number, pid;
	uint32_t user;    /* of the process */
	bool has_file;    /* its file was read */
	bool is_given_up; /* reading it takes for ever, or kills */
	int noted_err;    /* 0: nothing is wrong */
	time_t looked;    /* to find a name */
	time_t kept;
};

/* What was answered in this second: a report asks for the same frames many times, each through another process. */
struct jit_memo {
	uint64_t address, start;
	time_t asked; /* 0: never */
	uint32_t number, reading;
	char *name; /* NULL: there is none; owned */
};

struct jit_names {
	struct opener *opener;
	struct worker *worker;
	struct notes *notes;
	struct table *spaces;
	bool has_space_noted;
	uint32_t reading; /* changes with each reading of a file */
	struct jit_memo memos[MEMOS];
};

struct jit_names *jit_names_new(struct opener *opener, struct worker *worker, struct notes *notes)
{
	struct jit_names *names = xcalloc(1, sizeof(*names));

	names->opener = opener;
	names->worker = worker;
	names->notes = notes;
	names->spaces = table_new();
	return names;
}

void jit_names_free(struct jit_names *names)
{
	struct jit_space *space;
	size_t cursor = 0;

	if (!names)
		return;
	while ((space = table_next(names->spaces, &cursor)))
		free(space);
	table_free(names->spaces);
	for (size_t i = 0; i < MEMOS; i++)
		free(names->memos[i].name);
	free(names);
}

void jit_names_forget(struct jit_names *names, uint32_t number)
{
	struct jit_space *space = table_take(names->spaces, number);

	if (!space)
		return;
	opener_forget_jit(names->opener, number);
	if (space->has_file)
		worker_forget_jit(names->worker, number);
	free(space);
}

static struct jit_space *space_get(struct jit_names *names, uint32_t number)
{
	struct jit_space *space = table_find(names->spaces, number);

	/* There are no more than mapped_files.h allows: each is forgotten with its space. */
	if (!space && number) {
		space = xcalloc(1, sizeof(*space));
		space->number = number;
		space->user = USER_UNKNOWN;
		space->looked = space->kept = LOOKED_NEVER;
		table_put(names->spaces, number, space);
	}
	return space;
}

static void set_process(struct jit_names *names, struct jit_space *space, uint32_t pid)
{
	if (!opener_knows_jit(names->opener, space->number))
		opener_find_jit(names->opener, space->number, pid);
	space->pid = pid;
	space->user = worker_user_of(names->worker, pid);
}

/* What is wrong with the file, once. */
static void note(struct jit_names *names, struct jit_space *space, int err)
{
	uint32_t pid = space->pid;

	if (!err || err == space->noted_err)
		return;
	space->noted_err = err;
	space->is_given_up |= err == -EACCES; /* with all that is the user's, of which a note says */
	if (err == -ETIMEDOUT || err == -ECHILD || err == -EDQUOT) {
		notes_add(names->notes, "the JIT symbol file of process %u cannot be read, or took too long to read",
			  pid);
		space->is_given_up = true;
	}
	if (err == -EPERM)
		notes_add(names->notes, "the JIT symbol file of process %u belongs to another user and is not used",
			  pid);
	else if (err == -EKEYREJECTED)
		notes_add(names->notes, "other users can write to the JIT symbol file of process %u: it is not used",
			  pid);
	else if (err == -ENOSPC && !names->has_space_noted)
		notes_add(names->notes,
			  "too many processes of one user have JIT symbol files: the oldest ones, such as process %u, "
			  "have no names",
			  pid);
	else if (err == -E2BIG)
		notes_add(names->notes,
			  "the JIT symbol file of process %u is too large: only some of its names are shown", pid);
	names->has_space_noted |= err == -ENOSPC;
}

static void on_read(void *data, uint32_t number, int err)
{
	struct jit_names *names = data;
	struct jit_space *space = table_find(names->spaces, number);

	names->reading++;
	if (!space)
		return;
	space->has_file |= !err || err == -E2BIG;
	note(names, space, err);
}

void jit_names_keep(struct jit_names *names, uint32_t number, uint32_t pid)
{
	struct jit_space *space = space_get(names, number);

	/* Some compilers map memory all the time. */
	if (!space || space->is_given_up || space->kept == clock_seconds())
		return;
	space->kept = clock_seconds();
	set_process(names, space, pid);
	worker_read_jit(names->worker, number, space->user, on_read, names);
}

void jit_names_renew(struct jit_names *names, uint32_t number, uint32_t pid)
{
	struct jit_space *space = table_find(names->spaces, number);

	if (space)
		space->kept = LOOKED_NEVER;
	jit_names_keep(names, number, pid);
}

bool jit_names_has(const struct jit_names *names, uint32_t number)
{
	const struct jit_space *space = table_find(names->spaces, number);

	return space && space->has_file;
}

static struct jit_memo *memo_of(struct jit_names *names, uint32_t number, uint64_t address)
{
	return &names->memos[((address ^ number) * 0x9e3779b97f4a7c15ull >> 32) & (MEMOS - 1)];
}

static bool is_fresh(const struct jit_names *names, const struct jit_memo *memo, uint32_t number, uint64_t address)
{
	return memo->asked == clock_seconds() && memo->address == address && memo->number == number &&
	       memo->reading == names->reading;
}

/* Into its memo; false: it could not be asked. */
static bool ask(struct jit_names *names, struct jit_space *space, uint64_t address)
{
	struct jit_memo *memo = memo_of(names, space->number, address);
	const struct jit_answer *answer;
	int err = worker_ask_jit(names->worker, space->number, space->user, address, &answer);

	note(names, space, err);
	if (err)
		return false;
	space->has_file |= answer->is_found != 0;
	free(memo->name);
	*memo = (struct jit_memo){
		.address = address,
		.start = answer->start,
		.asked = clock_seconds(),
		.number = space->number,
		.reading = names->reading,
		.name = answer->is_found ? xstrdup(answer->name) : NULL,
	};
	return true;
}

bool jit_names_find(struct jit_names *names, uint32_t number, uint32_t pid, uint64_t address, char *name,
		    size_t size_bytes, uint64_t *start)
{
	struct jit_space *space = pid ? space_get(names, number) : table_find(names->spaces, number);
	const struct jit_memo *memo;

	if (!space || space->is_given_up || (!space->has_file && clock_seconds() == space->looked))
		return false;
	space->looked = clock_seconds();
	memo = memo_of(names, number, address);
	if (!is_fresh(names, memo, number, address)) {
		if (pid)
			set_process(names, space, pid);
		if (!ask(names, space, address))
			return false;
	}
	if (!memo->name)
		return false;
	snprintf(name, size_bytes, "%s", memo->name);
	*start = memo->start;
	return true;
}

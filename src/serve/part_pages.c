/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/part_pages.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "serve/answer.h"
#include "serve/group_question.h"
#include "serve/own_command.h"
#include "serve/trace_part.h"

enum {
	KEPT = 8,
	WORD_BYTES = 512,
	CHOSEN_MAX = 16, /* of each of the choices */
	CHOICES = 4,     /* causes, objects, CPUs, spans */
	COMMAND_ARGUMENTS_MAX = 8 + 2 * CHOICES * CHOSEN_MAX + GROUP_ARGUMENTS_MAX,
	STATUS_BAD_REQUEST = 400,
	STATUS_INTERNAL = 500,
};

struct page {
	char *key;
	uint64_t used;
	struct text body;
};

struct part_pages {
	const char *trace_path;
	bool opens_files;
	atomic_bool is_growing;
	_Atomic uint64_t first_ns; /* since when times of parts count; 0: since the first event */
	pthread_mutex_t lock;      /* one is made at a time */
	uint64_t uses;
	struct page kept[KEPT];
};

/* A part of the trace that another one is compared with. */
struct other_part {
	const char *trace_path;
	struct trace_part part;
};

/* A command, whose last argument is the trace, or whose last two are traces that are compared. */
struct command_line {
	const char *arguments[COMMAND_ARGUMENTS_MAX];
	size_t count;
	const char *type;               /* of what it prints */
	const struct other_part *other; /* NULL: none is compared */
};

struct part_pages *part_pages_new(const char *trace_path, bool opens_files)
{
	struct part_pages *pages = xcalloc(1, sizeof(*pages));

	pages->trace_path = trace_path;
	pages->opens_files = opens_files;
	pthread_mutex_init(&pages->lock, NULL);
	return pages;
}

void part_pages_set_growing(struct part_pages *pages, bool is_growing, uint64_t first_ns)
{
	pages->is_growing = is_growing;
	pages->first_ns = first_ns;
}

static void forget(struct page *page)
{
	free(page->key);
	text_fini(&page->body);
	*page = (struct page){ 0 };
}

void part_pages_free(struct part_pages *pages)
{
	if (!pages)
		return;
	for (size_t i = 0; i < KEPT; i++)
		forget(&pages->kept[i]);
	pthread_mutex_destroy(&pages->lock);
	free(pages);
}

/* What the command said first. */
static void reply_made(struct reply *reply, int err, const struct text *messages)
{
	int length = messages->length ? (int)strcspn(messages->bytes, "\n") : 0;

	if (err)
		reply_fail(reply, STATUS_INTERNAL, "%.*s", length ? length : INT_MAX,
			   length ? messages->bytes : strerror(-err));
}

/* The one with this key, or one that is free. */
static struct page *find(struct part_pages *pages, const char *key)
{
	struct page *oldest = &pages->kept[0];

	for (size_t i = 0; i < KEPT; i++) {
		if (pages->kept[i].key && !strcmp(pages->kept[i].key, key))
			return &pages->kept[i];
		if (pages->kept[i].used < oldest->used)
			oldest = &pages->kept[i];
	}
	forget(oldest);
	return oldest;
}

/* A trace that grows has others each time, also if it is a ring, which stays as long as it is. */
static void put_key(const struct part_pages *pages, const struct trace_part *part, const struct command_line *line,
		    struct text *key)
{
	struct stat status;

	trace_part_put_key(part, key);
	if (!stat(pages->trace_path, &status))
		text_printf(key, " %lld %lld.%09ld", (long long)status.st_size, (long long)status.st_mtim.tv_sec,
			    status.st_mtim.tv_nsec);
	if (line->other) {
		text_printf(key, "\n");
		trace_part_put_key(&line->other->part, key);
	}
	for (size_t i = 0; i < line->count; i++)
		text_printf(key, "\n%s", line->arguments[i]);
}

static int make(const struct part_pages *pages, const struct trace_part *part, const struct command_line *line,
		struct text *out, struct text *messages)
{
	const char *arguments[COMMAND_ARGUMENTS_MAX + 3] = { 0 };
	const struct other_part *other = line->other;
	struct part_file file, other_file = { 0 };
	int err = part_file_make(part, pages->trace_path, &file, messages);

	if (err)
		return err;
	memcpy(arguments, line->arguments, sizeof(line->arguments));
	arguments[line->count] = part_file_path(&file, pages->trace_path);
	if (other) {
		err = part_file_make(&other->part, other->trace_path, &other_file, messages);
		arguments[line->count + 1] = part_file_path(&other_file, other->trace_path);
	}
	if (!err)
		err = own_command_run(arguments, out, messages);
	part_file_remove(&other_file);
	part_file_remove(&file);
	return err;
}

static void answer(struct part_pages *pages, const struct trace_part *part, const struct command_line *line,
		   struct reply *reply)
{
	struct text key = { 0 }, messages = { 0 };
	struct page *page;
	int err = 0;

	put_key(pages, part, line, &key);
	page = find(pages, key.bytes);
	if (!page->key)
		err = make(pages, part, line, &page->body, &messages);
	if (err) {
		forget(page);
	} else {
		if (!page->key)
			page->key = xstrdup(key.bytes);
		page->used = ++pages->uses;
		text_put_bytes(&reply->body, page->body.bytes, page->body.length);
		reply->type = line->type;
		reply->is_constant = !pages->is_growing;
	}
	reply_made(reply, err, &messages);
	text_fini(&key);
	text_fini(&messages);
}

static bool check_part(bool is_read, struct reply *reply)
{
	if (!is_read)
		reply_fail(
			reply, STATUS_BAD_REQUEST,
			"a part of the trace needs a range of time that is not empty, and numbers of at most %d threads",
			PART_THREADS_MAX);
	return is_read;
}

static bool read_part(const struct part_pages *pages, const struct request *request, struct trace_part *part,
		      struct reply *reply)
{
	bool is_read = trace_part_read(request, part);

	part->first_ns = pages->first_ns;
	return check_part(is_read, reply);
}

/* Words of a request that choose waits and parts, as options. */
struct choice_words {
	char (*words)[WORD_BYTES]; /* [CHOICES * CHOSEN_MAX] */
	size_t count;
};

static void choice_words_init(struct choice_words *words)
{
	*words = (struct choice_words){ .words = xcalloc((size_t)CHOICES * CHOSEN_MAX, WORD_BYTES) };
}

/* Whether there are no more of them than are taken. */
static bool add_choice(const struct request *request, const char *name, const char *option, struct choice_words *words,
		       struct command_line *line)
{
	char *word = words->words[words->count];
	size_t number = 0;

	while (number < CHOSEN_MAX && request_text_at(request, name, number, word, WORD_BYTES)) {
		line->arguments[line->count++] = option;
		line->arguments[line->count++] = word;
		word = words->words[++words->count];
		number++;
	}
	return number < CHOSEN_MAX;
}

/* Which waits and parts it is of: cause, object and cpu, and of reports spans; all may be repeated. */
static bool read_choice(const struct request *request, bool has_spans, struct choice_words *words,
			struct command_line *line, struct reply *reply)
{
	if (add_choice(request, "cause", "--cause", words, line) &&
	    add_choice(request, "object", "--object", words, line) &&
	    add_choice(request, "cpu", "--cpu", words, line) &&
	    (!has_spans || add_choice(request, "spans", "--spans", words, line)))
		return true;
	reply_fail(reply, STATUS_BAD_REQUEST, "fewer than %d causes, objects, CPUs and spans each can be chosen",
		   CHOSEN_MAX);
	return false;
}

void part_pages_report(struct part_pages *pages, const struct request *request, struct reply *reply)
{
	struct choice_words words;
	struct command_line line = {
		.arguments = { "report", "-q", "--html", "-" },
		.count = 4,
		.type = "text/html; charset=utf-8",
	};
	struct trace_part part;

	if (pages->opens_files)
		line.arguments[line.count++] = "--symbols-from-files";
	choice_words_init(&words);
	if (read_choice(request, true, &words, &line, reply) && read_part(pages, request, &part, reply)) {
		pthread_mutex_lock(&pages->lock);
		answer(pages, &part, &line, reply);
		pthread_mutex_unlock(&pages->lock);
	}
	free(words.words);
}

void part_pages_compare(struct part_pages *pages, const char *other_path, const struct request *request,
			struct reply *reply)
{
	struct other_part other = { .trace_path = other_path };
	struct command_line line = {
		.arguments = { "compare", "--html", "-" },
		.count = 3,
		.type = "text/html; charset=utf-8",
		.other = &other,
	};
	struct trace_part part;

	if (pages->opens_files)
		line.arguments[line.count++] = "--symbols-from-files";
	if (!read_part(pages, request, &part, reply) ||
	    !check_part(trace_part_read_second(request, &other.part), reply))
		return;
	pthread_mutex_lock(&pages->lock);
	answer(pages, &part, &line, reply);
	pthread_mutex_unlock(&pages->lock);
}

void part_pages_compare_executions(struct part_pages *pages, const struct request *request, struct reply *reply)
{
	const struct trace_part whole = { .to_ns = INT64_MAX };
	struct command_line line = {
		.arguments = { "compare", "--html", "-" },
		.count = 3,
		.type = "text/html; charset=utf-8",
	};
	struct group_question question;

	group_question_read(request, &question);
	line.count += group_question_put_arguments(&question, line.arguments + line.count);
	if (pages->opens_files)
		line.arguments[line.count++] = "--symbols-from-files";
	pthread_mutex_lock(&pages->lock);
	answer(pages, &whole, &line, reply);
	pthread_mutex_unlock(&pages->lock);
}

void part_pages_whatif(struct part_pages *pages, const struct request *request, struct reply *reply)
{
	static const char *const names[] = { "lock", "waits", "cause", "function" };
	static const char *const options[] = { "--lock", "--waits", "--cause", "--function" };
	struct command_line line = {
		.arguments = { "whatif", "--json", "-" },
		.count = 3,
		.type = "application/json",
	};
	char word[WORD_BYTES], scale[WORD_BYTES];
	struct trace_part part;

	if (!read_part(pages, request, &part, reply))
		return;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && line.count == 3; i++)
		if (request_text(request, names[i], word, sizeof(word))) {
			line.arguments[line.count++] = options[i];
			line.arguments[line.count++] = word;
		}
	if (line.count > 3 && request_text(request, "scale", scale, sizeof(scale))) {
		line.arguments[line.count++] = "--scale";
		line.arguments[line.count++] = scale;
	}
	pthread_mutex_lock(&pages->lock);
	answer(pages, &part, &line, reply);
	pthread_mutex_unlock(&pages->lock);
}

/* What a part may be saved as: by pinch export, or as the trace that it is. */
static const struct saved_form {
	const char *format, *file_name;
} saved_forms[] = {
	{ "perfetto", "part.pftrace" },
	{ "speedscope", "part.speedscope.json" },
	{ "folded", "part.folded.txt" },
};

static const struct saved_form as_trace = { NULL, "part.pinch" };

/* NULL: there is none of that name. */
static const struct saved_form *form_of(const struct request *request)
{
	char format[WORD_BYTES];

	if (!request_text(request, "format", format, sizeof(format)))
		return &as_trace;
	for (size_t i = 0; i < sizeof(saved_forms) / sizeof(*saved_forms); i++)
		if (!strcmp(saved_forms[i].format, format))
			return &saved_forms[i];
	return NULL;
}

/* A descriptor of the trace at that path in that form, which has no name any more; or a negative errno. line: options of the choice. */
static int open_form(const struct part_pages *pages, const struct saved_form *form, const char *path,
		     const struct command_line *line, struct text *messages)
{
	enum { OUTPUT = 4, FIXED = 5 };
	const char *arguments[FIXED + COMMAND_ARGUMENTS_MAX + 3] = { "export", "--format", form->format, "-o" };
	size_t count = FIXED;
	struct text printed = { 0 };
	struct part_file made;
	int err, fd;

	if (!form->format) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		return fd < 0 ? -errno : fd;
	}
	err = part_file_place(&made);
	if (err)
		return err;
	arguments[OUTPUT] = made.path;
	for (size_t i = 0; i < line->count; i++)
		arguments[count++] = line->arguments[i];
	if (pages->opens_files)
		arguments[count++] = "--symbols-from-files";
	arguments[count] = path;
	fd = err = own_command_run(arguments, &printed, messages);
	if (!err) {
		fd = open(made.path, O_RDONLY | O_CLOEXEC);
		fd = fd < 0 ? -errno : fd;
	}
	part_file_remove(&made);
	text_fini(&printed);
	return fd;
}

static void save(const struct part_pages *pages, const struct saved_form *form, const struct trace_part *part,
		 const struct command_line *line, struct reply *reply)
{
	struct text messages = { 0 };
	struct part_file file;
	int err;

	err = (pages->is_growing ? part_file_cut : part_file_make)(part, pages->trace_path, &file, &messages);
	if (!err) {
		reply->fd = open_form(pages, form, part_file_path(&file, pages->trace_path), line, &messages);
		err = reply->fd < 0 ? reply->fd : 0;
		part_file_remove(&file);
	}
	reply->type = "application/octet-stream";
	reply->file_name = form->file_name;
	reply_made(reply, err, &messages);
	text_fini(&messages);
}

void part_pages_save(struct part_pages *pages, const struct request *request, struct reply *reply)
{
	const struct saved_form *form = form_of(request);
	struct command_line line = { 0 };
	struct choice_words words;
	struct trace_part part;

	if (!form) {
		reply_fail(reply, STATUS_BAD_REQUEST, "format: one of perfetto, speedscope and folded");
		return;
	}
	choice_words_init(&words);
	if (read_choice(request, false, &words, &line, reply) && read_part(pages, request, &part, reply))
		save(pages, form, &part, &line, reply);
	free(words.words);
}

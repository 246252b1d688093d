/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/parts/words.h"

#include <string.h>

#include "base/text.h"
#include "findings/names/collectors.h"
#include "findings/parts/findings_waits.h"
#include "findings/parts/stuck.h"
#include "report/report_cause.h"
#include "report/report_nameless.h"
#include "stacks/fold.h"

enum { NAME_BYTES = 96, PATH_FRAMES_MAX = 3, LONG_PARTS = 10 };

const char *words_name(struct findings *findings, const char *name)
{
	char cut[NAME_BYTES + 1];
	size_t length = 0;
	int depth = 0;

	if (strlen(name) <= NAME_BYTES / 2)
		return name;
	for (; *name && length < NAME_BYTES; name++) {
		if (*name == '>' || *name == ')')
			depth -= depth > 0;
		if (!depth)
			cut[length++] = *name;
		if (*name == '<' || *name == '(')
			depth++;
	}
	cut[length] = '\0';
	return arena_strdup(findings->arena, cut);
}

const char *words_object(struct findings *findings, const char *name)
{
	size_t begin = NAME_BYTES / 3, end = strlen(name);

	if (end <= NAME_BYTES)
		return name;
	end -= NAME_BYTES - begin;
	/* Not within a character. */
	while (begin && (name[begin] & 0xc0) == 0x80)
		begin--;
	while ((name[end] & 0xc0) == 0x80)
		end++;
	return arena_printf(findings->arena, "%.*s...%s", (int)begin, name, name + end);
}

static const char *words_nameless(struct findings *findings, const char *module)
{
	struct text text = { 0 };
	const char *copy;

	report_put_nameless(&text, module);
	copy = arena_strdup(findings->arena, text.bytes);
	text_fini(&text);
	return copy;
}

const char *words_function(struct findings *findings, const char *name)
{
	size_t length = report_nameless_length(name);

	if (!length)
		return words_name(findings, name);
	return words_nameless(findings, arena_printf(findings->arena, "%.*s", (int)length, name));
}

const char *words_samples(struct findings *findings, const struct report_path *path)
{
	const struct report_function *most = path && path->function_count ? &path->functions[0] : NULL;

	if (!most || !path->samples || !most->name)
		return NULL;
	return arena_printf(findings->arena, "%llu samples, %.0f %% of them in %s", (unsigned long long)path->samples,
			    100.0 * most->samples / path->samples, words_function(findings, most->name));
}

const char *words_frame(struct findings *findings, const struct report_frame *frame)
{
	const char *file;

	if (!frame->function)
		return words_nameless(findings, frame->module);
	if (!frame->file || !frame->line)
		return words_name(findings, frame->function);
	file = strrchr(frame->file, '/');
	return arena_printf(findings->arena, "%s (%s:%u)", words_name(findings, frame->function),
			    file ? file + 1 : frame->file, frame->line);
}

const char *words_place(struct findings *findings, const struct report_frame *frames, size_t count)
{
	const struct report_frame *frame = fold_find_headline(findings->input.fold, frames, count);

	return frame && frame->function ? words_frame(findings, frame) : NULL;
}

const char *words_any_place(struct findings *findings, const struct report_frame *frames, size_t count)
{
	const struct report_frame *frame = fold_find_headline(findings->input.fold, frames, count);

	return frame ? words_frame(findings, frame) : NULL;
}

const char *words_caller(struct findings *findings, const struct report_frame *frames, size_t count,
			 const struct report_frame *frame)
{
	const char *function = frame->function;

	while (++frame < frames + count)
		if (frame->function && !fold_is_plumbing(findings->input.fold, frame) &&
		    !(function && !strcmp(frame->function, function)))
			return words_name(findings, frame->function);
	return NULL;
}

const char *words_place_caller(struct findings *findings, const struct report_frame *frames, size_t count)
{
	const struct report_frame *frame = fold_find_headline(findings->input.fold, frames, count);

	return frame ? words_caller(findings, frames, count, frame) : NULL;
}

const char *words_collection(struct findings *findings, const struct report_frame *frames, size_t count)
{
	size_t own;
	const struct collector *collector = collector_of(NULL, frames, count, &own);

	return collector ? arena_printf(findings->arena, "garbage collection of %s, ", collector->name) : "";
}

const char *words_duration(struct findings *findings, uint64_t time_ns)
{
	struct text text = { 0 };
	const char *copy;

	text_put_duration(&text, time_ns);
	copy = arena_strdup(findings->arena, text.bytes);
	text_fini(&text);
	return copy;
}

const char *words_kind(struct findings *findings, const char *kind)
{
	char *words = arena_strdup(findings->arena, kind);

	for (char *at = words; (at = strchr(at, '-'));)
		*at = ' ';
	return words;
}

const char *words_singular(struct findings *findings, const char *title)
{
	static const char *const verbs[] = { "wait", "sleep", "poll", "spin" };
	static const char subject[] = "threads ";

	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs) && !strncmp(title, subject, sizeof(subject) - 1); i++) {
		const char *verb = title + sizeof(subject) - 1, *rest = verb + strlen(verbs[i]);

		if (!strncmp(verb, verbs[i], rest - verb) && strchr(" :", *rest))
			return arena_printf(findings->arena, "a thread %ss%s", verbs[i], rest);
	}
	return title;
}

const char *words_size(struct findings *findings, uint64_t size_bytes)
{
	struct text text = { 0 };
	const char *copy;

	text_put_size(&text, size_bytes);
	copy = arena_strdup(findings->arena, text.bytes);
	text_fini(&text);
	return copy;
}

const char *words_counted(struct findings *findings, uint64_t count, const char *thing)
{
	struct text text = { 0 };
	const char *words;

	text_put_count(&text, count);
	words = arena_printf(findings->arena, "%s %s%s", text.bytes, thing, count == 1 ? "" : "s");
	text_fini(&text);
	return words;
}

const char *words_lengths(struct findings *findings, uint64_t count, uint64_t wait_ns, uint64_t max_ns)
{
	if (count < 2)
		return arena_printf(findings->arena, "%s of %s", words_counted(findings, count, "wait"),
				    words_duration(findings, wait_ns));
	return arena_printf(findings->arena, "%s: mean %s, max %s", words_counted(findings, count, "wait"),
			    words_duration(findings, wait_ns / count), words_duration(findings, max_ns));
}

size_t words_path_frames(struct findings *findings, const struct wait_path *path, const struct report_frame **frames)
{
	*frames = NULL;
	return path ? path_names_frames(findings->names, path->pid, path->first_ns, path->stack, frames, NULL) : 0;
}

const char *words_path(struct findings *findings, const struct wait_path *path)
{
	const struct report_frame *frames;
	size_t count = words_path_frames(findings, path, &frames), named = 0;
	const char *out = NULL;

	for (size_t i = 0; i < count && named < PATH_FRAMES_MAX; i++) {
		const char *frame;

		if (!frames[i].function || fold_is_plumbing(findings->input.fold, &frames[i]))
			continue;
		frame = words_frame(findings, &frames[i]);
		out = named++ ? arena_printf(findings->arena, "%s, from %s", out, frame) : frame;
	}
	return out;
}

const char *words_wait_place(struct findings *findings, const struct wait_path *path)
{
	enum wait_cause cause = findings_meaning(findings, path).cause;
	const char *call = findings_other_call(cause, path->facts.syscall), *where = words_path(findings, path);
	char buffer[REPORT_CAUSE_BYTES];

	return arena_printf(findings->arena, "%s%s%s", report_cause_text(buffer, cause, call), where ? " in " : "",
			    where ? where : "");
}

const char *words_holder_wait(struct findings *findings, const struct wait_lock *lock)
{
	const struct stuck_wait *waiter = stuck_find(findings->stuck, lock);
	const struct wait_lasting *wait = waiter ? waiter->holder->wait : NULL;

	if (!wait || !wait->path || (wait->end_ns - wait->begin_ns) * LONG_PARTS < findings->report.target.wall_ns)
		return NULL;
	return arena_printf(findings->arena, "%s, which was itself waiting: %s for %s", wait->name,
			    words_wait_place(findings, wait->path),
			    words_duration(findings, wait->end_ns - wait->begin_ns));
}

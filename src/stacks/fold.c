/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stacks/fold.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/table.h"
#include "base/user_file.h"
#include "report/report_frame.h"

/* The text of share/fold.rules as string literals, one a line: the build makes it. */
static const char builtin_rules[] =
#include "fold_rules.inc"
	;

enum { RULES_MAX = 4096, LINE_BYTES_MAX = 4096, FIELD_MAX = 3, VERDICTS_MAX = 1 << 16 };

struct rule {
	const char *label;             /* "-": plumbing, shown; "+": shown as any other; "~": waits */
	const char *function, *module; /* patterns; module may be NULL */
};

/* What the rules say of a frame. The same ones come again and again, and there are hundreds of rules. */
struct verdict {
	const char *function, *module;
	const struct rule *rule; /* how it is shown; NULL: none says */
	bool is_spin;
};

struct fold_rules {
	struct arena *arena;
	struct table *verdicts; /* by a hash of both names; emptied when a rule is added */
	struct rule *rules;     /* the last that matches wins: what came later overrides */
	size_t count, buffer;
};

/* Names hold brackets and question marks, so that only the star is special. */
static bool glob_matches(const char *pattern, const char *name)
{
	const char *star = NULL, *retry = NULL;

	while (*name) {
		if (*pattern == '*') {
			star = pattern++;
			retry = name;
		} else if (*pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star + 1;
			name = ++retry;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

/* The end of a field: a tab or two spaces, since labels and C++ names hold single ones. */
static char *field_end(char *field)
{
	while (*field && *field != '\t' && !(field[0] == ' ' && field[1] == ' '))
		field++;
	return field;
}

/* Splits line in place. Returns how many fields there were, FIELD_MAX + 1 for too many. */
static size_t split_fields(char *line, const char **fields)
{
	size_t count = 0;

	for (;;) {
		char *end;

		line += strspn(line, " \t\r\n");
		if (!*line)
			return count;
		if (count == FIELD_MAX)
			return FIELD_MAX + 1;
		end = field_end(line);
		fields[count++] = line;
		line = end;
		if (*line)
			*line++ = '\0';
	}
}

static int add_line(struct fold_rules *rules, char *line)
{
	const char *fields[FIELD_MAX] = { 0 };
	size_t count;

	line[strcspn(line, "\r\n")] = '\0';
	for (size_t end = strlen(line); end && line[end - 1] == ' '; end--)
		line[end - 1] = '\0';
	count = split_fields(line, fields);
	if (!count || *fields[0] == '#')
		return 0;
	if (count < 2 || count > FIELD_MAX)
		return -EINVAL;
	if (rules->count == RULES_MAX)
		return -E2BIG;
	ARRAY_GROW(rules->rules, rules->count, rules->buffer, 128);
	rules->rules[rules->count++] = (struct rule){
		.label = arena_strdup(rules->arena, fields[0]),
		.function = arena_strdup(rules->arena, fields[1]),
		.module = fields[2] ? arena_strdup(rules->arena, fields[2]) : NULL,
	};
	return 0;
}

/* The first rule of a file wins within it, so its rules are turned round. */
static void reverse_from(struct fold_rules *rules, size_t begin)
{
	/* What was said without them does not hold any more. */
	table_free(rules->verdicts);
	rules->verdicts = table_new();
	for (size_t end = rules->count; begin + 1 < end; begin++) {
		struct rule rule = rules->rules[begin];

		rules->rules[begin] = rules->rules[--end];
		rules->rules[end] = rule;
	}
}

static void add_builtin(struct fold_rules *rules, const char *begin)
{
	char line[LINE_BYTES_MAX];

	while (*begin) {
		size_t length = strcspn(begin, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)length, begin);
		if (add_line(rules, line))
			warn("built-in fold rule is wrong: %s", line);
		begin += length + (begin[length] == '\n');
	}
	reverse_from(rules, 0);
}

struct fold_rules *fold_rules_of(const char *text)
{
	struct fold_rules *rules = xcalloc(1, sizeof(*rules));

	rules->arena = arena_new();
	rules->verdicts = table_new();
	add_builtin(rules, text);
	return rules;
}

struct fold_rules *fold_rules_new(void)
{
	return fold_rules_of(builtin_rules);
}

void fold_rules_free(struct fold_rules *rules)
{
	if (!rules)
		return;
	arena_free(rules->arena);
	table_free(rules->verdicts);
	free(rules->rules);
	free(rules);
}

static int add_stream(struct fold_rules *rules, FILE *file, const char *path)
{
	size_t begin = rules->count, number = 0;
	char line[LINE_BYTES_MAX];
	int err = 0;

	while (err != -E2BIG && fgets(line, sizeof(line), file)) {
		number++;
		if (!strchr(line, '\n') && !feof(file)) {
			err = fail_plain(-EINVAL, "%s:%zu: line is longer than %d bytes", path, number,
					 LINE_BYTES_MAX - 2);
			break;
		}
		err = add_line(rules, line);
		if (err == -E2BIG)
			warn("%s:%zu: more than %d fold rules; the rest is ignored", path, number, RULES_MAX);
		else if (err)
			warn("%s:%zu: not a fold rule: needs a label, a function pattern and "
			     "perhaps a module pattern, set apart by tabs or two spaces",
			     path, number);
		err = err == -E2BIG ? err : 0;
	}
	if (ferror(file))
		err = fail(-EIO, "cannot read %s", path);
	reverse_from(rules, begin);
	return err == -E2BIG ? 0 : err;
}

int fold_rules_add_file(struct fold_rules *rules, const char *path)
{
	FILE *file;
	int err = user_file_open(path, "the fold rules", &file);

	if (err)
		return err;
	err = add_stream(rules, file, path);
	fclose(file);
	return err;
}

int fold_rules_add_user(struct fold_rules *rules)
{
	char buffer[4096];
	const char *path = user_file_find("PINCH_FOLD_RULES", "fold.rules", buffer, sizeof(buffer));

	return path ? fold_rules_add_file(rules, path) : 0;
}

static bool is_kind(const struct rule *rule, char kind)
{
	return rule->label[0] == kind && !rule->label[1];
}

static bool matches(const struct rule *rule, const struct verdict *names)
{
	return glob_matches(rule->function, names->function) &&
	       (!rule->module || glob_matches(rule->module, names->module));
}

/* Rules that say where threads wait have no part in how a frame is shown. */
static void judge(const struct fold_rules *rules, struct verdict *verdict)
{
	bool has_spin = false;

	for (size_t i = rules->count; i && !(verdict->rule && has_spin); i--) {
		const struct rule *rule = &rules->rules[i - 1];
		bool is_wait = is_kind(rule, '~');

		if ((verdict->rule || is_wait) && (has_spin || !(is_wait || is_kind(rule, '+'))))
			continue;
		if (!matches(rule, verdict))
			continue;
		if (!verdict->rule && !is_wait)
			verdict->rule = rule;
		if (!has_spin && (is_wait || is_kind(rule, '+'))) {
			has_spin = true;
			verdict->is_spin = is_wait;
		}
	}
}

static struct verdict verdict_of(const struct fold_rules *rules, const struct report_frame *frame)
{
	struct verdict *known, verdict = {
		.function = frame->function && *frame->function ? frame->function : "-",
		.module = frame->file_module ? frame->file_module
			  : frame->module    ? frame->module
					     : "",
	};
	uint64_t key;

	if (!rules)
		return verdict;
	key = hash_string(hash_string(1, verdict.function), verdict.module);
	known = table_find(rules->verdicts, key);
	if (known && !strcmp(known->function, verdict.function) && !strcmp(known->module, verdict.module))
		return *known;
	judge(rules, &verdict);
	if (!known && table_count(rules->verdicts) < VERDICTS_MAX) {
		known = arena_alloc(rules->arena, sizeof(*known));
		*known = verdict;
		known->function = arena_strdup(rules->arena, verdict.function);
		known->module = arena_strdup(rules->arena, verdict.module);
		table_put(rules->verdicts, key, known);
	}
	return verdict;
}

const char *fold_find_label(const struct fold_rules *rules, const struct report_frame *frame)
{
	const struct rule *rule = verdict_of(rules, frame).rule;

	return rule && !is_kind(rule, '-') && !is_kind(rule, '+') ? rule->label : NULL;
}

bool fold_is_plumbing(const struct fold_rules *rules, const struct report_frame *frame)
{
	const struct rule *rule = verdict_of(rules, frame).rule;

	return frame->is_kernel || (rule && !is_kind(rule, '+'));
}

/* Of libraries that go into each other without the user's code, the call that says most. */
static const struct report_frame *library_call(const struct fold_rules *rules, const struct report_frame *frames,
					       size_t count)
{
	const struct report_frame *found = NULL;

	for (size_t i = 0; i < count; i++) {
		if (frames[i].is_kernel)
			continue;
		if (fold_find_label(rules, &frames[i]))
			break;
		if (frames[i].function && !frames[i].is_inlined)
			found = &frames[i];
	}
	return found;
}

/* Of the user's own code without a name, the innermost caller that has one; if none has, the code itself. */
static const struct report_frame *named_caller(const struct fold_rules *rules, const struct report_frame *frames,
					       size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (frames[i].function && !frames[i].is_kernel && !fold_find_label(rules, &frames[i]))
			return &frames[i];
	return frames;
}

const struct report_frame *fold_find_headline(const struct fold_rules *rules, const struct report_frame *frames,
					      size_t count)
{
	const struct report_frame *found;

	for (size_t i = 0; i < count; i++)
		if (frames[i].function && !fold_is_plumbing(rules, &frames[i]))
			return &frames[i];
	for (size_t i = 0; i < count; i++)
		if (!fold_is_plumbing(rules, &frames[i]))
			return named_caller(rules, frames + i, count - i);
	found = library_call(rules, frames, count);
	for (size_t i = 0; !found && i < count; i++)
		if (!frames[i].is_kernel)
			found = &frames[i];
	return found || !count ? found : frames;
}

bool fold_is_spin(const struct fold_rules *rules, const struct report_frame *frame)
{
	return verdict_of(rules, frame).is_spin;
}

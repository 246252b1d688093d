/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/fold.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/report_frame.h"
#include "base/fail.h"
#include "base/memory.h"

/* The text of share/fold.rules as string literals, one a line: the build makes it. */
static const char builtin_rules[] =
#include "fold_rules.inc"
	;

enum { RULES_MAX = 4096, LINE_BYTES_MAX = 4096, FIELD_MAX = 3 };

struct rule {
	const char *label;	/* "-": plumbing, shown; "+": shown as any other; "~": waits */
	const char *function, *module;	/* patterns; module may be NULL */
};

struct fold_rules {
	struct arena *arena;
	struct rule *rules;	/* the last that matches wins: what came later overrides */
	size_t count, room;
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
	if (rules->count == rules->room) {
		rules->room = rules->room ? rules->room * 2 : 128;
		rules->rules = xrealloc(rules->rules, rules->room, sizeof(*rules->rules));
	}
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
			err = fail_plain(-EINVAL, "%s:%zu: line is longer than %d bytes", path,
					 number, LINE_BYTES_MAX - 2);
			break;
		}
		err = add_line(rules, line);
		if (err == -E2BIG)
			warn("%s:%zu: more than %d fold rules, the rest is ignored", path,
			     number, RULES_MAX);
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
	FILE *file = fopen(path, "re");
	int err;

	if (!file)
		return fail(-errno, "cannot read the fold rules in %s", path);
	err = add_stream(rules, file, path);
	fclose(file);
	return err;
}

int fold_rules_add_user(struct fold_rules *rules)
{
	const char *path = getenv("PINCH_FOLD_RULES");
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	char name[4096];
	FILE *file;
	int err;

	if (path && *path)
		return fold_rules_add_file(rules, path);
	if (config && *config)
		snprintf(name, sizeof(name), "%s/pinch/fold.rules", config);
	else if (home && *home)
		snprintf(name, sizeof(name), "%s/.config/pinch/fold.rules", home);
	else
		return 0;
	file = fopen(name, "re");
	if (!file)
		return 0;
	err = add_stream(rules, file, name);
	fclose(file);
	return err;
}

static bool is_kind(const struct rule *rule, char kind)
{
	return rule->label[0] == kind && !rule->label[1];
}

static bool matches(const struct rule *rule, const struct report_frame *frame)
{
	const char *function = frame->function && *frame->function ? frame->function : "-";
	const char *module = frame->module ? frame->module : "";

	return glob_matches(rule->function, function) &&
	       (!rule->module || glob_matches(rule->module, module));
}

/* How a frame is shown: those that say where threads wait have no part in it. */
static const struct rule *find_rule(const struct fold_rules *rules,
				    const struct report_frame *frame)
{
	for (size_t i = rules ? rules->count : 0; i; i--) {
		const struct rule *rule = &rules->rules[i - 1];

		if (!is_kind(rule, '~') && matches(rule, frame))
			return rule;
	}
	return NULL;
}

const char *fold_find_label(const struct fold_rules *rules, const struct report_frame *frame)
{
	const struct rule *rule = find_rule(rules, frame);

	return rule && !is_kind(rule, '-') && !is_kind(rule, '+') ? rule->label : NULL;
}

bool fold_is_plumbing(const struct fold_rules *rules, const struct report_frame *frame)
{
	const struct rule *rule = find_rule(rules, frame);

	return frame->is_kernel || (rule && !is_kind(rule, '+'));
}

/* Of libraries that go into each other without the user's code, the call that says most. */
static const struct report_frame *library_call(const struct fold_rules *rules,
					       const struct report_frame *frames, size_t count)
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

const struct report_frame *fold_find_headline(const struct fold_rules *rules,
					      const struct report_frame *frames, size_t count)
{
	const struct report_frame *found;

	for (size_t i = 0; i < count; i++)
		if (frames[i].function && !fold_is_plumbing(rules, &frames[i]))
			return &frames[i];
	for (size_t i = 0; i < count; i++)
		if (!fold_is_plumbing(rules, &frames[i]))
			return &frames[i];
	found = library_call(rules, frames, count);
	for (size_t i = 0; !found && i < count; i++)
		if (!frames[i].is_kernel)
			found = &frames[i];
	return found || !count ? found : frames;
}

bool fold_is_spin(const struct fold_rules *rules, const struct report_frame *frame)
{
	for (size_t i = rules ? rules->count : 0; i; i--) {
		const struct rule *rule = &rules->rules[i - 1];

		if ((is_kind(rule, '~') || is_kind(rule, '+')) && matches(rule, frame))
			return is_kind(rule, '~');
	}
	return false;
}

const struct report_frame *fold_find_spin(const struct fold_rules *rules,
					  const struct report_frame *frames, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (fold_is_spin(rules, &frames[i]))
			return &frames[i];
		if (!fold_is_plumbing(rules, &frames[i]))
			return NULL;
	}
	return NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/condition.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "compare/comparison.h"

enum { LIMIT_DIGITS_MAX = 40 };

static const char *skip_blanks(const char *at)
{
	while (*at == ' ' || *at == '\t')
		at++;
	return at;
}

/* --- Reading ---------------------------------------------------------------------------------- */

static int fail_unknown(const char *text, const char *name)
{
	struct text names = { 0 };
	int err;

	for (unsigned int i = 0; i < FIGURES; i++) {
		figure_put_name(&names, i);
		text_put(&names, ", ");
	}
	err = fail_plain(-EINVAL, "no figure is called '%s' in --fail-if '%s'; there are %sedge \"LABEL\"", name, text,
			 names.bytes);
	text_fini(&names);
	return err;
}

static int parse_label(const char **at, struct condition *out)
{
	const char *begin = *at + 1, *end = **at == '"' ? strchr(begin, '"') : NULL;

	if (!end || end == begin)
		return fail_plain(-EINVAL,
				  "edge takes the label of a wait, in quotation marks: edge \"fsync\" > 10 %%, not "
				  "'%s'",
				  out->text);
	out->label = xcalloc(1, end - begin + 1);
	memcpy(out->label, begin, end - begin);
	*at = end + 1;
	return 0;
}

static int parse_name(const char **at, struct condition *out)
{
	size_t length = strcspn(*at, " \t<>=\"");
	char *name = xcalloc(1, length + 1);
	int err = 0;

	memcpy(name, *at, length);
	*at = skip_blanks(*at + length);
	out->figure = figure_find(name);
	if (!strcmp(name, "edge"))
		err = parse_label(at, out);
	else if (out->figure == FIGURES)
		err = fail_unknown(out->text, name);
	free(name);
	return err;
}

static int parse_operator(const char **at, struct condition *out)
{
	*at = skip_blanks(*at);
	if (**at != '<' && **at != '>')
		return fail_plain(-EINVAL,
				  "--fail-if compares with >, >=, < or <=, as in 'lost.lock > 10 %%'; "
				  "'%s' does not",
				  out->text);
	out->is_less = *(*at)++ == '<';
	out->is_equal_enough = **at == '=';
	*at = skip_blanks(*at + out->is_equal_enough);
	return 0;
}

/* A plain number: no infinity, no hexadecimal digits. */
static int parse_number(const char **at, struct condition *out)
{
	size_t length = strspn(*at, "+-.0123456789");
	char *end;

	if (length && length < LIMIT_DIGITS_MAX) {
		out->limit = strtod(*at, &end);
		if (end == *at + length) {
			*at = skip_blanks(end);
			return 0;
		}
	}
	return fail_plain(-EINVAL,
			  "--fail-if compares with a number and its unit, as in 'duration > 5 ms'; "
			  "'%s' does not",
			  out->text);
}

static int parse_unit(const char *at, struct condition *out)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	bool is_time = out->label || figure_is_time(out->figure);
	size_t length = strlen(at);

	while (length && isspace((unsigned char)at[length - 1]))
		length--;
	if (length == 1 && *at == '%') {
		out->is_share = true;
		out->limit /= 100;
		return 0;
	}
	if (!is_time && !length)
		return 0;
	for (size_t i = 0; is_time && i < sizeof(units) / sizeof(*units); i++) {
		if (strlen(units[i].name) != length || strncmp(at, units[i].name, length))
			continue;
		out->limit *= units[i].ns;
		return 0;
	}
	return fail_plain(-EINVAL,
			  is_time ? "the unit of a time is %%, s, ms, us or ns, in --fail-if '%s'"
				  : "a count has no unit but %%, in --fail-if '%s'",
			  out->text);
}

int condition_parse(const char *text, struct condition *out)
{
	const char *at = skip_blanks(text);
	int err;

	*out = (struct condition){ .text = text };
	err = parse_name(&at, out);
	if (!err)
		err = parse_operator(&at, out);
	if (!err)
		err = parse_number(&at, out);
	if (!err)
		err = parse_unit(at, out);
	if (err)
		condition_fini(out);
	return err;
}

void condition_fini(struct condition *condition)
{
	free(condition->label);
	*condition = (struct condition){ 0 };
}

/* --- Deciding --------------------------------------------------------------------------------- */

/* The time of all that is called so; what lies below such a node is part of it. */
static struct difference edge_difference(const struct comparison *comparison, const struct condition *condition)
{
	const struct graph_set *set = comparison->set;
	bool *is_below = xcalloc(set->count + 1, sizeof(*is_below));
	struct sample sums[SIDES] = { { .count = 1 }, { .count = 1 } };
	bool is_found = false;

	for (size_t i = 0; i < set->count; i++) {
		const struct graph_set_node *node = &set->nodes[i];

		is_below[i] = node->parent != SIZE_MAX && is_below[node->parent];
		if (is_below[i] || !strstr(node->label, condition->label))
			continue;
		is_below[i] = is_found = true;
		for (unsigned int side = 0; side < SIDES; side++)
			sums[side].mean += graph_set_ns(set, node, side).mean;
	}
	free(is_below);
	if (!is_found)
		warn("no wait has the label '%s': its value in --fail-if '%s' is 0", condition->label, condition->text);
	return difference_of(&sums[FIRST_SIDE], &sums[SECOND_SIDE]);
}

bool condition_holds(const struct condition *condition, const struct comparison *comparison, double *change)
{
	struct difference difference;

	if (condition->label)
		difference = edge_difference(comparison, condition);
	else
		difference = comparison_of_figure(comparison, condition->figure);
	*change = condition->is_share ? difference_share(&difference) : difference.delta;
	if (*change == condition->limit)
		return condition->is_equal_enough;
	return condition->is_less ? *change < condition->limit : *change > condition->limit;
}

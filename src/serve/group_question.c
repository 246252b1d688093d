/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/group_question.h"

#include "base/text.h"
#include "serve/answer.h"

static const struct {
	const char *parameter, *option;
} options[GROUP_OPTIONS] = {
	{ "span", "--span" },       { "cycle", "--cycle" },     { "groups", "--groups" },
	{ "feature", "--feature" }, { "between", "--between" },
};

void group_question_read(const struct request *request, struct group_question *out)
{
	for (size_t i = 0; i < GROUP_OPTIONS; i++)
		if (!request_text(request, options[i].parameter, out->words[i], sizeof(out->words[i])))
			out->words[i][0] = '\0';
}

size_t group_question_put_arguments(const struct group_question *question, const char **arguments)
{
	size_t count = 0;

	for (size_t i = 0; i < GROUP_OPTIONS; i++)
		if (question->words[i][0]) {
			arguments[count++] = options[i].option;
			arguments[count++] = question->words[i];
		}
	return count;
}

void group_question_put_key(const struct group_question *question, struct text *out)
{
	for (size_t i = 0; i < GROUP_OPTIONS; i++)
		text_printf(out, "%s\n", question->words[i]);
}

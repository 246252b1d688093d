/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options/own_span_option.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "options/settings.h"
#include "own/own_span.h"

/* Where the choice of an execution begins. */
static char *choice_of(char *word)
{
	char *colon = strrchr(word, ':');

	if (colon &&
	    (!strcmp(colon + 1, "slowest") || (colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1))))
		return colon;
	return word + strlen(word);
}

int own_span_option(struct settings *settings, const char *word)
{
	struct text why = { 0 };
	struct own_span span;
	char *text;
	int err;

	if (!own_span_is_meant(word))
		return 0;
	text = xstrdup(word);
	*choice_of(text) = '\0';
	err = own_span_parse(text, &span, &why);
	if (err) {
		fail_plain(err, "--span %s: %s", word, why.bytes);
		free(text);
	} else {
		own_span_fini(&span);
		free(settings->own_span);
		settings->own_span = text;
	}
	text_fini(&why);
	return err;
}

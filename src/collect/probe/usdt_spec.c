/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/probe/usdt_spec.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

enum { PATTERN_BYTES_MAX = 128, TEXT_BYTES_MAX = 4096 };

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_*?";

/* "PROVIDER:PROBE" */
static bool is_pattern(const char *text)
{
	size_t provider = strspn(text, letters),
	       probe = text[provider] == ':' ? strspn(text + provider + 1, letters) : 0;

	return provider && probe && !text[provider + 1 + probe] && strlen(text) <= PATTERN_BYTES_MAX;
}

/* Behind the colon before the last one; NULL: there are not two. */
static const char *find_pattern(const char *text)
{
	const char *last = strrchr(text, ':'), *at = last;

	while (at && at > text && at[-1] != ':')
		at--;
	return at && at > text ? at : NULL;
}

int usdt_specs_add(struct usdt_specs *specs, const char *argument, struct text *why)
{
	const char *pattern = find_pattern(argument);
	size_t file_bytes = pattern ? pattern - argument - 1 : 0;
	struct usdt_spec *spec;

	if (specs->count == USDT_SPECS_MAX) {
		text_printf(why, "at most %d can be given", USDT_SPECS_MAX);
		return -EINVAL;
	}
	if (strlen(argument) > TEXT_BYTES_MAX || !is_pattern(pattern ? pattern : argument) ||
	    (pattern && !file_bytes)) {
		text_put(why, "probes are given as PROVIDER:PROBE or FILE:PROVIDER:PROBE, such as postgresql:query__*");
		return -EINVAL;
	}
	spec = &specs->list[specs->count++];
	spec->text = xstrdup(argument);
	spec->pattern = spec->text + (pattern ? pattern - argument : 0);
	spec->file = pattern ? xstrdup(argument) : NULL;
	if (pattern)
		spec->file[file_bytes] = '\0';
	return 0;
}

void usdt_specs_fini(struct usdt_specs *specs)
{
	while (specs->count) {
		specs->count--;
		free(specs->list[specs->count].text);
		free(specs->list[specs->count].file);
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/names/go_names.h"

#include <ctype.h>
#include <string.h>

#include "report/report_frame.h"

bool go_is(const struct report_frame *frame)
{
	const char *end = frame->file ? strrchr(frame->file, '.') : NULL;

	return frame->function && end && !strcmp(end, ".go");
}

bool go_is_library(const struct report_frame *frame)
{
	/* What the import paths of its packages begin with: https://pkg.go.dev/std. */
	static const char *const roots[] = {
		"archive", "bufio",   "bytes",    "cmp",      "compress", "container", "context", "crypto",  "database",
		"debug",   "embed",   "encoding", "errors",   "expvar",   "flag",      "fmt",     "go",      "hash",
		"html",    "image",   "index",    "internal", "io",       "iter",      "log",     "maps",    "math",
		"mime",    "net",     "os",       "path",     "plugin",   "reflect",   "regexp",  "runtime", "slices",
		"sort",    "strconv", "strings",  "structs",  "sync",     "syscall",   "testing", "text",    "time",
		"type",    "unicode", "unique",   "unsafe",   "vendor",   "weak",
	};
	size_t length = go_is(frame) ? strcspn(frame->function, "./:") : 0;

	for (size_t i = 0; length && i < sizeof(roots) / sizeof(*roots); i++)
		if (strlen(roots[i]) == length && !strncmp(frame->function, roots[i], length))
			return true;
	return false;
}

/* "main.serve.func1", "main.serve.func1.2" */
static bool is_closure(const char *function)
{
	const char *found = strstr(function, ".func");

	return found && isdigit((unsigned char)found[strlen(".func")]);
}

const struct report_frame *go_find_own(const struct report_frame *frames, size_t count)
{
	const struct report_frame *first = NULL;

	for (size_t i = 0; i < count; i++) {
		if (!go_is(&frames[i]) || go_is_library(&frames[i]))
			continue;
		if (!first)
			first = &frames[i];
		if (!is_closure(frames[i].function))
			return &frames[i];
	}
	return first;
}

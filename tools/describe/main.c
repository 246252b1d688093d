/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Usage: describe schema|types. Writes what the report is made of to standard output. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "describe.h"

int main(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";
	struct text out = { 0 };

	if (!strcmp(what, "schema")) {
		describe_schema(&out);
	} else if (!strcmp(what, "types")) {
		describe_types(&out);
	} else {
		fprintf(stderr, "Usage: describe schema|types\n");
		return 2;
	}
	fputs(out.bytes, stdout);
	text_fini(&out);
	return fflush(stdout) ? 1 : 0;
}

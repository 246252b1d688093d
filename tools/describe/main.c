/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Usage: describe types|NAME. Writes the types of all documents, or the schema of one, to standard output. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "describe.h"
#include "documents.h"

int main(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";
	const struct document *document = document_find(what);
	struct text out = { 0 };

	if (document) {
		describe_schema(&out, document);
	} else if (!strcmp(what, "types")) {
		describe_types(&out);
	} else {
		fprintf(stderr, "Usage: describe types|NAME\n");
		return 2;
	}
	fputs(out.bytes, stdout);
	text_fini(&out);
	return fflush(stdout) ? 1 : 0;
}

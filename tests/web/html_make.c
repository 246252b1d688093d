/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Usage: html_make OUT NAME=FILE... Makes the HTML of parts whose JSON is in files, so that the page can be
 * tested with data that no run gives.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "view/html/html.h"
#include "view/output.h"

static int take_file(const char *path, struct text *out)
{
	char bytes[1 << 16];
	FILE *file = fopen(path, "re");
	size_t n;

	if (!file) {
		perror(path);
		return EXIT_FAILURE;
	}
	while ((n = fread(bytes, 1, sizeof(bytes), file)) > 0)
		text_put_bytes(out, bytes, n);
	fclose(file);
	return 0;
}

int main(int argc, char **argv)
{
	struct html *html = html_new();
	struct text out = { 0 };
	int status = argc < 2;

	for (int i = 2; i < argc && !status; i++) {
		char *file = strchr(argv[i], '=');

		if (file)
			*file++ = '\0';
		status = file ? take_file(file, html_part(html, argv[i])) : EXIT_FAILURE;
	}
	if (html_has_part(html, "viewer"))
		html_serve(html);
	if (!status) {
		html_put(html, &out);
		status = output_write(argv[1], &out) ? EXIT_FAILURE : 0;
	}
	text_fini(&out);
	html_free(html);
	return status;
}

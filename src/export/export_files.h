/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that traced processes run code of, by the names that frames have, as the events of mappings say it. */
#pragma once

#include <stdint.h>

struct ev_header;

struct export_file {
	const char *path;     /* escaped */
	const char *build_id; /* hexadecimal, in lower case; "": the file has none */
};

struct export_files;

struct export_files *export_files_new(void);
void export_files_free(struct export_files *files);

/* An event of the trace; only those of mappings count. */
void export_files_take(struct export_files *files, const struct ev_header *event);

/* The base name of the first one, which is the program that ran first; NULL: none is known. */
const char *export_files_first(const struct export_files *files);

/* The file whose base name this is, as long as the files live; NULL: none is known, or more than one. */
const struct export_file *export_files_find(const struct export_files *files, const char *name);

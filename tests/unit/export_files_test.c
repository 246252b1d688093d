/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of the traced, by the events of mappings: by name, and only where that is sure. */
#include "test.h"

#include <string.h>

#include "events.h"
#include "export/export_files.h"

enum { PATH_BYTES = 64, ID_BYTES = 4 };

/* A process maps a file whose build-id is four times that byte; 0: it has none. */
static void map(struct export_files *files, const char *path, uint8_t id)
{
	union {
		struct ev_space_map e;
		char bytes[sizeof(struct ev_space_map) + PATH_BYTES];
	} event = { .e.header = { .subsys = TRACE_SUBSYS_SPACE, .event = TRACE_EVENT_SPACE_MAP } };

	event.e.build_id_size = id ? ID_BYTES : 0;
	memset(event.e.build_id, id, ID_BYTES);
	snprintf(event.e.path, PATH_BYTES, "%s", path);
	export_files_take(files, &event.e.header);
}

TEST(a_file_is_found_by_its_base_name_with_path_and_build_id)
{
	struct export_files *files = export_files_new();

	map(files, "/usr/bin/server", 0xab);
	map(files, "/usr/lib/libc.so.6", 0);
	map(files, "/usr/bin/server", 0xab);
	CHECK_STRING(export_files_find(files, "server")->path, "/usr/bin/server");
	CHECK_STRING(export_files_find(files, "server")->build_id, "abababab");
	CHECK_STRING(export_files_find(files, "libc.so.6")->build_id, "");
	CHECK(!export_files_find(files, "libc.so"));
	CHECK_STRING(export_files_first(files), "server");
	export_files_free(files);
}

TEST(a_name_that_two_files_have_leads_to_neither)
{
	struct export_files *files = export_files_new();

	map(files, "/old/server", 1);
	map(files, "/new/server", 2);
	map(files, "/old/server", 1);
	map(files, "/a/tool", 0);
	map(files, "/b/tool", 0);
	map(files, "/a/copy", 3);
	map(files, "/b/copy", 3);
	CHECK(!export_files_find(files, "server"));
	CHECK(!export_files_find(files, "tool"));
	CHECK_STRING(export_files_find(files, "copy")->path, "/a/copy");
	export_files_free(files);
}

TEST(what_is_no_file_is_left_out_and_hostile_paths_are_escaped)
{
	struct export_files *files = export_files_new();

	map(files, "[vdso]", 0);
	CHECK(!export_files_find(files, "[vdso]") && !export_files_first(files));
	map(files, "/tmp/a\033[2J", 5);
	CHECK(!strchr(export_files_find(files, "a\033[2J")->path, '\033'));
	export_files_free(files);
}

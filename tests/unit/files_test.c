/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What files are called that have no path. */
#include "waits_fixture.h"

static const char *path_of(uint64_t file, uint64_t inode, uint32_t mode)
{
	struct {
		struct ev_file_path path;
		char name[8];
	} e = { .path = {
			.header = header_of(EV_FILE_PATH, 0),
			.file = file,
			.inode = inode,
			.mode = mode,
			.links = 1,
			.name_bytes = 1,
		} };
	const struct file_info *info;

	push(&e, sizeof(e.path) + 1);
	session_finish(session);
	info = files_find(files, file);
	return info ? info->path : NULL;
}

TEST(a_pipe_is_called_by_its_inode)
{
	begin();
	CHECK_STRING(path_of(name_of(1, KIND_PIPE), 17, 0010600), "pipe:[17]");
	end();
}

TEST(a_block_device_is_called_by_its_number)
{
	enum { KIND_BLOCK_DEVICE = 6 };

	begin();
	CHECK_STRING(path_of(name_of(1, KIND_BLOCK_DEVICE), 266338304 | 3, 0060600), "block device 254:3");
	end();
}

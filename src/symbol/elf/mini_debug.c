/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/elf/mini_debug.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>

#include "base/memory.h"

enum {
	DICTIONARY_BYTES_MAX = 64 << 20,
	FILE_BYTES_MAX = 64 << 20, /* the largest in Fedora has 5 MB */
	STEP_BYTES = 256 << 10,
};

static int unpack(const uint8_t *packed, size_t packed_bytes, void **out, size_t *out_bytes)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	lzma_ret status = LZMA_OK;
	uint8_t *bytes = NULL;
	size_t capacity = 0;

	if (lzma_stream_decoder(&stream, DICTIONARY_BYTES_MAX, 0) != LZMA_OK)
		return -EINVAL;
	stream.next_in = packed;
	stream.avail_in = packed_bytes;
	while (status == LZMA_OK && capacity < FILE_BYTES_MAX) {
		bytes = xrealloc(bytes, capacity + STEP_BYTES, 1);
		stream.next_out = bytes + capacity;
		stream.avail_out = STEP_BYTES;
		capacity += STEP_BYTES;
		status = lzma_code(&stream, LZMA_FINISH);
	}
	*out_bytes = stream.total_out;
	lzma_end(&stream);
	if (status != LZMA_STREAM_END) {
		free(bytes);
		return -EINVAL;
	}
	*out = bytes;
	return 0;
}

int mini_debug_open(Elf *elf, struct elf_file *file, void **bytes)
{
	Elf_Scn *scn = elf_find_section(elf, ".gnu_debugdata", NULL);
	Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
	void *unpacked;
	size_t size_bytes;
	Elf *mini;
	int err;

	if (!data || !data->d_buf)
		return -ENOENT;
	err = unpack(data->d_buf, data->d_size, &unpacked, &size_bytes);
	if (err)
		return err;
	mini = elf_memory(unpacked, size_bytes);
	if (!mini || elf_kind(mini) != ELF_K_ELF) {
		elf_end(mini);
		free(unpacked);
		return -EINVAL;
	}
	*file = (struct elf_file){ .elf = mini, .fd = -1 };
	*bytes = unpacked;
	return 0;
}

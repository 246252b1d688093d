/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/frames_key.h"

#include "base/table.h"
#include "report/report_frame.h"

uint64_t frames_key(const struct report_frame *frames, size_t count)
{
	uint64_t key = hash_u64(count);

	for (size_t i = 0; i < count; i++) {
		const struct report_frame *frame = &frames[i];

		key = hash_u64(key ^ (uintptr_t)frame->function) + frame->line;
		key = hash_u64(hash_u64(key ^ (uintptr_t)frame->module) ^ (uintptr_t)frame->file);
		if (!frame->function)
			key = hash_u64(key ^ frame->offset);
	}
	return key;
}

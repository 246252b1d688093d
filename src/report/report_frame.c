/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report_frame.h"

#include "base/text.h"

void report_frames_put(struct text *out, const struct report_frame *frames, size_t count)
{
	text_put(out, "");
	for (size_t i = 0; i < count; i++) {
		if (i)
			text_put(out, " < ");
		if (frames[i].function) {
			text_put_escaped(out, frames[i].function);
			continue;
		}
		text_put_escaped(out, frames[i].module ? frames[i].module : "[unknown]");
		text_printf(out, "+0x%llx", (unsigned long long)frames[i].offset);
	}
}

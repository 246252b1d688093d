/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/answer.h"

#include <stddef.h>

bool answer_is_valid(const struct answer *answer, size_t size_bytes)
{
	if (size_bytes <= offsetof(struct answer, text) || answer->text_bytes > ANSWER_TEXT_BYTES ||
	    answer->text_bytes != size_bytes - offsetof(struct answer, text) ||
	    answer->text[answer->text_bytes - 1] || answer->frame_count > SYMBOL_INLINE_MAX)
		return false;
	for (uint32_t i = 0; i < answer->frame_count; i++)
		if (answer->frames[i].function >= answer->text_bytes ||
		    answer->frames[i].file >= answer->text_bytes)
			return false;
	return true;
}

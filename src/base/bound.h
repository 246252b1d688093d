/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Binary search, in whatever is sorted and can be reached by index. */
#pragma once

#include <stddef.h>

/*
 * The first index from begin up to end, end excluded, for which is_before is false; end if there is none. is_before is an
 * expression in index, true up to some index and false from there on. begin and end are evaluated once.
 */
#define BOUND(begin, end, index, is_before)                                         \
	({                                                                          \
		size_t bound_low_ = (begin), bound_high_ = (end);                   \
                                                                                    \
		while (bound_low_ < bound_high_) {                                  \
			size_t index = bound_low_ + (bound_high_ - bound_low_) / 2; \
                                                                                    \
			if (is_before)                                              \
				bound_low_ = index + 1;                             \
			else                                                        \
				bound_high_ = index;                                \
		}                                                                   \
		bound_low_;                                                         \
	})

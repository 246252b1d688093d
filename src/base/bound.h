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

/* The same, where what is looked for is mostly near the end. */
#define BOUND_BACK(begin, end, index, is_before)                                                                    \
	({                                                                                                          \
		size_t back_first_ = (begin), back_high_ = (end);                                                   \
		size_t back_low_ = back_high_, back_step_ = 1;                                                      \
                                                                                                                    \
		for (; back_low_ > back_first_; back_step_ *= 2) {                                                  \
			size_t index = back_low_ - back_first_ > back_step_ ? back_low_ - back_step_ : back_first_; \
                                                                                                                    \
			if (is_before) {                                                                            \
				back_low_ = index + 1;                                                              \
				break;                                                                              \
			}                                                                                           \
			back_low_ = back_high_ = index;                                                             \
		}                                                                                                   \
		BOUND(back_low_, back_high_, index, is_before);                                                     \
	})

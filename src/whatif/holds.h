/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Since when who ends a wait has been at what is waited for: has had the lock, or made what comes. It may
 * have begun with that before anybody waited.
 */
#pragma once

#include <stdint.h>

struct lives;

enum hold_guess {
	HOLD_AS_SEEN, /* since somebody waited */
	/*
	 * A lock: as long before it was given away as on average of the holds whose length is known. Else since
	 * the same thread last ended a wait for the same, or was woken itself by a thread after that.
	 */
	HOLD_AS_USUAL,
	/* As the longest of these holds, or since the holder was last seen without it; since it last ended one. */
	HOLD_AS_LONG,
	HOLD_GUESSES,
};

/* Of each step that is a STEP_WAIT with a name, not later than it began. The caller frees the array. */
uint64_t *holds_since(const struct lives *lives, enum hold_guess guess);

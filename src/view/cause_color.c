/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/cause_color.h"

enum page_color cause_color(enum wait_cause cause)
{
	switch (cause) {
	case CAUSE_LOCK:
	case CAUSE_KERNEL_LOCK:
		return PAGE_RED;
	case CAUSE_CONDITION:
	case CAUSE_BARRIER:
	case CAUSE_SEMAPHORE:
	case CAUSE_JOIN:
		return PAGE_MAGENTA;
	case CAUSE_FILE:
	case CAUSE_PAGE_FAULT:
		return PAGE_BLUE;
	case CAUSE_SOCKET:
	case CAUSE_PIPE:
		return PAGE_CYAN;
	case CAUSE_THROTTLED:
		return PAGE_YELLOW;
	default:
		return PAGE_PLAIN;
	}
}

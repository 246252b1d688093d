/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "report/report_enums.h"

enum { REPORT_CAUSE_BYTES = 64 };

/* "lock", "other(pause)", for people; cause and syscall as of a wait. NULL: cause is unknown. */
const char *report_cause_text(char buffer[static REPORT_CAUSE_BYTES], enum wait_cause cause, const char *syscall);

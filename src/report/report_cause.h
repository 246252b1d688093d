/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

enum { REPORT_CAUSE_BYTES = 64 };

/* "lock", "other(pause)", for people; cause and syscall as of a wait. */
const char *report_cause_text(char buffer[static REPORT_CAUSE_BYTES], const char *cause, const char *syscall);

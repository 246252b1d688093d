/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report_cause.h"

#include <stdio.h>

const char *report_cause_text(char buffer[static REPORT_CAUSE_BYTES], enum wait_cause cause, const char *syscall)
{
	if (cause != CAUSE_OTHER)
		return wait_cause_name(cause);
	snprintf(buffer, REPORT_CAUSE_BYTES, "other(%s)", syscall ? syscall : "no system call");
	return buffer;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report_cause.h"

#include <stdio.h>
#include <string.h>

const char *report_cause_text(char buffer[static REPORT_CAUSE_BYTES], const char *cause, const char *syscall)
{
	if (strcmp(cause, "other") != 0)
		return cause;
	snprintf(buffer, REPORT_CAUSE_BYTES, "other(%s)", syscall ? syscall : "no system call");
	return buffer;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/thread_columns.h"

#include "report/report.h"

const struct thread_column thread_columns[] = {
#include "report/forms/columns_only.def"
#define COLUMN(KIND, member, title, since, meaning) { title, offsetof(struct report_thread, member) },
#include "report/thread.def"
#include "report/forms/undef.def"
};

uint64_t thread_column_ns(const struct report_thread *thread, size_t column)
{
	return *(const uint64_t *)((const char *)thread + thread_columns[column].at);
}

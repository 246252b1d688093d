/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The columns of tables of threads: the times that the report's description has a title for. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct report_thread;

struct thread_column {
	const char *title;
	size_t at; /* of a uint64_t, ns, in struct report_thread */
};

enum {
#include "report/forms/columns_only.def"
#define COLUMN(KIND, member, title, since, meaning) THREAD_COLUMN_##member,
#include "report/thread.def"
#include "report/forms/undef.def"
	THREAD_COLUMNS,
};

extern const struct thread_column thread_columns[THREAD_COLUMNS];

uint64_t thread_column_ns(const struct report_thread *thread, size_t column);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a column of a table in Parquet is. */
#pragma once

#include <stdbool.h>

enum parquet_type {
	PARQUET_NUMBER, /* a signed one of 64 bits */
	PARQUET_TIME,   /* the same: ns since 1970, UTC */
	PARQUET_STRING, /* UTF-8 */
};

struct parquet_column {
	const char *name;
	enum parquet_type type;
	bool is_optional; /* may be null */
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

struct trace_reader;

/* 0, or a negative errno after having said why the trace cannot be read. */
int trace_open(const char *path, struct trace_reader **out);

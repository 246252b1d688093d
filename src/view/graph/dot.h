/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What graphs in the language of Graphviz have in common. */
#pragma once

#include "graph/graph.h"

struct text;

/* A closing brace ends it. */
void dot_begin(struct text *out);

/* A string that may be hostile, with its quotes. */
void dot_put_quoted(struct text *out, const char *string);
const char *dot_shape(enum graph_kind kind);

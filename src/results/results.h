/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What commands make of traces, as programs and pages get it: graphs, critical paths, spans, predictions
 * and comparisons; and of programs with events of their own.
 * The structs are described in the .def files of this folder as the report is: src/report/forms/declare.def.
 * Who fills one in owns what it points to; strings are those of what is shown.
 *
 * Owns: what JSON has of traces and of programs; it computes nothing.
 * Used by: view/graph, view/trace, lanes, outside, serve.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report_enums.h"
#include "report/report_frame.h"

/* clang-format off */
#include "report/forms/declare.def"
#include "results/all.def"
#include "report/forms/undef.def"
/* clang-format on */

struct report_type;

/* Of whole documents. */
const struct report_type *result_graph_type(void);
const struct report_type *result_path_type(void);
const struct report_type *result_spans_type(void);
const struct report_type *result_whatif_type(void);
const struct report_type *result_comparison_type(void);
const struct report_type *result_configurations_alone_type(void);
const struct report_type *result_own_programs_type(void);
const struct report_type *result_viewed_type(void);
const struct report_type *result_now_type(void);
const struct report_type *result_stretch_type(void);
const struct report_type *result_means_type(void);
const struct report_type *result_state_type(void);
const struct report_type *result_alike_type(void);
const struct report_type *result_wait_lengths_type(void);

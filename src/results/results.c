/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/results.h"

#include "report/report_fields.h"

/* clang-format off */
#include "report/forms/tables.def"
#include "results/all.def"
#include "report/forms/undef.def"
/* clang-format on */

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How far apart two samples are, as JSON has it. */
#pragma once

#include "results/results.h"

struct difference;
struct sample;

struct result_sample sample_result(const struct sample *sample);
struct result_difference difference_result(const struct difference *difference);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The formats: a file each. */
#pragma once

struct export_format;

extern const struct export_format perfetto_format, speedscope_format, folded_format, chrome_format, pprof_format,
	csv_format, firefox_format, ctf_format, parquet_format, otlp_format, rollup_format;

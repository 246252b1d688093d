/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comparison for a browser; of two runs, with both reports, whose call paths it can then compare, too. */
#pragma once

struct compare_reports;
struct comparison_view;
struct settings;

/* 0, or a negative errno after a message. */
int compare_html_write(const struct settings *settings, const struct comparison_view *view,
		       const struct compare_reports *reports);

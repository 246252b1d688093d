/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Three runs or more, side by side, in all forms that the user asked for. */
#pragma once

struct compare_reports;
struct settings;

/* 0, or a negative errno after a message. */
int show_configurations(const struct settings *settings, const struct compare_reports *reports);

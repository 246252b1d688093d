/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/rows/pages.h"

const struct tui_page *const tui_pages[PAGES] = {
	[PAGE_SUMMARY] = &summary_page,
	[PAGE_PATHS] = &paths_page,
	[PAGE_SYNCHRONISATION] = &synchronisation_page,
	[PAGE_IO] = &io_page,
	[PAGE_LOCKS] = &locks_page,
	[PAGE_KLOCKS] = &klocks_page,
	[PAGE_THREADS] = &threads_page,
	[PAGE_BALANCE] = &balance_page,
	[PAGE_OUTPUT] = &output_page,
	[PAGE_GRAPH] = &graph_page,
	[PAGE_CRITICAL] = &critical_page,
};

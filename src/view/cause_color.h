/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One colour for waits of a kind, on every page of the terminal UI. */
#pragma once

#include "view/page.h"
#include "waits/wait_cause.h"

/* What threads do to each other, to files and to peers; PAGE_PLAIN: waits that need not cost anything. */
enum page_color cause_color(enum wait_cause cause);

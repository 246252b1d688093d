/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which wait starts the recording of a program's own events: "lock:10ms". */
#pragma once

#include <stdint.h>

#include "report/report_enums.h"

struct own_trigger_spec {
	enum wait_cause cause; /* as far as the call tells it: each wait for a futex is one for a lock */
	uint64_t longer_ns;    /* 0: there is none */
};

/* 0, or -EINVAL after having said what is wrong. */
int own_trigger_parse(const char *argument, struct own_trigger_spec *spec);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/PID/maps: what a living process has mapped to execute. */
#pragma once

#include <stdint.h>

#include "symbol/module.h"

/*
 * Calls on_mapping for each executable mapping; what identity points to is valid until the call
 * returns. 0, or the errno of the file.
 */
int maps_file_read(uint32_t pid,
		   void (*on_mapping)(void *data, const struct module_identity *identity,
				      uint64_t file_offset),
		   void *data);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Debug files from a debuginfod server, only when the user named one in DEBUGINFOD_URLS. The
 * library is loaded when it is asked for: a machine without it just has fewer lines.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Loads it, for who cannot later. */
void debuginfod_load(void);

/* A descriptor of the debug file with this build-id, or -errno. Gives up after 30 seconds. */
int debuginfod_fetch(const uint8_t *build_id, size_t size_bytes);

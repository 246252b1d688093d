/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Debug files from debuginfod servers. A process of its own asks them, the only one that uses the network; it
 * gets build-ids and gives descriptors.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "helper/spawner.h"

/* Whether the user wants servers to be asked. */
bool servers_are_wanted(void);

/* The process. */
void servers_serve(const struct helper_sockets *sockets);

/*
 * Asks that process for the debug file with this build-id. A descriptor, the caller's; -ENOENT: there is none,
 * or nobody to ask; socket: -1 for that.
 */
int servers_ask(int socket, const uint8_t *build_id, size_t size_bytes);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the process that asks debuginfod servers may do. */
#pragma once

/*
 * Loads what it takes to ask, makes the cache's directory, and gives up all but that, the network, and what is
 * needed to find and to trust a server. 0 or a negative errno: then it must not ask.
 */
int servers_confine(void);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A whole trace, for the page of the viewer. Making its history takes minutes if it is large: what there is of it is shown meanwhile. */
#pragma once

#include <stdbool.h>

struct states_waiter;
struct viewer;

/*
 * Reads the trace, and makes its history of states if there is none yet. shows_parts: the page has what there is of it, unless it has something
 * already. 0; -ECANCELED; or another negative errno, after a message.
 */
int viewer_load(struct viewer *viewer, struct states_waiter *waiter, bool shows_parts);

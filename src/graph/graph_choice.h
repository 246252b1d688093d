/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A graph of some waits alone. */
#pragma once

struct graph;
struct graph_labels;
struct wait_choice;

/*
 * Leaves the waits that are chosen, what is below them, and what is above them, whose times stay what they were; nothing else but the
 * root. Causes are those that system calls tell.
 */
void graph_choose(struct graph *graph, struct graph_labels *labels, const struct wait_choice *choice);

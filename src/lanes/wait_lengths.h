/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long the waits of a list are: of each thread a box, and of all a histogram. */
#pragma once

struct graph_labels;
struct text;
struct wait_list;

/* Puts a result_wait_lengths, of the waits that are found by now. Of very many threads, those that waited longest. */
void wait_lengths_put_json(const struct wait_list *list, struct graph_labels *labels, struct text *out);

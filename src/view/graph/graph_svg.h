/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

struct text;

/*
 * Has Graphviz, if it is installed, draw a graph in its language. 0, or a negative errno after
 * a message.
 */
int graph_dot_to_svg(const char *dot, struct text *out);

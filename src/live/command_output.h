/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a command writes to while the terminal UI has the terminal, and reads from: a pipe to us in
 * place of the terminal, and nothing.
 */
#pragma once

#include <stdbool.h>

struct command_output;
struct inheritance;

/* Changes what the command is going to inherit. 0 or a negative errno, after a message. */
int command_output_open(struct inheritance *inheritance, struct command_output **out);
void command_output_close(struct command_output *output);

/* The command has its ends: ours are closed. NULL is fine. */
void command_output_begin(struct command_output *output);

/* What is written can be read here; -1 when output is NULL. */
int command_output_fd(const struct command_output *output);

/* Passes what there is on to standard output. False when no more can come. */
bool command_output_pass(struct command_output *output);

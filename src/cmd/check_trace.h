/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Reads all of a trace and prints whether it is whole, to standard output. Exit status. */
int check_trace(const char *path, const char *name);

/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Closes a file that a traced program chose, unless its file system may be asked first and never answer
 * (FUSE, networks): then the descriptor stays open until the process ends, which may be killed.
 */
void file_close(int fd);

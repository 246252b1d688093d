/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SIGXFSZ, which the kernel sends to who writes beyond the limit on the size of files (ulimit -f): it would end
 * pinch without a word. Ignored, the write fails with EFBIG, and a message says so.
 */
#pragma once

/* For this process, first of all. */
void size_signal_ignore(void);

/* In a child that becomes another program: what pinch was given. */
void size_signal_restore(void);

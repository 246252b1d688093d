/* SPDX-License-Identifier: BSD-2-Clause */
/* Tells readers that the process has made its area. */
#pragma once

/* fd: of the area. Waits for nobody; async-signal-safe; changes errno. */
void pinchtrace_announce(int fd);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Handlers of signals that the environment asks for, where the program has none at its start. */
#pragma once

void pinchtrace_signals_start(void);

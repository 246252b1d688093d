/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pinch scope without a target: serves what all sessions of the machine trace. */
#pragma once

struct settings;

/* Until a signal, or for the settings' duration. Returns an exit status, after a message. */
int scope_sessions(const struct settings *settings);

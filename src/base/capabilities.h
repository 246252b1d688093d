/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What this process may do beyond its user. */
#pragma once

/*
 * Gives up every capability for good, inheritable ones too; no securebit keeps any. 0 or a negative errno. Root's
 * come back with an exec.
 */
int capabilities_drop(void);

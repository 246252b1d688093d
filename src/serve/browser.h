/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The user's browser. */
#pragma once

/* Opens a link in it, if the user has a desktop; else does nothing. */
void browser_open(const char *link);

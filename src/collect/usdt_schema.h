/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the event of a USDT probe's site is called, and what its fields are. */
#pragma once

struct text;
struct usdt_place;

/*
 * Puts it as plecoc(1) describes an event: subsystem 0 is the provider, its event 0 the probe, and arguments are fields arg1 to arg12
 * of 64 bits. Those that cannot be read are no fields.
 */
void usdt_schema_put(struct text *text, const struct usdt_place *place);

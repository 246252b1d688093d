/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a file or a socket was waited for, and who is at its other end, in words. */
#pragma once

struct report_peer;
struct report_socket;
struct report_transfer;
struct text;

/* "db.example:3306", or the address when the host has no name; not escaped, empty: no other end. */
void io_put_address(struct text *text, const struct report_socket *socket);

/* "event counter" of "[eventfd]"; empty when the path says it all. */
const char *io_plain_words(const char *path);

/* "reading", "writing", "both"; empty: neither. */
const char *io_direction(const struct report_transfer *transfer);

/* "4.0 KB asked for at a time"; nothing when that is unknown. */
void io_put_asked(struct text *text, const struct report_transfer *transfer);

/* "feed-1 of feeder (4803), which ended 97 % of it", names escaped; nothing when nobody is known. */
void io_put_peer(struct text *text, const struct report_peer *peer);

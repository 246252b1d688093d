// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted cause: a process writes rows into a pipe, which is full: the process at its other end compresses each block
 * for 5 ms. Cured: for 0.5 ms.
 * Known answer: compress_block() in `compressor`.
 */
#include "planted.h"

enum { BLOCK_BYTES = 65536, FORMAT_US = 500, COMPRESS_US = 5000, CURED_US = 500 };

static int ends[2];

static OWN_FRAME void compress_block(void)
{
	burn_us(is_cured ? CURED_US : COMPRESS_US);
}

static void run_compressor(void)
{
	char *block = malloc(BLOCK_BYTES);
	ssize_t length;

	close(ends[1]);
	for (size_t at = 0;; at = at == BLOCK_BYTES ? 0 : at) {
		length = read(ends[0], block + at, BLOCK_BYTES - at);
		if (length <= 0)
			die("read");
		at += length;
		if (at == BLOCK_BYTES)
			compress_block();
	}
}

static OWN_FRAME void export_rows(void)
{
	static char block[BLOCK_BYTES];

	burn_us(FORMAT_US);
	if (write(ends[1], block, sizeof(block)) != sizeof(block))
		die("write");
}

int main(int argc, char **argv)
{
	planted_open(argc, argv);
	if (pipe(ends))
		die("pipe");
	role_fork("compressor", run_compressor);
	role_name_self("exporter");
	for (;;) {
		export_rows();
		planted_done(1);
	}
}

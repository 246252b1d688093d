// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted cause: a parallel loop of OpenMP shares rows of a triangle in equal parts: the last rows are the long ones,
 * so that one thread has three times the work of the other one. Cured: rows are shared out one by one.
 * Known answer: eliminate_row(), in the loop of factor_matrix().
 */
#include "planted.h"
#include <omp.h>

enum { THREADS = 2, ROWS = 64, ELEMENT_US = 10 };

static OWN_FRAME void eliminate_row(int row)
{
	burn_us(row * ELEMENT_US);
}

static OWN_FRAME void factor_matrix(void)
{
#pragma omp parallel for schedule(runtime) num_threads(THREADS)
	for (int row = 0; row < ROWS; row++)
		eliminate_row(row);
}

int main(int argc, char **argv)
{
	planted_open(argc, argv);
	omp_set_schedule(is_cured ? omp_sched_dynamic : omp_sched_static, is_cured ? 1 : 0);
	for (;;) {
		factor_matrix();
		planted_done(1);
	}
}

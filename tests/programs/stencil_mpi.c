// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stencil_mpi [ITERATIONS [SKEW [poll]]]		(1000, 6)
 *	mpirun --allow-run-as-root --oversubscribe -n 4 --mca mpi_yield_when_idle 1 stencil_mpi
 * Planted bottleneck: a 2-D Jacobi stencil whose rows are shared unevenly: rank 0 has SKEW times
 * the rows of any other rank, and all wait for it through their neighbours.
 * Known answer: relax() in rank 0 leads; the other ranks wait in wait_for_halo(), as `sleep`.
 *
 * Open MPI polls while it waits, which looks like work: with `poll` no rank blocks, and all seem to do
 * the same, except for --spin-inactive. Without, the halo exchange waits by MPI_Test and nanosleep(),
 * 50 us first and 50 us more each time up to 500 us: imbalance shows as blocked time. With SKEW 3,
 * two CPUs would be equally loaded, and the waiting would be for a CPU instead.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COLUMNS = 1024, TOTAL_ROWS = 2048, STEP_NS = 50000, SLEEP_NS_MAX = 500000 };

static int polls;

static __attribute__((noinline)) void wait_for_halo(MPI_Request *requests, int count)
{
	struct timespec pause = { 0, 0 };
	int is_done;

	if (polls) {
		MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
		return;
	}
	for (;;) {
		MPI_Testall(count, requests, &is_done, MPI_STATUSES_IGNORE);
		if (is_done)
			return;
		if (pause.tv_nsec < SLEEP_NS_MAX)
			pause.tv_nsec += STEP_NS;
		nanosleep(&pause, NULL);
	}
}

/* Rows 0 and rows + 1 of the grid belong to the neighbours. */
static void exchange_halo(double *grid, int rows, int rank, int rank_count)
{
	MPI_Request requests[4];
	int count = 0;

	if (rank > 0) {
		MPI_Irecv(grid, COLUMNS, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, &requests[count++]);
		MPI_Isend(grid + COLUMNS, COLUMNS, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, &requests[count++]);
	}
	if (rank < rank_count - 1) {
		MPI_Irecv(grid + (size_t)(rows + 1) * COLUMNS, COLUMNS, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD,
			  &requests[count++]);
		MPI_Isend(grid + (size_t)rows * COLUMNS, COLUMNS, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD,
			  &requests[count++]);
	}
	wait_for_halo(requests, count);
}

static __attribute__((noinline)) void relax(const double *from, double *to, int rows)
{
	for (int row = 1; row <= rows; row++) {
		const double *here = from + (size_t)row * COLUMNS;

		for (int column = 1; column < COLUMNS - 1; column++)
			to[(size_t)row * COLUMNS + column] = 0.25 * (here[column - 1] + here[column + 1] +
								     here[column - COLUMNS] + here[column + COLUMNS]);
	}
}

int main(int argc, char **argv)
{
	int iterations = argc > 1 ? atoi(argv[1]) : 1000, skew = argc > 2 ? atoi(argv[2]) : 6;
	int rank, rank_count, rows;
	double *from, *to, mine = 0, total = 0;

	polls = argc > 3 && !strcmp(argv[3], "poll");
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
	rows = TOTAL_ROWS / (skew + rank_count - 1) * (rank ? 1 : skew);
	from = calloc((size_t)(rows + 2) * COLUMNS, sizeof(*from));
	to = calloc((size_t)(rows + 2) * COLUMNS, sizeof(*to));
	if (!from || !to || rows < 1) {
		fprintf(stderr, "usage: stencil_mpi [ITERATIONS [SKEW [poll]]]\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	for (int row = 1; row <= rows; row++) /* a hot left edge */
		from[(size_t)row * COLUMNS] = to[(size_t)row * COLUMNS] = 1;

	for (int i = 0; i < iterations; i++) {
		double *swap = from;

		exchange_halo(from, rows, rank, rank_count);
		relax(from, to, rows);
		from = to;
		to = swap;
	}
	for (int row = 1; row <= rows; row++)
		for (int column = 0; column < COLUMNS; column++)
			mine += from[(size_t)row * COLUMNS + column];
	MPI_Reduce(&mine, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (!rank)
		printf("%d iterations, sum %.6f\n", iterations, total);
	free(from);
	free(to);
	MPI_Finalize();
	return 0;
}

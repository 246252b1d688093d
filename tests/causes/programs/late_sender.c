// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mpirun -n 2 late_sender [cured]
 * Planted cause: rank 1 waits in MPI_Recv() for what rank 0 assembles for 20 ms and then sends. Open MPI polls: rank 1
 * is on its CPU all the time. Cured: it is assembled in 1 ms.
 * Known answer: assemble_load() in rank 0; rank 1 spins in MPI_Recv().
 */
#include "planted.h"
#include <mpi.h>

enum { WORDS = 1024, ASSEMBLE_US = 20000, CURED_US = 1000, SOLVE_US = 1000 };

static double load[WORDS];

static OWN_FRAME void assemble_load(void)
{
	burn_us(is_cured ? CURED_US : ASSEMBLE_US);
}

static OWN_FRAME void solve_step(void)
{
	burn_us(SOLVE_US);
}

static OWN_FRAME void receive_load(void)
{
	MPI_Recv(load, WORDS, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	planted_open(argc, argv);
	for (;;) {
		if (rank) {
			receive_load();
			solve_step();
			planted_done(1);
		} else {
			assemble_load();
			MPI_Ssend(load, WORDS, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
		}
	}
}

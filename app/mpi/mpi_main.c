/* mpi_main.c - the program oltr-mpi: `mpirun -n 4 oltr-mpi run FILE` divides the replications of a
 * run among the ranks.
 *
 * It is the program oltr with processes that form a team (team.h).  Each rank runs the shard of its
 * number with its own threads; rank 0 adds up the results and writes them.  The sums are integers,
 * so the results are the same bytes for any number of ranks. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "app/run/team.h"
#include "app/verbs/verbs.h"

enum { TAG_SIZE = 1, TAG_BYTES = 2 };
enum { PIECE = 1 << 28 }; /* bytes of one message: the counts of MPI are ints */

static int worst(int code)
{
    int of_all = code;
    return MPI_Allreduce(&code, &of_all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD) == MPI_SUCCESS
               ? of_all
               : EXIT_FAILED;
}

static int piece_of(size_t left)
{
    return left < PIECE ? (int)left : PIECE;
}

static bool send_bytes(const void *bytes, size_t size)
{
    unsigned long long length = size;
    const unsigned char *at = bytes;
    bool good =
        MPI_Send(&length, 1, MPI_UNSIGNED_LONG_LONG, 0, TAG_SIZE, MPI_COMM_WORLD) == MPI_SUCCESS;
    for (size_t done = 0; good && done < size; done += (size_t)piece_of(size - done))
        good = MPI_Send(at + done, piece_of(size - done), MPI_BYTE, 0, TAG_BYTES, MPI_COMM_WORLD) ==
               MPI_SUCCESS;
    return good;
}

static unsigned char *receive_bytes(uint32_t rank, size_t *size)
{
    unsigned long long length = 0;
    MPI_Status status;
    if (MPI_Recv(&length, 1, MPI_UNSIGNED_LONG_LONG, (int)rank, TAG_SIZE, MPI_COMM_WORLD,
                 &status) != MPI_SUCCESS)
        return NULL;
    unsigned char *bytes = malloc((size_t)length + 1);
    if (!bytes) { /* the other ranks would wait for ever */
        MPI_Abort(MPI_COMM_WORLD,
                  complain(EXIT_FAILED, "no memory for the results of rank %u", (unsigned)rank));
        return NULL;
    }
    *size = (size_t)length;
    for (size_t done = 0; done < *size; done += (size_t)piece_of(*size - done)) {
        if (MPI_Recv(bytes + done, piece_of(*size - done), MPI_BYTE, (int)rank, TAG_BYTES,
                     MPI_COMM_WORLD, &status) != MPI_SUCCESS) {
            free(bytes);
            return NULL;
        }
    }
    return bytes;
}

/* Other commands are run by rank 0 alone. */
static bool is_run(int argc, char **argv)
{
    return argc > 1 && strcmp(argv[1], "run") == 0;
}

int main(int argc, char **argv)
{
    int rank = 0, size = 1, threads = 0, code = EXIT_OK;
    if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &threads) != MPI_SUCCESS)
        return complain(EXIT_FAILED, "MPI does not start; start oltr-mpi with mpirun");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    struct team team = {(uint32_t)rank, (uint32_t)size, worst, send_bytes, receive_bytes};
    if (threads < MPI_THREAD_FUNNELED) {
        code = rank == 0 ? complain(EXIT_FAILED, "this MPI cannot be used by programs with threads")
                         : EXIT_FAILED;
    } else if (is_run(argc, argv)) {
        team_join(&team);
        complain_as_rank((unsigned)rank);
        if (rank > 0 && !freopen("/dev/null", "w", stdout)) /* rank 0 prints for all */
            fclose(stdout);
        code = cli_main(argc, argv);
    } else if (rank == 0) {
        code = cli_main(argc, argv);
    }
    MPI_Finalize();
    return code;
}

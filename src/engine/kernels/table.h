/* table.h - every kernel, and which version of it each kind of processor uses.
 *
 * A kernel is a function that has versions for vector instructions beside one in plain C, its twin,
 * with the same bits.  Row NAME has the type NAME_fn and the versions NAME_plain, NAME_avx2 and so
 * on; the header of its group says what it computes.  tests/kernels has one check for each row and
 * compares every version with the twin; a row without a check does not compile there.
 *
 * KERNEL(name)(arguments) calls the version in use; KERNEL_AT(name, cpu) is that of a processor.
 */
#ifndef OLTR_ENGINE_KERNELS_TABLE_H
#define OLTR_ENGINE_KERNELS_TABLE_H

#include "engine/kernels/checksum_kernels.h"
#include "engine/kernels/cpu.h"
#include "engine/kernels/draw_kernels.h"
#include "engine/kernels/forms_kernels.h"
#include "engine/kernels/jacobi_kernels.h"
#include "engine/kernels/ldl_kernels.h"
#include "engine/kernels/link_kernels.h"
#include "engine/kernels/logistic_kernels.h"
#include "engine/kernels/race_kernels.h"
#include "engine/kernels/rate_kernels.h"
#include "engine/kernels/recalibration_kernels.h"
#include "engine/kernels/topk_kernels.h"

/* clang-format off */
#define KERNEL_TABLE(ROW)                                         \
    /*  name                 on AVX2   on AVX-512  on NEON    */  \
    ROW(standard_normals,    avx2,     avx512,     neon)          \
    ROW(gauss_scores,        avx2,     avx512,     neon)          \
    ROW(prefetched_normals,  plain,    avx512,     plain)         \
    ROW(prefetched_scores,   plain,    avx512,     plain)         \
    ROW(beta_scores,         avx2,     avx2,       neon)          \
    ROW(cube_directions,     avx2,     avx2,       neon)          \
    ROW(gumbels,             avx2,     avx2,       neon)          \
    ROW(rate_hats_of,        avx2,     avx2,       plain)         \
    ROW(rate_draws,          avx2,     avx2,       neon)          \
    ROW(exponentials,        avx2,     avx2,       neon)          \
    ROW(jacobi_sums,         avx2,     avx512,     neon)          \
    ROW(beta_numbers_of,     avx2,     avx2,       plain)         \
    ROW(recalibrate_items,   avx2,     avx2,       plain)         \
    ROW(grid_observe,        avx2,     avx2,       plain)         \
    ROW(topk_f32,            avx2,     avx512,     neon)          \
    ROW(topk_f64,            avx2,     avx512,     neon)          \
    ROW(topk_gauss,          plain,    avx512,     plain)         \
    ROW(ldl_factor,          avx2,     avx2,       neon)          \
    ROW(ldl_update,          avx2,     avx512,     neon)          \
    ROW(ldl_learn,           avx2,     avx512,     neon)          \
    ROW(ldl_sample,          avx2,     avx512,     neon)          \
    ROW(ldl_solve,           avx2,     avx512,     neon)          \
    ROW(ldl_quadratic,       avx2,     avx512,     neon)          \
    ROW(rows_times,          avx2,     avx2,       neon)          \
    ROW(rows_times_several,  avx2,     avx512,     neon)          \
    ROW(rows_within,         avx2,     avx512,     neon)          \
    ROW(gram_add,            avx2,     avx512,     neon)          \
    ROW(ldl_solve_rows,      avx2,     avx512,     neon)          \
    ROW(rows_times_columns,  avx2,     avx2,       neon)          \
    ROW(whiten,              avx2,     avx2,       neon)          \
    ROW(lose_squares,        avx2,     avx512,     neon)          \
    ROW(logistic_residuals,  avx2,     avx512,     neon)          \
    ROW(probit_residuals,    avx2,     avx512,     neon)          \
    ROW(cloglog_residuals,   avx2,     avx512,     neon)          \
    ROW(polya_gamma_normals, avx2,     avx512,     plain)         \
    ROW(linear_terms,        avx2,     avx2,       neon)          \
    ROW(weighted_sum,        avx2,     avx512,     plain)         \
    ROW(row_products,        avx2,     avx512,     plain)         \
    ROW(weights_near,        avx2,     avx2,       plain)         \
    ROW(subtract_product,    avx2,     avx2,       plain)         \
    ROW(first_arrivals,      avx2,     avx512,     plain)         \
    ROW(few_ties,            plain,    avx512,     plain)         \
    ROW(checksum32,          avx2,     avx2,       plain)
/* clang-format on */

#if OLTR_X86
#define KERNEL_VERSIONS(name, avx2, avx512, neon)                                                  \
    {                                                                                              \
        name##_plain, name##_##avx2, name##_##avx512                                               \
    }
#elif OLTR_ARM64
#define KERNEL_VERSIONS(name, avx2, avx512, neon)                                                  \
    {                                                                                              \
        [OLTR_CPU_PLAIN] = name##_plain, [OLTR_CPU_NEON] = name##_##neon                           \
    }
#else
#define KERNEL_VERSIONS(name, avx2, avx512, neon)                                                  \
    {                                                                                              \
        name##_plain                                                                               \
    }
#endif

#define KERNEL_ROW(name, avx2, avx512, neon)                                                       \
    name##_fn name##_plain, name##_avx2, name##_avx512, name##_neon;                               \
    static inline name##_fn *name##_at(uint32_t cpu)                                               \
    {                                                                                              \
        static name##_fn *const version[] = KERNEL_VERSIONS(name, avx2, avx512, neon);             \
        return version[cpu];                                                                       \
    }
KERNEL_TABLE(KERNEL_ROW)
#undef KERNEL_ROW

#define KERNEL_AT(name, cpu) name##_at(cpu)
#define KERNEL(name) KERNEL_AT(name, cpu_in_use())

#endif

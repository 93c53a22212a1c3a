// Compiled for AVX2 (CMakeLists.txt) and called only where the machine has it.

#if defined(__AVX2__)

#define OAS_KERNEL_NAMESPACE avx2
#include "oas/estimation/likelihood/detail/likelihood_kernel_impl.hpp"

namespace oas::detail {

const LikelihoodKernels& likelihood_kernels_avx2(int num_states);

const LikelihoodKernels& likelihood_kernels_avx2(int num_states) {
  return avx2::kernels(num_states);
}

}  // namespace oas::detail

#endif

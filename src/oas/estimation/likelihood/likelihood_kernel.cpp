#define OAS_KERNEL_NAMESPACE portable
#include "oas/estimation/likelihood/detail/likelihood_kernel_impl.hpp"

namespace oas::detail {

const LikelihoodKernels& portable_likelihood_kernels(int num_states) {
  return portable::kernels(num_states);
}

#if defined(__x86_64__)
const LikelihoodKernels& likelihood_kernels_avx2(int num_states);  // likelihood_kernel_avx2.cpp

const LikelihoodKernels& likelihood_kernels(int num_states) {
  static const bool wide = __builtin_cpu_supports("avx2") != 0;
  return wide ? likelihood_kernels_avx2(num_states) : portable::kernels(num_states);
}
#else
const LikelihoodKernels& likelihood_kernels(int num_states) {
  return portable::kernels(num_states);
}
#endif

}  // namespace oas::detail

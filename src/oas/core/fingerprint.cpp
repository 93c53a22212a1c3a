#include "oas/core/fingerprint.hpp"

#include <fmt/format.h>

#include <cmath>
#if __has_include(<gnu/libc-version.h>)
#include <gnu/libc-version.h>
#endif

namespace oas {

namespace {

std::string library_name() {
#if __has_include(<gnu/libc-version.h>)
  return fmt::format("glibc {}", gnu_get_libc_version());
#else
  return "unknown library";
#endif
}

// The arguments are known at run time only: a compiler that works these out by itself would tell of
// its own library.
std::uint64_t maths_fingerprint() {
  constexpr int kArguments = 2000;
  Fingerprint print;
  volatile double step = 0.00731;
  for (int i = 1; i <= kArguments; ++i) {
    const double x = i * step;
    for (const double y : {std::exp(x),        std::exp(-x), std::expm1(x),  std::log(x),
                           std::log1p(x),      std::log2(x), std::log10(x),  std::pow(x, 1.7),
                           std::pow(1.01, -x), std::sin(x),  std::cos(x),    std::tan(x),
                           std::tanh(x),       std::atan(x), std::lgamma(x), std::tgamma(x),
                           std::erf(x),        std::erfc(x), std::cbrt(x),   std::hypot(x, 1.0)}) {
      print.add(y);
    }
  }
  return print.value();
}

}  // namespace

const MathsLibrary& maths_library() {
  static const MathsLibrary library = {library_name(), fmt::format("{:016x}", maths_fingerprint())};
  return library;
}

}  // namespace oas

#pragma once

#include <cstddef>

namespace oas::test {

/// Allocations so far in this program, on all threads. Linking oas_test_allocations puts a counter
/// before malloc, so that Eigen's temporaries count too; under a sanitizer, which owns malloc, it
/// replaces operator new instead and sees what goes through that.
[[nodiscard]] std::size_t allocations();

}  // namespace oas::test

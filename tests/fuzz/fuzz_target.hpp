#pragma once

#include <cstddef>
#include <cstdint>

/// One fuzz target per program: log_fuzz.cpp, pomdp_fuzz.cpp, … defines it, and libFuzzer or
/// standalone.cpp calls it. It returns on every input, good or bad; a crash, an exception or a
/// sanitizer report is a finding.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

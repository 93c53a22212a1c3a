#include "fuzz/policy_round_trip.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return oas::test::check_policy_round_trip({reinterpret_cast<const char*>(data), size},
                                            oas::parse_alpha, oas::alpha_to_text);
}

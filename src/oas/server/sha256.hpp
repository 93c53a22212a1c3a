#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace oas {

/// SHA-256 (FIPS 180-4): of tokens, so that comparing them takes the same time whatever they are,
/// and of the scripts that a page may run.
using Sha256 = std::array<std::uint8_t, 32>;
[[nodiscard]] Sha256 sha256(std::string_view bytes);

/// RFC 4648, with padding.
[[nodiscard]] std::string base64(const Sha256& bytes);

}  // namespace oas

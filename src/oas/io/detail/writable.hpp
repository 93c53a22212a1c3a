#pragma once

#include <string_view>

#include "oas/core/contracts.hpp"
#include "oas/model/pomdp.hpp"

namespace oas::detail {

/// What the formats of the field can hold: throws InvalidArgument naming the kind of file unless
/// the model is of timing after and has a transition model.
inline void check_writable(const Pomdp& model, std::string_view kind) {
  OAS_REQUIRE(model.timing() == Timing::after,
              "a {} file holds models of timing after, this one is of timing {}", kind,
              to_string(model.timing()));
  OAS_REQUIRE(model.has_transition(), "a {} file needs a transition model; this one has none",
              kind);
}

}  // namespace oas::detail

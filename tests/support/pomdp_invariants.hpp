#pragma once

#include "oas/model/pomdp.hpp"

namespace oas::test {

/// What holds for every Pomdp, however it was made: sizes agree everywhere, all rows are
/// distributions, copies are equal, the JSON text reads back to an equal model, expected rewards
/// stay between the smallest and the largest reward, taking T away and putting it back changes
/// nothing. One line gives a new source of models its tests.
void expect_pomdp_invariants(const Pomdp& model);

}  // namespace oas::test

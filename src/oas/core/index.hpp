#pragma once

#include <cstdint>

namespace oas {

/// A 0-based index that cannot be confused with another kind: a State is no Action. It converts to
/// an integer by itself (to index arrays) and from one only when asked.
template <class Tag>
class Index {
 public:
  constexpr Index() = default;
  template <class Integer>
  constexpr explicit Index(Integer value) : value_(static_cast<std::int32_t>(value)) {}

  [[nodiscard]] constexpr std::int32_t value() const { return value_; }

  // Implicit on purpose: an index is used to index. (Eigen's operator() wants value().)
  constexpr operator std::int32_t() const { return value_; }  // NOLINT(google-explicit-constructor)

  constexpr Index& operator++() {
    ++value_;
    return *this;
  }

 private:
  std::int32_t value_ = 0;
};

/// Hidden state s, 0 <= s < num_states().
using State = Index<struct StateTag>;
/// Action a, 0 <= a < num_actions().
using Action = Index<struct ActionTag>;
/// Observation o, 0 <= o < num_observations(); kMissing where a log row has none.
using Observation = Index<struct ObservationTag>;

/// The observation of a row whose cell is empty.
inline constexpr Observation kMissing{-1};

}  // namespace oas

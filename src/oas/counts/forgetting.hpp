#pragma once

#include <cstdint>
#include <map>

namespace oas {

/// Of which rows behind it the age of a row is the number. With one run it does not matter.
enum class Age {
  unsaid,
  log,  ///< all, run after run and file after file in the order given: episodes of one unit
  run,  ///< those of its own run, whose last row has age 0: units that are watched side by side
};

/// How many runs there are of each length. At most √(2 rows) numbers.
using RunLengths = std::map<std::int64_t, std::int64_t>;

/// Weights by age, for dynamics that change slowly: a row counts
///
///     w(age) = 2^(-age/half_life) · [age < window].
///
/// With dynamics that drift by d per row, an estimate with weights of mean age m is biased by about
/// m d, and its variance is that of n_eff = (Σw)²/Σw² rows: half-life h has m = h/ln 2 and
/// n_eff = 2h/ln 2, a window of N rows m = N/2 and n_eff = N. Squared error
/// v ln 2/(2h) + (h d/ln 2)², with v the variance of one row, is least at h³ = v (ln 2)³/(4 d²),
/// and there the squared bias is half the variance.
struct Forgetting {
  double half_life = 0.0;   ///< in rows, at least 1; 0: rows do not fade
  std::int64_t window = 0;  ///< rows; 0: all
  Age age = Age::unsaid;

  /// Whether weights differ at all.
  [[nodiscard]] bool active() const { return half_life > 0.0 || window > 0; }
  /// Whether they do by the age within a run.
  [[nodiscard]] bool by_run() const { return active() && age == Age::run; }
  [[nodiscard]] double weight(double age) const;
  /// Σ w over ages first … first+count-1, divided by count. O(1).
  [[nodiscard]] double mean_weight(std::int64_t first, std::int64_t count) const;
  /// Weights of this age and beyond are below 2^-30 and taken for 0; the largest integer if none.
  [[nodiscard]] std::int64_t reach() const;
  /// n_eff of a log of such runs.
  [[nodiscard]] double effective_rows(const RunLengths& runs) const;
  /// The weights w²: half the half-life.
  [[nodiscard]] Forgetting squared() const { return {0.5 * half_life, window, age}; }
  /// Rows over which weights may be taken for equal: at most a 64th of the half-life, a power of 2
  /// between 16 and `most`; `most` when rows do not fade.
  [[nodiscard]] std::int64_t stretch(std::int64_t most) const;

  /// Throws InvalidArgument naming the field and the value.
  void validate() const;
  /// Throws InvalidArgument when there are several runs and nobody said what age is.
  void check_age(std::int64_t runs) const;

  friend bool operator==(const Forgetting&, const Forgetting&) = default;
};

}  // namespace oas

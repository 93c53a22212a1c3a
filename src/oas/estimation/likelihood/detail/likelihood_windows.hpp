#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "oas/estimation/likelihood/transition_likelihood.hpp"
#include "oas/model/row_source.hpp"

/// Long logs are passed window by window. Where windows begin follows from the number of rows
/// alone, and they are added up in their order; so the sums are the same in memory, from files, and
/// on the ranks of a team.
namespace oas::detail {

inline constexpr std::size_t kWindowRows = 1 << 19;
inline constexpr std::size_t kRowsAhead = 1 << 14;  // no chain of interest remembers longer

/// How many of `rows` that are left are the next window's own: all, where few remain ahead.
[[nodiscard]] constexpr std::size_t own_rows(std::size_t rows) {
  return rows < kWindowRows + kRowsAhead ? rows : kWindowRows;
}
/// Windows of so many rows.
[[nodiscard]] constexpr std::size_t num_windows(std::size_t rows) {
  return rows < kWindowRows + kRowsAhead ? 1 : 1 + (rows - kRowsAhead) / kWindowRows;
}

/// Some consecutive rows of `rows` with those ahead of them.
struct Window {
  const TransitionLikelihood* rows;
  std::size_t first;
  std::size_t end;  // of the rows ahead, too
  std::size_t rows_ahead;
  bool continues;  // the first row does not start a run

  [[nodiscard]] std::int64_t own_rows() const {
    return static_cast<std::int64_t>(end - first - rows_ahead);
  }
  /// Sets what a pass of this window must know; its first_belief is that of the window before.
  void look(PassOptions& options, std::int64_t rows_behind) const;
};

/// All rows in windows.
class RowWindows {
 public:
  virtual ~RowWindows() = default;
  /// False at the end.
  virtual bool next(Window& window) = 0;
  [[nodiscard]] virtual std::int64_t rows_read() const = 0;
};

/// Of rows in memory, and of a source that is read once more; `like` is of its model. Both outlive
/// the result.
[[nodiscard]] std::unique_ptr<RowWindows> stored_windows(const TransitionLikelihood& rows);
[[nodiscard]] std::unique_ptr<RowWindows> read_windows(RowSource& source,
                                                       const TransitionLikelihood& like);

/// Appends one row, with its likelihoods where it has some.
void append_to(TransitionLikelihood& rows, Action action, Observation observation,
               std::span<const double> likelihoods);

/// The options of each window's pass, where `rows` rows are passed in windows.
[[nodiscard]] PassOptions options_of_windows(const PassOptions& options, std::int64_t rows);

/// The passes of windows, added up in their order until one is impossible.
class WindowTotal {
 public:
  WindowTotal(const TransitionModel& transition, const PassOptions& options, int num_observations);

  void add(const LikelihoodPass& pass);
  [[nodiscard]] bool possible() const { return total_.possible(); }
  [[nodiscard]] LikelihoodPass finish();

  /// All but the batches, which are for take_batches().
  void save(ByteWriter& out) const;
  void load(ByteReader& in);
  /// The batches so far, which it then forgets; and those that come behind its own.
  [[nodiscard]] std::string take_batches();
  void add_batches(std::string_view bytes);

 private:
  LikelihoodPass total_;
};

}  // namespace oas::detail

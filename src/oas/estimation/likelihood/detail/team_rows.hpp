#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oas/core/team.hpp"
#include "oas/estimation/likelihood/detail/kept_rows.hpp"
#include "oas/estimation/likelihood/detail/likelihood_windows.hpp"
#include "oas/estimation/likelihood/row_likelihood.hpp"
#include "oas/model/row_slice.hpp"

namespace oas::detail {

/// What one rank of a team keeps of the rows of a long log, and its part in passes over all of
/// them. Windows are numbered over the whole log and dealt out in stretches; each rank has the rows
/// of its own and those ahead of them, in memory or, where they do not fit, in their files.
///
/// The belief with which a rank's first window starts is that at the end of the rank before. All
/// ranks work at the same time, because a chain forgets: each finds its last belief from the last
/// block of its last window, whose burn-in is known beforehand. When the rank before is done it
/// sends the belief that it really came to; where that differs by a bit, windows are passed again
/// until it makes no difference. With it comes the running total, so that windows are added up in
/// their order: to the bit what one process computes. A pass sends O(A S²) bytes from rank to rank,
/// and to rank 0 the scores of batches.
class TeamRows {
 public:
  /// Of a log that was counted, whose parts are `sources`; all ranks call it. `like`: an empty one
  /// of the model. Rows are those that ranks kept while they counted, or else read again.
  TeamRows(Team& team, const RowLikelihood& like, CountedRows counted,
           std::span<const std::shared_ptr<RowSource>> sources);

  /// One pass, on rank 0; the others help().
  [[nodiscard]] LikelihoodPass lead(const TransitionModel& transition, const PassOptions& options,
                                    Parallelism parallelism) const;
  void help(const std::string& order, Parallelism parallelism) const;

  [[nodiscard]] Team& team() const { return team_; }
  /// How many ranks have rows, the first ones; and whether this one has.
  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] bool takes_part() const { return team_.rank() < ranks_; }
  /// Of the log; a window begins there.
  [[nodiscard]] std::int64_t first_row() const {
    return static_cast<std::int64_t>(windows_.first * kWindowRows);
  }
  /// Whether it goes on in a run of the rank before.
  [[nodiscard]] bool continues() const { return continues_; }
  /// This rank's own rows, those ahead left out, or the first `most` of them, as
  /// RowLikelihood::visit_rows(); the first row starts no run where it goes on in one.
  void visit_rows(std::int64_t most, const ReceiveRow& receive) const;
  /// The same of the last `count` of them, fewer than a window; not on the last rank.
  void visit_last_rows(std::size_t count, const ReceiveRow& receive) const;

 private:
  struct Pass;
  [[nodiscard]] Stretch windows_of(int rank) const;
  [[nodiscard]] Stretch rows_of(int rank) const;
  [[nodiscard]] bool can_be_handed_over(Stretch rows, std::span<const Stretch> kept) const;
  void read(std::span<const std::int64_t> rows_of_sources,
            std::span<const std::shared_ptr<RowSource>> sources);
  void look_at_ends();
  [[nodiscard]] std::vector<double> guess_last_belief(const Pass& pass) const;
  [[nodiscard]] std::vector<double> guessed_first_belief(const Pass& pass) const;
  void pass_windows(Pass& pass, std::vector<double> belief) const;
  void correct(Pass& pass, std::vector<double> belief) const;
  [[nodiscard]] WindowTotal share(Pass& pass) const;

  Team& team_;
  std::int64_t all_rows_;
  int ranks_;  // that have windows
  Stretch windows_;
  std::unique_ptr<RowSlice> slice_;
  RowLikelihood own_;
  bool continues_ = false;                         // the first row does not start a run
  bool goes_on_ = false;                           // nor does the first one of the next rank
  Window last_{};                                  // window
  std::optional<TransitionLikelihood> last_rows_;  // of it, where they are not in memory
};

}  // namespace oas::detail

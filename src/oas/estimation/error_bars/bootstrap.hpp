#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/core/settings.hpp"
#include "oas/counts/pair_folder.hpp"
#include "oas/estimation/error_bars/confidence_region.hpp"
#include "oas/estimation/likelihood/maximum_likelihood.hpp"
#include "oas/estimation/likelihood/transition_likelihood.hpp"

/// Error bars by estimating again from resampled data (Efron 1979): what the asymptotic ones are to
/// be compared with.
namespace oas {

/// Where standard errors, intervals and regions come from.
enum class ErrorBars {
  asymptotic,            ///< delta method or observed information
  block_bootstrap,       ///< stretches of the log are drawn with replacement (Künsch 1989)
  parametric_bootstrap,  ///< observations are simulated under the estimate, actions as logged
};
[[nodiscard]] std::string_view to_string(ErrorBars kind);

struct BootstrapOptions {
  int resamples = 200;  ///< at least 20; the standard errors are known to 1/√(2 resamples)
  std::uint64_t seed = 1;
  ErrorBars error_bars = ErrorBars::asymptotic;  ///< asymptotic: nothing is resampled

  [[nodiscard]] bool active() const { return error_bars != ErrorBars::asymptotic; }

  template <class Fields>
  void visit(Fields& fields) {
    fields.choice("error_bars", error_bars,
                  {"asymptotic", "block-bootstrap", "parametric-bootstrap"},
                  "how error bars are computed");
    fields("resamples", resamples, {20, 1'000'000}, "number of bootstrap resamples");
    fields("seed", seed, "same seed, same bytes");
    fields.when(
        {"resamples", "seed"}, [this] { return active(); },
        "used only by bootstrap error bars (--error-bars)");
  }

  /// Throws InvalidArgument naming the field and the value.
  void validate() const;
};

/// Estimates made again. Resample r draws from the stream (seed, r, bootstrap): the same values for
/// any number of threads.
struct Resampled {
  std::vector<std::vector<double>> estimates;  ///< [resample][a][s][s']
  /// Pieces of the log that were drawn from; 0: it was simulated.
  std::size_t pieces = 0;

  /// Of freedom behind their spread: 1/(1/(resamples-1) + 1/(pieces-1)).
  [[nodiscard]] double degrees() const;

  friend bool operator==(const Resampled&, const Resampled&) = default;
};

/// D(s,s')/D(s,·), not clipped but cut to [-1,2]; a row whose sum is not positive is that of
/// `otherwise` (empty: 0).
[[nodiscard]] std::vector<double> moment_ratios(const PairMoments& total,
                                                const std::vector<double>& otherwise = {});

/// Estimates made by resample(r), on all threads, and on all ranks of a team, of which the others
/// do not return (core/task_farm.hpp).
[[nodiscard]] std::vector<std::vector<double>> resampled_estimates(
    int resamples, Parallelism parallelism,
    const std::function<std::vector<double>(std::size_t)>& resample);

/// moment_ratios() of batches drawn with replacement. O(resamples · batches · A S²).
[[nodiscard]] Resampled resample_batches(const MomentSeries& series,
                                         const BootstrapOptions& options,
                                         Parallelism parallelism = {});

/// Maxima of the likelihood of blocks of rows drawn with replacement, from `estimate` on. Blocks
/// are 16 to 128 stretches of about equal length, that start with a run where one starts less than
/// a block before. A block in the middle of a run starts from the belief that `estimate` had there.
/// Throws InvalidArgument below 1,024 rows. With a team all ranks call it, with the same rows.
[[nodiscard]] Resampled resample_blocks(const Pomdp& model, const TransitionLikelihood& rows,
                                        const TransitionModel& estimate,
                                        const LikelihoodOptions& climb,
                                        const BootstrapOptions& options,
                                        Parallelism parallelism = {});

/// The climb of one resample: from `estimate`, inside, and less exact than the estimate's own.
[[nodiscard]] std::vector<double> climb_again(const LikelihoodFunction& likelihood,
                                              const TransitionModel& estimate,
                                              const LikelihoodOptions& climb);

/// Replaces the error bars of `estimate` by the spread of `resampled`; rows without standard error
/// keep none. Regions follow where there were some.
void set_bootstrap_errors(const Resampled& resampled, ErrorBars kind, TransitionEstimate& estimate);

}  // namespace oas

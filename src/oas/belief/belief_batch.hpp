#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "oas/core/index.hpp"
#include "oas/model/pomdp.hpp"

namespace oas {

/// The exact beliefs of many runs of one model, kept side by side; each is to the bit what
/// BeliefFilter keeps. Nothing is allocated after construction, and the number of states is chosen
/// once per call, not once per belief. O(S²) per belief and update.
class BeliefBatch {
 public:
  /// Throws InvalidArgument when the model has no transition model.
  BeliefBatch(const Pomdp& model, std::size_t runs);
  BeliefBatch(BeliefBatch&&) noexcept;
  BeliefBatch& operator=(BeliefBatch&&) noexcept;
  ~BeliefBatch();

  /// Back to the start of a run, with its first reading where rows are reading-first (kMissing:
  /// none). Indices are not checked, here and below.
  void begin(std::size_t run, Observation first);
  /// Takes in one row of every run; a run whose action is negative is left as it is.
  void update(std::span<const Action> actions, std::span<const Observation> observations);

  [[nodiscard]] std::span<const double> belief(std::size_t run) const {
    return {beliefs_.data() + run * stride_, num_states_};
  }

 private:
  struct Kernel {
    virtual ~Kernel() = default;
    virtual void update(std::span<const Action> actions, std::span<const Observation> observations,
                        double* beliefs) = 0;
  };
  template <int N>
  struct KernelOf;

  std::unique_ptr<Kernel> kernel_;
  std::size_t num_states_;
  std::size_t stride_;           // of a belief; the padding stays 0
  std::vector<double> starts_;   // [1 + o][s]: no first reading, then each
  std::vector<double> beliefs_;  // [run][stride]
};

}  // namespace oas

#include "oas/belief/belief_batch.hpp"

#include <algorithm>

#include "oas/belief/filter_kernel.hpp"
#include "oas/belief/first_beliefs.hpp"

namespace oas {

template <int N>
struct BeliefBatch::KernelOf final : BeliefBatch::Kernel {
  explicit KernelOf(const Pomdp& model)
      : kernel(model, model.transition(), Matrix(0, model.num_states())),
        scratch(static_cast<std::size_t>(kernel.stride())) {}

  [[gnu::flatten]] void update(std::span<const Action> actions,
                               std::span<const Observation> observations,
                               double* beliefs) override {
    const auto stride = static_cast<std::size_t>(kernel.stride());
    for (std::size_t k = 0; k < actions.size(); ++k, beliefs += stride) {
      if (actions[k] < 0) [[unlikely]]
        continue;
      kernel.update(beliefs, actions[k], observations[k], nullptr, scratch.data());
    }
  }

  FilterKernel<N> kernel;
  std::vector<double> scratch;
};

BeliefBatch::BeliefBatch(const Pomdp& model, std::size_t runs)
    : kernel_(
          with_fixed_size(model.num_states(),
                          [&]<int N>(std::integral_constant<int, N>) -> std::unique_ptr<Kernel> {
                            return std::make_unique<KernelOf<N>>(model);
                          })),
      num_states_(static_cast<std::size_t>(model.num_states())),
      stride_(static_cast<std::size_t>(FilterKernel<0>::padded(model.num_states()))),
      beliefs_(runs * stride_) {
  starts_.resize((1 + static_cast<std::size_t>(model.num_observations())) * num_states_);
  std::ranges::copy(model.start(), starts_.begin());
  for (const FirstBelief& first : first_beliefs(model)) {
    std::ranges::copy(first.belief, starts_.begin() + (1 + first.first) * model.num_states());
  }
  for (std::size_t run = 0; run < runs; ++run) begin(run, kMissing);
}

BeliefBatch::BeliefBatch(BeliefBatch&&) noexcept = default;
BeliefBatch& BeliefBatch::operator=(BeliefBatch&&) noexcept = default;
BeliefBatch::~BeliefBatch() = default;

void BeliefBatch::begin(std::size_t run, Observation first) {
  const auto row = static_cast<std::size_t>(1 + first) * num_states_;
  std::copy_n(starts_.begin() + static_cast<std::ptrdiff_t>(row), num_states_,
              beliefs_.begin() + static_cast<std::ptrdiff_t>(run * stride_));
}

void BeliefBatch::update(std::span<const Action> actions,
                         std::span<const Observation> observations) {
  kernel_->update(actions, observations, beliefs_.data());
}

}  // namespace oas

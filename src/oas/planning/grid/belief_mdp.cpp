#include "oas/planning/grid/belief_mdp.hpp"

#include <utility>

#include "oas/belief/filter_kernel.hpp"
#include "oas/belief/joint_kernel.hpp"
#include "oas/core/contracts.hpp"
#include "oas/planning/grid/detail/successors.hpp"

namespace oas {

namespace detail {

RowWriter::RowWriter(BeliefMdp::Block& block, std::vector<std::uint32_t>& slots,
                     std::size_t max_row)
    : block_(block), slots_(slots.data()), max_row_(max_row) {
  block_.rewards.clear();
  block_.offsets.assign(1, 0);
}

void RowWriter::begin_row(double reward) {
  begin_ = end_;
  block_.rewards.push_back(reward);
  if (block_.targets.size() < end_ + max_row_) {
    const std::size_t size = std::max(end_ + max_row_, 2 * block_.targets.size());
    block_.targets.resize(size);
    block_.probabilities.resize(size);
  }
  targets_ = block_.targets.data();
  probabilities_ = block_.probabilities.data();
}

void RowWriter::finish() {
  block_.targets.resize(end_);
  block_.probabilities.resize(end_);
}

std::vector<std::uint32_t>& thread_slots(std::size_t points) {
  thread_local std::vector<std::uint32_t> slots;
  if (slots.size() < points) slots.resize(points);
  return slots;
}

std::vector<double> prefix_kernel(const Pomdp& model) {
  std::vector<double> kernel = joint_kernel(model, model.transition());
  const auto num_states = static_cast<std::size_t>(model.num_states());
  for (std::size_t row = 0; row < kernel.size(); row += num_states) {
    for (std::size_t next = 1; next < num_states; ++next)
      kernel[row + next] += kernel[row + next - 1];
  }
  return kernel;
}

}  // namespace detail

namespace {

// What all blocks of one compilation share.
struct Compilation {
  const BeliefGrid& grid;
  const Matrix& rewards;              // A×S
  const std::vector<double>& kernel;  // detail::prefix_kernel
  int num_observations;
};

template <int N>
void compile_row(const Compilation& c, int action, const double* belief, detail::RowWriter& row) {
  const std::ptrdiff_t n = c.grid.num_states();
  detail::for_each_successor<N>(c.grid, c.kernel.data() + action * c.num_observations * n * n,
                                c.num_observations, belief,
                                [&](int /*o*/, double probability, int count,
                                    const std::uint32_t* indices, const double* weights) {
                                  for (int k = 0; k < count; ++k)
                                    row.add(indices[k], probability * weights[k]);
                                });
}

template <int N>
void compile_block(const Compilation& c, std::size_t first, std::size_t points,
                   BeliefMdp::Block& block) {
  const int n = c.grid.num_states();
  const auto num_actions = static_cast<int>(c.rewards.rows());
  detail::RowWriter row(block, detail::thread_slots(c.grid.size()),
                        static_cast<std::size_t>(n) * c.num_observations);
  std::array<double, (N > 0 ? N : kMaxGridStates)> belief;
  for (std::size_t i = first; i < first + points; ++i) {
    c.grid.point(i, std::span(belief).first(static_cast<std::size_t>(n)));
    for (int a = 0; a < num_actions; ++a) {
      double reward = 0.0;
      for (int s = 0; s < n; ++s) reward += belief[s] * c.rewards(a, s);
      row.begin_row(reward);
      compile_row<N>(c, a, belief.data(), row);
      row.end_row();
    }
  }
  row.finish();
}

}  // namespace

BeliefMdp::BeliefMdp(BeliefGrid grid)
    : grid_(std::move(grid)), blocks_((grid_.size() + kBlockPoints - 1) / kBlockPoints) {}

void BeliefMdp::compile(const Pomdp& model, Parallelism parallelism) {
  OAS_REQUIRE(model.num_states() == grid_.num_states(),
              "a model with {} states on a belief grid over {} states", model.num_states(),
              grid_.num_states());
  num_actions_ = model.num_actions();
  const Matrix rewards = model.expected_reward();
  const std::vector<double> kernel = detail::prefix_kernel(model);
  const Compilation shared{grid_, rewards, kernel, model.num_observations()};
  with_fixed_size(model.num_states(), [&]<int N>(std::integral_constant<int, N> /*size*/) {
    parallel_for(blocks_.size(), parallelism, [&](std::size_t i) {
      compile_block<N>(shared, first_point(i), num_block_points(i), blocks_[i]);
    });
  });
}

std::size_t BeliefMdp::num_entries() const {
  std::size_t entries = 0;
  for (const Block& block : blocks_) entries += block.targets.size();
  return entries;
}

void BeliefMdp::action_values(std::size_t point, std::span<const double> bias,
                              std::span<double> out) const {
  const Block& block = blocks_[point / kBlockPoints];
  const std::size_t first = point % kBlockPoints * static_cast<std::size_t>(num_actions_);
  for (int a = 0; a < num_actions_; ++a) {
    const std::size_t row = first + static_cast<std::size_t>(a);
    double value = block.rewards[row];
    for (std::uint32_t k = block.offsets[row]; k < block.offsets[row + 1]; ++k) {
      value += block.probabilities[k] * bias[block.targets[k]];
    }
    out[a] = value;
  }
}

}  // namespace oas

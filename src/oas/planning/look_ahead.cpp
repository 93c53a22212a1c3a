#include "oas/planning/look_ahead.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "oas/belief/filter_kernel.hpp"
#include "oas/belief/joint_kernel.hpp"
#include "oas/core/contracts.hpp"
#include "oas/planning/grid/detail/successors.hpp"

namespace oas {

LookAhead::LookAhead(const Pomdp& model, const BeliefGrid& grid, std::vector<double> bias)
    : rewards_(model.expected_reward()),
      num_observations_(model.num_observations()),
      kernel_(detail::prefix_kernel(model)),
      grid_(grid),
      bias_(std::move(bias)),
      values_(static_cast<std::size_t>(model.num_actions())) {
  OAS_REQUIRE(bias_.size() == grid.size() && grid.num_states() == model.num_states(),
              "a bias of {} values over {} states for a grid of {} points over {} states",
              bias_.size(), model.num_states(), grid.size(), grid.num_states());
}

LookAhead::LookAhead(const Plan& plan)
    : rewards_(plan.model.expected_reward()),
      num_observations_(plan.model.num_observations()),
      values_(static_cast<std::size_t>(plan.model.num_actions())) {
  plan.validate();
  std::visit([&](const auto& bias) { prepare(plan.model, bias); }, plan.bias);
}

void LookAhead::prepare(const Pomdp& model, const GridBias& bias) {
  kernel_ = detail::prefix_kernel(model);
  grid_.emplace(model.num_states(), bias.resolution);
  bias_ = bias.values;
}

void LookAhead::prepare(const Pomdp& model, const VectorBias& bias) {
  alpha_ = MatrixView(bias.alpha.data(), bias.num_vectors(model.num_states()), model.num_states());
  if (detail::SparseModel::pays(model)) {
    sparse_ = std::make_shared<const detail::SparseModel>(model);
  } else {
    kernel_ = joint_kernel(model, model.transition());
    next_.resize(model.num_states(), num_observations_);
    scores_.resize(alpha_.rows(), num_observations_);
  }
  bound_by_corners();
}

void LookAhead::prepare(const Pomdp& /*model*/, const HorizonPolicy& policy) {
  throw InvalidArgument(
      fmt::format("the plan is for {} steps; it has no bias over beliefs to look ahead to",
                  policy.num_steps()));
}

template <int N>
double LookAhead::grid_future(const double* belief, int action) const {
  const std::ptrdiff_t n = num_states();
  double future = 0.0;
  detail::for_each_successor<N>(*grid_, kernel_.data() + action * num_observations_ * n * n,
                                num_observations_, belief,
                                [&](int /*o*/, double probability, int count,
                                    const std::uint32_t* indices, const double* weights) {
                                  double value = 0.0;
                                  for (int k = 0; k < count; ++k)
                                    value += weights[k] * bias_[indices[k]];
                                  future += probability * value;
                                });
  return future;
}

double LookAhead::vector_future(const double* belief, int action) {
  const int n = num_states();
  const VectorView b(belief, n);
  for (int o = 0; o < num_observations_; ++o) {
    const auto offset = static_cast<std::ptrdiff_t>(action * num_observations_ + o) * n * n;
    next_.col(o).noalias() = MatrixView(kernel_.data() + offset, n, n).transpose() * b;
  }
  // α·(P(o) b'_o) = P(o) (α·b'_o): no need to normalise.
  scores_.noalias() = alpha_ * next_;
  double future = 0.0;
  for (int o = 0; o < num_observations_; ++o) future += scores_.col(o).maxCoeff();
  return future;
}

double LookAhead::sparse_future(const double* belief, int action) {
  detail::successor_scores(*sparse_, action, belief, alpha_, successors_);
  double future = 0.0;
  for (const int o : successors_.observed) future += successors_.scores.col(o).maxCoeff();
  return future;
}

double LookAhead::vector_value(const double* belief, int action) {
  return rewards_.row(action).dot(VectorView(belief, num_states())) +
         (sparse_ ? sparse_future(belief, action) : vector_future(belief, action));
}

void LookAhead::check_belief(std::span<const double> belief) const {
  OAS_REQUIRE(belief.size() == static_cast<std::size_t>(num_states()),
              "a belief over {} states for {}", belief.size(), num_states());
}

void LookAhead::action_values(std::span<const double> belief, std::span<double> values) {
  check_belief(belief);
  OAS_REQUIRE(values.size() == values_.size(), "room for {} values of {} actions", values.size(),
              values_.size());
  const VectorView b(belief.data(), num_states());
  if (!grid_) {
    for (int a = 0; a < num_actions(); ++a) values[a] = vector_value(belief.data(), a);
    return;
  }
  for (int a = 0; a < num_actions(); ++a) values[a] = rewards_.row(a).dot(b);
  with_fixed_size(num_states(), [&]<int N>(std::integral_constant<int, N> /*size*/) {
    for (int a = 0; a < num_actions(); ++a) values[a] += grid_future<N>(belief.data(), a);
  });
}

// With more states the corners take longer than a simulation saves.
void LookAhead::bound_by_corners() {
  constexpr int kMostStates = 128;
  if (num_states() > kMostStates) return;
  corners_.resize(num_actions(), num_states());
  std::vector<double> corner(static_cast<std::size_t>(num_states()), 0.0);
  for (int s = 0; s < num_states(); ++s) {
    corner[static_cast<std::size_t>(s)] = 1.0;
    for (int a = 0; a < num_actions(); ++a) corners_(a, s) = vector_value(corner.data(), a);
    corner[static_cast<std::size_t>(s)] = 0.0;
  }
}

LookAhead::Best LookAhead::best(std::span<const double> belief) {
  if (corners_.size() == 0) {
    action_values(belief, values_);
  } else {
    check_belief(belief);
    constexpr double kRounding = 1e-12;
    bounds_.noalias() = corners_ * VectorView(belief.data(), num_states());
    const double size = bounds_.cwiseAbs().maxCoeff();
    std::fill(values_.begin(), values_.end(), -std::numeric_limits<double>::infinity());
    double best = values_.front();
    for (int left = num_actions(); left > 0; --left) {
      Eigen::Index next = 0;
      if (bounds_.maxCoeff(&next) < best - kRounding * size) break;
      bounds_[next] = -std::numeric_limits<double>::infinity();
      values_[static_cast<std::size_t>(next)] = vector_value(belief.data(), static_cast<int>(next));
      best = std::max(best, values_[static_cast<std::size_t>(next)]);
    }
  }
  const auto largest = std::max_element(values_.begin(), values_.end());
  return {static_cast<int>(largest - values_.begin()), *largest};
}

double LookAhead::bias(std::span<const double> belief) const {
  check_belief(belief);
  if (!grid_) return (alpha_ * VectorView(belief.data(), num_states())).maxCoeff();
  std::array<std::uint32_t, kMaxGridStates> indices;
  std::array<double, kMaxGridStates> weights;
  const int count = grid_->interpolate(belief, indices.data(), weights.data());
  double value = 0.0;
  for (int k = 0; k < count; ++k) value += weights[k] * bias_[indices[k]];
  return value;
}

}  // namespace oas

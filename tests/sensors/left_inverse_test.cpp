#include "oas/sensors/left_inverse.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "oas/core/contracts.hpp"
#include "support/property.hpp"

namespace oas {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

Pomdp any_revealing_model() {
  test::RandomModelOptions options;
  options.num_states = *rc::gen::inRange(1, 5).as("states");
  options.num_actions = *rc::gen::inRange(1, 4).as("actions");
  options.num_observations = options.num_states + *rc::gen::inRange(0, 4).as("more observations");
  options.min_alpha = 0.1;
  return test::random_model(options, test::any_seed());
}

RC_GTEST_PROP(LeftInverses, UndoTheSensors, ()) {
  const Pomdp model = any_revealing_model();
  const LeftInverses inverses(model);
  RC_ASSERT(inverses.num_states() == model.num_states());
  RC_ASSERT(inverses.num_actions() == model.num_actions());
  RC_ASSERT(inverses.num_observations() == model.num_observations());
  for (int a = 0; a < model.num_actions(); ++a) {
    const Matrix z = model.sensors().matrix(Action{a});
    const Matrix left = inverses.transposed(a).transpose();
    const Matrix identity = Matrix::Identity(model.num_states(), model.num_states());
    RC_ASSERT((left * z - identity).norm() < 1e-12);
    // Moore-Penrose among all left inverses: symmetric projection.
    RC_ASSERT((z * left - (z * left).transpose()).norm() < 1e-12);
    const PseudoInverse reference = pseudo_inverse(z);
    RC_ASSERT(inverses.alpha(Action{a}) == reference.smallest);
  }
}

// One observation's column is an unbiased picture of the state: E[column | s] = e_s.
RC_GTEST_PROP(LeftInverses, ColumnsAreUnbiased, ()) {
  const Pomdp model = any_revealing_model();
  const LeftInverses inverses(model);
  const int n = model.num_states();
  for (int a = 0; a < model.num_actions(); ++a) {
    for (int s = 0; s < n; ++s) {
      Vector mean = Vector::Zero(n);
      for (int o = 0; o < model.num_observations(); ++o) {
        mean += model.sensors()(Action{a}, State{s}, Observation{o}) *
                VectorView(inverses.column(a, o), n);
      }
      RC_ASSERT((mean - Vector::Unit(n, s)).norm() < 1e-12);
    }
  }
}

TEST(LeftInverses, BlindSensorIsNamed) {
  PomdpParts parts = test::random_model({}, 1).parts();
  parts.actions = Labels(std::vector<std::string>{"look", "wait"}, "action");
  std::vector<double> sensors(24, 0.25);  // "wait" sees the same in every state
  for (std::size_t s = 0; s < 3; ++s) {
    for (std::size_t o = 0; o < 4; ++o) sensors[4 * s + o] = s == o ? 1.0 : 0.0;
  }
  parts.sensors = ObservationModel(3, 2, 4, sensors);
  const Pomdp model(std::move(parts));
  EXPECT_THAT([&] { LeftInverses{model}; },
              ThrowsMessage<InvalidArgument>(AllOf(HasSubstr("sensor of action 'wait'"),
                                                   HasSubstr("4x3 matrix"), HasSubstr("rank 1"),
                                                   HasSubstr("smallest singular values"))));
}

TEST(LeftInverses, FewerObservationsThanStates) {
  test::RandomModelOptions options;
  options.num_observations = 2;
  const Pomdp model = test::random_model(options, 2);
  EXPECT_THAT([&] { LeftInverses{model}; },
              ThrowsMessage<InvalidArgument>(
                  AllOf(HasSubstr("sensor of action '0'"), HasSubstr("2x3 matrix"),
                        HasSubstr("rank 2"), HasSubstr("need 3 linearly independent columns"))));
}

}  // namespace
}  // namespace oas

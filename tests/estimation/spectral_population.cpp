#include "spectral_population.hpp"

#include <Eigen/QR>
#include <cmath>

#include "oas/core/sampling.hpp"
#include "oas/simulation/closed_loop.hpp"

namespace oas::test {

namespace {

// P(row symbol, s' | s, a) · [a is the symbol's action].
double step(const Pomdp& model, int s, int symbol, int next) {
  const int num_observations = model.num_observations();
  const Action a{symbol / num_observations};
  const State emitter{model.timing() == Timing::before ? s : next};
  return model.transition()(a, State{s}, State{next}) *
         model.sensors()(a, emitter, Observation{symbol % num_observations});
}

std::int64_t in_units(double probability, int bits) {
  return std::llround(std::ldexp(probability, bits));
}

}  // namespace

Triples population_triples(const Pomdp& model, const Matrix& policy) {
  const int n = model.num_states();
  const int num_actions = model.num_actions();
  const int o = model.num_observations();
  const int symbols = num_actions * o;
  Matrix chain(n * symbols, n * symbols);  // (state after the row, row)
  for (int from = 0; from < n * symbols; ++from) {
    for (int to = 0; to < n * symbols; ++to) {
      chain(from, to) = policy(from % symbols, to % symbols / o) *
                        step(model, from / symbols, to % symbols, to / symbols);
    }
  }
  const Vector stationary = stationary_distribution(chain);
  const bool before = model.timing() == Timing::before;
  const auto blocks = static_cast<std::size_t>(num_actions * num_actions);
  Triples triples{num_actions, {symbols, o, o}, {}, {}};
  triples.blocks.assign(blocks, std::vector<double>(static_cast<std::size_t>(symbols * o * o)));
  triples.middle.assign(blocks, Vector::Zero(n));
  for (int one = 0; one < n * symbols; ++one) {  // row 1 and the state after it
    for (int two = 0; two < n * symbols; ++two) {
      for (int three = 0; three < n * symbols; ++three) {
        const double p = stationary(one) * chain(one, two) * chain(two, three);
        const int block = two % symbols / o * num_actions + three % symbols / o;
        const int cell = (one % symbols * o + two % o) * o + three % o;
        triples.blocks[static_cast<std::size_t>(block)][static_cast<std::size_t>(cell)] += p;
        // Row 2 sees the state in which it acts (before), or the one after it.
        triples.middle[static_cast<std::size_t>(block)]((before ? one : two) / symbols) += p;
      }
    }
  }
  for (Vector& middle : triples.middle) middle /= middle.sum();
  return triples;
}

Matrix policy_of(const std::string& name, int num_actions, int num_observations,
                 std::uint64_t seed) {
  const int rows = num_actions * num_observations;
  if (name == "uniform") return Matrix::Constant(rows, num_actions, 1.0 / num_actions);
  Rng rng({seed, 7, Role::test});
  const auto values = random_rows(rows, num_actions, 0.3, 0.0, rng);
  return (MatrixView(values.data(), rows, num_actions).array() * (1.0 - num_actions * 0.02) + 0.02)
      .matrix();
}

TripleFolder as_folder(const Triples& triples, int num_actions, int num_observations, int bits) {
  std::vector<std::int64_t> counts;
  for (const auto& block : triples.blocks) {
    for (const double p : block) counts.push_back(in_units(p, bits));
  }
  TripleFolder folder(num_actions, num_observations);
  folder.restore(counts, {});
  return folder;
}

TripleCounts constant_triples(const Pomdp& model, ConstantViews views, int bits) {
  const bool columns = views == ConstantViews::emission_columns;
  const int n = model.num_states();
  const int size = columns ? n : model.num_observations();
  std::vector<std::int64_t> values;
  for (int a = 0; a < model.num_actions(); ++a) {
    const Matrix t = model.transition().matrix(Action{a});
    const Matrix sensor =
        columns ? Matrix(Matrix::Identity(n, n)) : Matrix(model.sensors().matrix(Action{a}));
    const Vector stationary = stationary_distribution(t);
    for (int x1 = 0; x1 < size; ++x1) {
      for (int x2 = 0; x2 < size; ++x2) {
        for (int x3 = 0; x3 < size; ++x3) {
          const Vector after1 = t.transpose() * stationary.cwiseProduct(sensor.row(x1).transpose());
          const Vector after2 = t.transpose() * after1.cwiseProduct(sensor.row(x2).transpose());
          values.push_back(in_units(after2.dot(sensor.row(x3).transpose()), bits));
        }
      }
    }
  }
  TripleCounts counts(model.num_actions(), {size, size, size});
  counts.set_values(values);
  return counts;
}

TripleFolder played(const Pomdp& model, const std::string& policy, std::size_t steps) {
  PolicyOptions options;
  options.name = policy;
  if (policy != "uniform") options.min_action_probability = 0.1;
  ClosedLoop loop(model, options, 41, 0);
  Trajectory rows;
  loop.advance(steps, rows);
  TripleFolder folder(model.num_actions(), model.num_observations());
  folder.add(rows.actions, rows.observations);
  return folder;
}

Matrix random_rotation(int size, std::uint64_t seed) {
  Rng rng({seed, 0, Role::test});
  Eigen::MatrixXd noise(size, size);
  for (Eigen::Index i = 0; i < noise.size(); ++i) noise.data()[i] = sample_normal(rng);
  return Eigen::HouseholderQR<Eigen::MatrixXd>(noise).householderQ() *
         Eigen::MatrixXd::Identity(size, size);
}

TransitionModel rotated_states(const TransitionModel& transition) {
  const int n = transition.num_states();
  std::vector<double> values;
  for (int a = 0; a < transition.num_actions(); ++a) {
    for (int s = 0; s < n; ++s) {
      for (int next = 0; next < n; ++next) {
        values.push_back(transition(Action{a}, State{(s + 1) % n}, State{(next + 1) % n}));
      }
    }
  }
  return {n, transition.num_actions(), values};
}

Pomdp tilted_labels_model() {
  PomdpParts parts;
  parts.timing = Timing::after;
  parts.states = Labels(2, "state");
  parts.actions = Labels(2, "action");
  parts.observations = Labels(2, "observation");
  parts.sensors = ObservationModel(2, 2, 2, {0.9, 0.1, 0.3, 0.7, 0.8, 0.2, 0.1, 0.9});
  parts.transition = TransitionModel(2, 2, {0.9, 0.1, 0.4, 0.6, 0.3, 0.7, 0.8, 0.2});
  return Pomdp(parts);
}

}  // namespace oas::test

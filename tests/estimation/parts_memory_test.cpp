// What an estimator keeps of a log does not grow with the number of files that the log is in.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/estimation/evidence.hpp"
#include "support/random_models.hpp"

namespace oas {
namespace {

constexpr std::int64_t kParts = 4096;
constexpr std::int64_t kRowsOfPart = 4;
constexpr std::size_t kBatches = std::size_t{12} << 20;  // at most, before they are put together

// The memory that the program holds whenever it begins to read a part.
using Held = std::vector<std::size_t>;

// A part of a few rows, or all of them one after the other.
class ShortRuns final : public RowSource {
 public:
  ShortRuns(std::int64_t first, std::int64_t end, Held& held)
      : first_(first), end_(end), part_(first), held_(held) {}

  [[nodiscard]] bool next(RowBlock& block) override {
    if (part_ == end_) return false;
    held_[static_cast<std::size_t>(part_)] = mallinfo2().uordblks;
    ++part_;
    block = RowBlock(rows_);
    block.run_starts = {&start_, 1};
    return true;
  }
  void rewind() override { part_ = first_; }
  [[noreturn]] void fail(std::size_t /*row*/, const std::string& message) const override {
    throw InvalidArgument(message);
  }
  [[noreturn]] void fail_at(std::int64_t /*index*/, const std::string& message) override {
    throw InvalidArgument(message);
  }
  [[nodiscard]] std::vector<RowPart> parts(Parallelism /*parallelism*/,
                                           const RunCut& /*cut*/) const override {
    std::vector<RowPart> parts;
    for (std::int64_t part = first_; part < end_; ++part) {
      parts.push_back({std::make_unique<ShortRuns>(part, part + 1, held_), part, kRowsOfPart});
    }
    return parts;
  }

 private:
  std::int64_t first_;
  std::int64_t end_;
  std::int64_t part_;
  Held& held_;
  std::size_t start_ = 0;
  Trajectory rows_{.actions = {Action{0}, Action{1}, Action{2}, Action{3}},
                   .observations = {Observation{0}, Observation{1}, Observation{2}, Observation{3}},
                   .propensities = {0.25, 0.25, 0.25, 0.25},
                   .rewards = {},
                   .states = {}};
};

class PartsInMemory : public testing::TestWithParam<std::string> {};

// The sums of a part are much larger than its rows: A S² numbers, O³ where views are triples.
Pomdp model_with_large_sums(const std::string& estimator) {
  const bool triples = estimator == "spectral";
  test::RandomModelOptions options;
  options.num_states = triples ? 2 : 24;
  options.num_actions = 4;
  options.num_observations = triples ? 12 : 24;
  return test::random_model(options, 3);
}

TEST_P(PartsInMemory, DoNotGrowInNumber) {
  const Pomdp model = model_with_large_sums(GetParam());
  Held held(kParts, 0);
  ShortRuns source(0, kParts, held);
  Evidence evidence = make_evidence(GetParam(), model);
  evidence.read(source, {1});
  static_cast<void>(evidence.estimate(EstimateOptions::bare()));
  // As far from the first part of those that are read together.
  const std::size_t early = held[kParts / 4];
  const std::size_t late = held[kParts - kParts / 8];
  EXPECT_LT(late, early + kBatches);
}

INSTANTIATE_TEST_SUITE_P(Estimators, PartsInMemory,
                         testing::Values("oas", "oas-overlap", "oas-weighted", "oas-soft", "oas-ml",
                                         "em", "spectral"),
                         [](const auto& name) {
                           std::string text = name.param;
                           std::replace(text.begin(), text.end(), '-', '_');
                           return text;
                         });

}  // namespace
}  // namespace oas

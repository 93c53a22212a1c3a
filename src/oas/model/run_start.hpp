#pragma once

#include <memory>
#include <span>
#include <vector>

#include "oas/core/bytes.hpp"
#include "oas/core/index.hpp"
#include "oas/model/observation_model.hpp"

namespace oas {

/// What was read before the first action of a run whose rows are reading-first.
struct FirstReading {
  Observation observation = kMissing;  ///< 0 where it is real-valued
  std::vector<double> reading;         ///< [component], where it is real-valued
  std::vector<double> likelihood;  ///< P(o_0 | s) up to a factor [state]; empty: nothing is known

  friend bool operator==(const FirstReading&, const FirstReading&) = default;
};

/// What is known of the state in which a run starts. Its law is the model's `start`; or nothing is
/// known (the run goes on after a gap), which is taken as all states alike unless a law was learned
/// from other such runs; or the state was seen.
/// Where rows are reading-first there is a first reading of it, which may be missing. A value that
/// is cheap to copy.
class RunStart {
 public:
  RunStart() = default;  ///< the model's start
  [[nodiscard]] static RunStart unknown() { return RunStart(kUnknown); }
  /// Throws InvalidArgument on a negative one; whether the model has it, fits() says.
  [[nodiscard]] static RunStart known(State state);

  /// The same start with a first reading.
  [[nodiscard]] RunStart with(FirstReading first) const {
    RunStart start = *this;
    start.first_ = std::make_shared<const FirstReading>(std::move(first));
    return start;
  }

  /// The same start for those who know the law of whole readings only: a first reading that lacks
  /// a component is missing.
  [[nodiscard]] RunStart with_whole_reading() const;

  /// The same start where nothing is known, with what was learned from other such runs; other
  /// starts as they are. The law is not saved with it.
  [[nodiscard]] RunStart with_law(std::shared_ptr<const std::vector<double>> law) const {
    RunStart start = *this;
    if (is_unknown()) start.law_ = std::move(law);
    return start;
  }

  [[nodiscard]] bool from_model() const { return value_ == kFromModel; }
  [[nodiscard]] bool is_unknown() const { return value_ == kUnknown; }
  /// Null where rows are not reading-first.
  [[nodiscard]] const FirstReading* first() const { return first_.get(); }

  /// The belief at the start of the run, of as many states as `start`, the model's: of the first
  /// action, so that a first reading has been taken in. Returns the probability of that reading (of
  /// a real-valued one the density), 1 where there is none. On 0 (the model says this cannot
  /// happen) it is skipped. `unknown` is the law where nothing is known; empty: the learned one, or
  /// all states alike. Throws InvalidArgument unless it fits and `out` has room.
  // Many want the belief alone. NOLINTNEXTLINE(modernize-use-nodiscard)
  double belief(std::span<const double> start, std::span<double> out,
                std::span<const double> unknown = {}) const;

  /// Whether it can be the start of a run among so many states.
  [[nodiscard]] bool fits(int num_states) const {
    return value_ >= kFromModel && value_ < num_states &&
           (!first_ || first_->likelihood.empty() ||
            first_->likelihood.size() == static_cast<std::size_t>(num_states));
  }

  void save(ByteWriter& out) const;
  [[nodiscard]] static RunStart loaded(ByteReader& in);

  friend bool operator==(const RunStart& a, const RunStart& b) {
    return a.value_ == b.value_ &&
           (a.first_ == b.first_ || (a.first_ && b.first_ && *a.first_ == *b.first_));
  }

 private:
  static constexpr int kFromModel = -2;
  static constexpr int kUnknown = -1;
  explicit RunStart(int value) : value_(value) {}

  int value_ = kFromModel;
  std::shared_ptr<const FirstReading> first_;       // shared by copies, never changed
  std::shared_ptr<const std::vector<double>> law_;  // of unknown starts; null: all alike
};

/// What a finite first reading says about the state, by the sensor of first readings. Throws
/// InvalidArgument on an index that does not exist.
[[nodiscard]] FirstReading first_reading(const ObservationModel& sensor, Observation observation);

void save_all(const std::vector<RunStart>& starts, ByteWriter& out);
[[nodiscard]] std::vector<RunStart> load_starts(ByteReader& in);

}  // namespace oas

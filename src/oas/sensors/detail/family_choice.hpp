#pragma once

#include <map>
#include <string>
#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/core/rng.hpp"
#include "oas/sensors/density_calibration.hpp"
#include "oas/sensors/detail/family_rivals.hpp"

namespace oas::detail {

/// Which families labelled readings are described by, and the densities of these; the rules stand
/// at calibrate_densities().
class FamilyChoice {
 public:
  /// Keeps references. Throws as calibrate_densities() does.
  FamilyChoice(const LabelledReadings& readings, const Pomdp& model,
               const DensityCalibrationOptions& options, Parallelism parallelism);

  /// [a][s] of the readings.
  [[nodiscard]] const std::vector<VectorDensity>& fitted() const { return fitted_; }
  /// Random densities of families that might as well have been chosen.
  [[nodiscard]] std::vector<VectorDensity> draw(Rng& rng) const;
  [[nodiscard]] std::vector<std::string> families() const;
  [[nodiscard]] const std::vector<std::vector<FamilyScore>>& scores() const { return scores_; }

 private:
  // The readings of one component under one action in one state.
  struct Sample {
    Action action;
    State state;
    ReadingGroup group;
  };
  // What a family made of all held-out readings, one after the other; or why it cannot be.
  struct HeldOut {
    std::vector<double> scores;
    std::string left_out;
  };

  void read_wish(const std::string& family);
  void choose_component(int i, Parallelism parallelism);
  void consider_joint();
  [[nodiscard]] HeldOut hold_out(DensityFamily family, int i) const;
  [[nodiscard]] std::vector<double> rows_of_product() const;
  [[nodiscard]] HeldOut hold_out_joint() const;
  void fit();
  [[nodiscard]] VectorDensity fit_joint(std::size_t group) const;
  [[nodiscard]] bool draw_joint(Rng& rng) const;
  [[nodiscard]] bool can_fit(DensityFamily family, int i) const;
  void require_fit(DensityFamily family, int i) const;
  [[noreturn]] void fail(const Sample& sample, int i, const SampleFault& fault) const;
  [[nodiscard]] std::string name_of(Action action, State state) const;

  const LabelledReadings& readings_;
  const Pomdp& model_;
  std::vector<std::optional<DensityFamily>> wish_;  // by component; none: to be chosen
  bool joint_wished_ = false;
  bool joint_ = false;
  std::vector<std::vector<Sample>> samples_;  // by component
  std::vector<double> resolution_;            // by component
  std::vector<DensityFamily> chosen_;         // by component
  std::vector<FamilyRivals> rivals_;          // by component; empty: the family was given
  std::vector<double>
      joint_gains_;  // of held-out rows over independent components; empty: no choice
  // By component: [group] of the families in doubt.
  std::vector<std::map<DensityFamily, std::vector<Density>>> parts_;
  std::vector<std::vector<FamilyScore>> scores_;
  std::vector<VectorDensity> fitted_;
};

}  // namespace oas::detail

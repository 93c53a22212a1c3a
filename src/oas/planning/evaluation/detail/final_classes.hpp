#pragma once

#include <span>
#include <vector>

#include "oas/model/pomdp.hpp"
#include "oas/planning/evaluation/policy_evaluation.hpp"
#include "oas/theory/communication.hpp"

namespace oas::detail {

/// The classes of states in which runs may stay for ever. Where the start may lead to several of
/// them, which never meet again, a simulation of a few runs need not see all: the mean over its
/// runs then says nothing about those that it missed, however little its values vary. So what is
/// earned in each class is limited by the runs that ended there, and in those where none did by the
/// rewards there; and the limits are weighted by the start.
class FinalClasses {
 public:
  /// `report` is that of the model, and has to outlive this.
  FinalClasses(const Pomdp& model, const CommunicationReport& report);

  /// Whether the start may lead to more than one closed class.
  [[nodiscard]] bool several() const { return several_; }

  /// Limits at interval.level from batch means, `per_replication` of each replication in a row, of
  /// replications that ended in these classes. From a start that may lead to several of them it is
  /// the least of their lower limits, and the largest of their upper ones, that counts: how likely
  /// each is depends on the policy. Only where several().
  void set_limits(std::span<const int> ended, std::span<const double> batch_means,
                  int per_replication, GainInterval& interval) const;

 private:
  // What a run earns that stays in a class, or that starts there.
  struct Earned {
    bool seen;  // by a simulation; else the rewards are all that is known
    double lower;
    double upper;
    double mean;
    double half_width;  // two-sided
  };

  [[nodiscard]] std::vector<int> reached_from(int class_of_start) const;
  [[nodiscard]] std::vector<Earned> earned(std::span<const int> ended,
                                           std::span<const double> batch_means, int per_replication,
                                           GainInterval& interval) const;
  [[nodiscard]] Earned earned_from(int class_of_start, const std::vector<Earned>& all,
                                   bool& known) const;

  const CommunicationReport& report_;
  std::vector<double> start_;            // [class]: probability
  std::vector<std::vector<int>> leads_;  // [class]: to these classes, in one step
  std::vector<double> least_;            // [class]: expected reward of a step
  std::vector<double> most_;
  bool several_ = false;
};

}  // namespace oas::detail

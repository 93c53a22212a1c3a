#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "oas/estimation/evidence.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/trajectory.hpp"
#include "oas/study/study.hpp"

/// Estimators that are not in the table: functions of the program that runs a study.
namespace oas {

/// All rows so far of one run, and the model without its transition; returns T. Called from any
/// thread, several at the same time. What it throws makes the unit fail.
using GuestEstimator = std::function<TransitionModel(const Pomdp& model, const Trajectory& rows)>;

/// By the names that they have in study files: "module:function".
using GuestEstimators = std::map<std::string, GuestEstimator, std::less<>>;

/// Whether an estimator of that name is a guest: it has a colon.
[[nodiscard]] bool is_guest(std::string_view estimator);

/// Throws InvalidArgument unless it is a guest or in the table of estimators.
void check_estimator(std::string_view name);

/// The guests that the tasks of a study name, each once, sorted.
[[nodiscard]] std::vector<std::string> guest_names(const Study& study);

/// An estimator of either sort, as tasks have them: fed with one run, asked at any time.
class TaskEstimator {
 public:
  /// Throws InvalidArgument where the guest is not there.
  TaskEstimator(const std::string& name, const Pomdp& model, const EvidenceOptions& options,
                const GuestEstimators& guests);

  void add(const Trajectory& block);
  /// Without error bars. Guests flag no rows.
  [[nodiscard]] TransitionEstimate estimate() const;

 private:
  struct Guest {
    GuestEstimator ask;
    Pomdp model;
    Trajectory rows;
  };

  std::variant<Evidence, Guest> estimator_;
};

}  // namespace oas

#include "oas/experiments/row_estimator.hpp"

#include <utility>

#include "oas/counts/pair_folder.hpp"
#include "oas/estimation/estimators.hpp"
#include "oas/estimation/oas.hpp"

namespace oas {

namespace {

class MomentRows final : public RowEstimator {
 public:
  MomentRows(const EstimatorInfo& info, const Pomdp& model, const LeftInverses& inverses,
             bool reacts)
      : model_(model), inverses_(inverses), folder_(inverses, model.timing(), fold(info, reacts)) {
    options_.name = info.name;
  }

  void add(const Trajectory& rows) override {
    folder_.add(rows.actions, rows.observations, rows.propensities);
  }

  TransitionEstimate estimate() override {
    PairFolder so_far = folder_;
    return estimate_oas(so_far.finish(), inverses_, model_, options_);
  }

 private:
  [[nodiscard]] FoldOptions fold(const EstimatorInfo& info, bool reacts) const {
    FoldOptions options;
    options.pairing = info.pairing;
    options.inverse_propensity = reacts && model_.timing() == Timing::after;
    return options;
  }

  const Pomdp& model_;
  const LeftInverses& inverses_;
  PairFolder folder_;
  OasOptions options_;
};

}  // namespace

std::unique_ptr<RowEstimator> make_row_estimator(const std::string& name, const Pomdp& model,
                                                 const LeftInverses& inverses, bool reacts) {
  const EstimatorInfo& info = find_estimator(name);
  return std::make_unique<MomentRows>(info, model, inverses, reacts);
}

}  // namespace oas

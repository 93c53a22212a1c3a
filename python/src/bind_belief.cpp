#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>

#include "arrays.hpp"
#include "bindings.hpp"
#include "models.hpp"
#include "oas/belief/smoother.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/interruption.hpp"
#include "oas/jobs/log_estimation.hpp"
#include "oas/jobs/logged_runs.hpp"
#include "settings.hpp"
#include "work.hpp"

namespace oas::python {

namespace {

constexpr std::size_t kRowsBetweenChecks = 4096;

// What is known about the states along a log.
struct Beliefs {
  std::vector<double> belief;
  std::vector<double> smoothed;
  std::vector<double> probability;
  std::vector<double> last;
  std::vector<std::int64_t> runs;
  std::vector<std::string> names;

  void add(const Pomdp& chain, const LoggedRun& run) {
    const auto number = static_cast<std::int64_t>(names.size());
    const std::size_t rows = run.actions.size();
    const SmoothedRow receive = [&](std::size_t t, std::span<const double> before,
                                    std::span<const double> all, double likely) {
      if (t % kRowsBetweenChecks == 0) check_interrupted();
      if (t == rows) {
        last.insert(last.end(), all.begin(), all.end());
        return;
      }
      belief.insert(belief.end(), before.begin(), before.end());
      smoothed.insert(smoothed.end(), all.begin(), all.end());
      probability.push_back(likely);
      runs.push_back(number);
    };
    if (run.likelihoods.empty()) {
      smooth(chain, run.actions, run.observations, receive, run.start);
    } else {
      smooth_likelihoods(chain, run.actions, run.likelihoods, receive, run.start);
    }
    names.push_back(run.unit);
  }
};

Beliefs beliefs_of(const AnyModel& model, const std::vector<std::string>& paths,
                   const LogOptions& options, const RowsRead& progress) {
  OAS_REQUIRE(chain_of(model).has_transition(), "the model has no transition to filter with");
  Beliefs beliefs;
  const OneLog log = one_log_of(paths, options);
  LogReader reader =
      std::visit([&](const auto& any) { return LogReader(log, any, options); }, model);
  for_each_run(reader, [&](const LoggedRun& run) {
    check_interrupted();
    beliefs.add(chain_of(model), run);
    if (progress) progress(static_cast<std::int64_t>(run.actions.size()));
  });
  return beliefs;
}

}  // namespace

void bind_belief(nb::module_& m) {
  m.def(
      "_beliefs",
      [](nb::handle given, const std::vector<std::string>& paths, const nb::dict& keywords) {
        LogOptions options;
        SettingFields fields;
        options.visit(fields);
        options.visit_known_states(fields);
        fields.apply(settings_of(keywords), "filter");
        options.validate();
        AnyModel model = any_model(given);
        if (!options.rows.empty()) model = with_rows(model, parse_rows(options.rows));
        model = row_model(model, paths.at(0), options);
        Beliefs found = run_for({"rows"}, [&](const RowsRead& progress) {
          return beliefs_of(model, paths, options, progress);
        });
        const auto s = static_cast<std::size_t>(chain_of(model).num_states());
        nb::dict result;
        const std::size_t rows = found.probability.size();
        result["belief"] = owned(std::move(found.belief), {rows, s});
        result["smoothed"] = owned(std::move(found.smoothed), {rows, s});
        result["probability"] = owned(std::move(found.probability), {rows});
        result["last"] = owned(std::move(found.last), {found.names.size(), s});
        result["runs"] = owned(std::move(found.runs), {rows});
        result["run_names"] = found.names;
        return result;
      },
      nb::arg("model").none(), nb::arg("paths"), nb::arg("settings"));
}

}  // namespace oas::python

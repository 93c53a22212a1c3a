#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "log.hpp"
#include "models.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/interruption.hpp"
#include "oas/estimation/estimators.hpp"
#include "oas/estimation/evidence.hpp"
#include "settings.hpp"
#include "table_rows.hpp"
#include "turn.hpp"
#include "work.hpp"

namespace oas::python {

namespace {

// What has been told to an estimator, and what is needed to make it again.
struct PyEvidence {
  AnyModel model;
  std::string estimator;
  std::vector<Setting> settings;
  Evidence evidence;
  bool interrupted = false;  // rows were being added
  Turn turn;

  // Something that is known of the rows so far.
  template <class Work>
  [[nodiscard]] auto asked(const Work& work) const {
    return run_for({"rows"}, [&](const RowsRead& progress) {
      return turn.take_without_gil([&] {
        require_whole();
        return work(progress);
      });
    });
  }
  // Ctrl-C may leave it with some of the rows.
  template <class Work>
  void change(const Work& work) {
    run_work({"rows"}, [&](const RowsRead&) {
      turn.take_without_gil([&] {
        require_whole();
        try {
          work();
        } catch (const Interrupted&) {
          interrupted = true;
          throw;
        }
      });
    });
  }
  // In a copy that takes its place at the end, so that a fault changes nothing.
  template <class Work>
  void change_copy(const Work& work) {
    run_work({"rows"}, [&](const RowsRead& progress) {
      turn.take_without_gil([&] {
        require_whole();
        Evidence changed = evidence;
        work(changed, progress);
        evidence = std::move(changed);
      });
    });
  }
  void require_whole() const {
    OAS_REQUIRE(!interrupted,
                "adding rows to this evidence was interrupted, so it is unknown which "
                "rows it has");
  }
  [[nodiscard]] PyEvidence copy() const {
    return turn.take([&] {
      require_whole();
      return *this;
    });
  }

  static PyEvidence made(AnyModel model, const std::string& estimator,
                         std::vector<Setting> settings, std::int64_t first_run) {
    Evidence fresh = run_for({"cells"}, [&](const RowsRead&) {
      const EstimatorInfo& info = find_estimator(estimator);
      EvidenceOptions options = evidence_options(info, settings);
      // The stream that a posterior from logs draws from.
      if (info.errors == ErrorSource::posterior) options.stream.role = Role::bootstrap;
      const Evidence first = make_evidence(estimator, model, options);
      return first_run == 0 ? first : first.fresh(first_run);
    });
    return {std::move(model), estimator, std::move(settings), std::move(fresh), false, {}};
  }
};

nb::object saved(const PyEvidence& self) {
  std::vector<std::string> settings;
  for (const Setting& setting : self.settings)
    settings.push_back(setting.name + "=" + setting.value);
  const std::string bytes = self.asked([&](const RowsRead&) { return self.evidence.save(); });
  return nb::make_tuple(model_text(self.model), self.estimator, settings,
                        nb::bytes(bytes.data(), bytes.size()));
}

PyEvidence loaded(const nb::tuple& state) {
  std::vector<Setting> settings;
  for (const auto& text : nb::cast<std::vector<std::string>>(state[2])) {
    settings.push_back(parse_setting(text));
  }
  PyEvidence made =
      PyEvidence::made(parse_model_text(nb::cast<std::string>(state[0]), "pickled evidence"),
                       nb::cast<std::string>(state[1]), std::move(settings), 0);
  const auto bytes = nb::cast<nb::bytes>(state[3]);
  made.evidence.load({bytes.c_str(), bytes.size()});
  return made;
}

void require_labels(const PyEvidence& self, const Log& log) {
  const Pomdp& ours = chain_of(self.model);
  const Pomdp& theirs = chain_of(*log.model);
  OAS_REQUIRE(ours.actions() == theirs.actions() && ours.observations() == theirs.observations(),
              "the log was read with a model of {}, the evidence is about {}", theirs.brief(),
              ours.brief());
}

// Adds rows of a table from where they are. False where they have to be made a log before: runs are
// mixed, the estimator keeps rows anyway, or rows are so few that sums may be larger.
bool add_table(PyEvidence& self, const Columns& columns) {
  constexpr std::size_t kMany = 10'000;
  const auto* const model = std::get_if<Pomdp>(&self.model);
  const bool sums = self.evidence.info().reading == Reading::once;
  if (model == nullptr || !sums || columns.size() < kMany) return false;
  bool in_order = false;
  self.change_copy([&](Evidence& evidence, const RowsRead& progress) {
    const std::optional<std::vector<std::size_t>> runs = runs_of(columns);
    if (!runs) return;
    in_order = true;
    TableRows rows(*model, columns, *runs, progress);
    for (RowBlock block; rows.next(block);) evidence.add(block);
  });
  return in_order;
}

}  // namespace

void bind_evidence(nb::module_& m) {
  auto evidence = nb::class_<PyEvidence>(
      m, "_Evidence",
      "What an estimator keeps of rows: a value that can be fed, merged, saved and asked.");
  evidence
      .def("__init__",
           [](PyEvidence* self, nb::handle model, const std::string& estimator,
              std::int64_t first_run, const nb::dict& settings) {
             new (self) PyEvidence(
                 PyEvidence::made(any_model(model), estimator, settings_of(settings), first_run));
           })
      .def("_add",
           [](PyEvidence& self, const Log& log) {
             require_labels(self, log);
             self.change([&] { self.evidence.add(log.block.view()); });
           })
      .def("_add_table", add_table)
      .def("_add_to_run",
           [](PyEvidence& self, std::int64_t run, const Log& log) {
             require_labels(self, log);
             RowBlock block = log.block.view();
             OAS_REQUIRE(block.run_starts.size() <= 1, "rows of run {} belong to {} runs", run,
                         block.run_starts.size());
             block.run_starts = {};
             block.starts = {};
             self.change([&] { self.evidence.add(run, block); });
           })
      .def("_start_run", [](PyEvidence& self) { self.change([&] { self.evidence.start_run(); }); })
      .def("_end_run", [](PyEvidence& self,
                          std::int64_t run) { self.change([&] { self.evidence.end_run(run); }); })
      .def("_merge",
           [](PyEvidence& self, const PyEvidence& other) {
             const PyEvidence theirs = other.copy();
             self.change([&] { self.evidence.merge(theirs.evidence); });
           })
      .def("_fresh",
           [](const PyEvidence& self, std::int64_t first_run) {
             Evidence fresh = self.turn.take([&] { return self.evidence.fresh(first_run); });
             return PyEvidence{self.model,       self.estimator, self.settings,
                               std::move(fresh), false,          {}};
           })
      .def("_estimate",
           [](const PyEvidence& self, const nb::dict& keywords) {
             EstimateOptions options;
             SettingFields fields;
             options.visit(fields);
             fields.apply(settings_of(keywords), "Evidence.estimate");
             options.parallelism = threads();
             TransitionEstimate result = self.asked([&](const RowsRead& progress) {
               options.progress = progress;
               TransitionEstimate made = self.evidence.estimate(options);
               self.evidence.check(options, made);
               return made;
             });
             return finished_estimate(self.model, std::move(result));
           })
      .def("_copy", &PyEvidence::copy)
      .def_prop_ro("_model", [](const PyEvidence& self) { return self.model; })
      .def_prop_ro("_estimator", [](const PyEvidence& self) { return self.estimator; })
      .def_prop_ro("_runs",
                   [](const PyEvidence& self) {
                     return self.turn.take([&] { return self.evidence.runs(); });
                   })
      .def("_state", saved)
      .def_static("_from_state", loaded);
}

}  // namespace oas::python

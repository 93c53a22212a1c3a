#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <nlohmann/json.hpp>

#include "arrays.hpp"
#include "bindings.hpp"
#include "docs.hpp"
#include "log.hpp"
#include "models.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/estimation/estimate_json.hpp"
#include "oas/formats/model_file.hpp"
#include "oas/jobs/log_estimation.hpp"
#include "oas/jobs/log_rewards.hpp"
#include "settings.hpp"
#include "table_rows.hpp"
#include "work.hpp"

namespace oas::python {

namespace {

std::size_t size(int value) { return static_cast<std::size_t>(value); }

// Shapes of the tables of an estimate.
Shape entries(const Estimate& estimate) {
  const Pomdp& chain = chain_of(estimate.model);
  return {size(chain.num_actions()), size(chain.num_states()), size(chain.num_states())};
}
Shape rows(const Estimate& estimate) {
  const Pomdp& chain = chain_of(estimate.model);
  return {size(chain.num_actions()), size(chain.num_states())};
}

// A table as a view, None where there is none; `draws` more of them in front.
nb::object table_view(nb::handle self, const std::vector<double>& values, Shape shape) {
  if (values.empty()) return nb::none();
  std::size_t one = 1;
  for (const std::size_t length : shape) one *= length;
  if (values.size() != one) shape.insert(shape.begin(), values.size() / one);
  return view(std::span(values), shape, self);
}

template <class Member>
auto entry_table(Member member) {
  return [member](nb::handle self) {
    const Estimate& estimate = nb::cast<const Estimate&>(self);
    return table_view(self, estimate.result.*member, entries(estimate));
  };
}
template <class Member>
auto row_table(Member member) {
  return [member](nb::handle self) {
    const Estimate& estimate = nb::cast<const Estimate&>(self);
    return table_view(self, estimate.result.*member, rows(estimate));
  };
}

nb::object determined(const Estimate& estimate) {
  const Shape shape = rows(estimate);
  std::vector<std::uint8_t> known(shape[0] * shape[1], 1);
  for (const FlaggedRow& row : estimate.result.flagged) {
    known[size(row.action) * shape[1] + size(row.state)] = 0;
  }
  return owned(std::move(known), shape).attr("astype")(nb::module_::import_("numpy").attr("bool_"));
}

nb::list flagged(const Estimate& estimate) {
  const Pomdp& chain = chain_of(estimate.model);
  nb::list all;
  for (const FlaggedRow& row : estimate.result.flagged) {
    all.append(nb::make_tuple(chain.actions()[row.action], chain.states()[row.state], row.reason));
  }
  return all;
}

nb::object region(nb::handle self, const ConfidenceRegion& of) {
  if (of.factor.empty()) return nb::none();
  const Estimate& estimate = nb::cast<const Estimate&>(self);
  nb::dict fields;
  fields["lower"] = table_view(self, of.lower, entries(estimate));
  fields["upper"] = table_view(self, of.upper, entries(estimate));
  fields["factor"] = table_view(self, of.factor, rows(estimate));
  fields["l1"] = table_view(self, of.l1, rows(estimate));
  return fields;
}

void save(const Estimate& estimate, const std::string& path) {
  if (format_of_ending(path) == ModelFormat::json) {
    write_text_file(path, estimate_text(estimate));
    return;
  }
  nb::cast(estimate.estimated()).attr("save")(path);
  warn({fmt::format("{}: contains the model only; error bars need a .json file", path)});
}

void define_tables(nb::class_<Estimate>& estimate) {
  using Result = TransitionEstimate;
  estimate
      .def_prop_ro(
          "transition",
          [](nb::handle self) {
            const Estimate& of = nb::cast<const Estimate&>(self);
            return view(of.result.transition.values(), entries(of), self);
          },
          "[A][S][S]")
      .def_prop_ro("standard_error", entry_table(&Result::standard_error),
                   docs::TransitionEstimate::standard_error)
      .def_prop_ro("lower", entry_table(&Result::lower), docs::TransitionEstimate::lower)
      .def_prop_ro("upper", entry_table(&Result::upper), docs::TransitionEstimate::upper)
      .def_prop_ro("draws", entry_table(&Result::draws), docs::TransitionEstimate::draws)
      .def_prop_ro("visits", row_table(&Result::visits), docs::TransitionEstimate::visits)
      .def_prop_ro("clipped", row_table(&Result::clipped), docs::TransitionEstimate::clipped)
      .def_prop_ro("reward", row_table(&Result::reward), docs::TransitionEstimate::reward)
      .def_prop_ro("reward_standard_error", row_table(&Result::reward_standard_error),
                   docs::TransitionEstimate::reward_standard_error)
      .def_prop_ro(
          "alpha",
          [](nb::handle self) {
            const Estimate& of = nb::cast<const Estimate&>(self);
            return table_view(self, of.result.alpha, {of.result.alpha.size()});
          },
          docs::TransitionEstimate::alpha)
      .def_prop_ro(
          "pairs",
          [](nb::handle self) {
            const Result& of = nb::cast<const Estimate&>(self).result;
            return view(std::span(of.pairs), {of.pairs.size()}, self);
          },
          docs::TransitionEstimate::pairs)
      .def_prop_ro("determined", determined, "[A][S], bool: the log determines the row.")
      .def_prop_ro("flagged", flagged, "(action, state, reason) of rows that it does not.")
      .def_prop_ro(
          "row_region",
          [](nb::handle self) {
            return region(self, nb::cast<const Estimate&>(self).result.row_region);
          },
          docs::TransitionEstimate::row_region)
      .def_prop_ro(
          "joint_region",
          [](nb::handle self) {
            return region(self, nb::cast<const Estimate&>(self).result.joint_region);
          },
          docs::TransitionEstimate::joint_region);
}

template <class Member>
auto field(Member member) {
  return [member](const Estimate& estimate) { return estimate.result.*member; };
}

void define_fields(nb::class_<Estimate>& estimate) {
  using Result = TransitionEstimate;
  estimate.def_prop_ro("model", &Estimate::estimated, "The model with the estimated dynamics.")
      .def_prop_ro("estimator", field(&Result::estimator), docs::TransitionEstimate::estimator)
      .def_prop_ro("confidence", field(&Result::confidence), docs::TransitionEstimate::confidence)
      .def_prop_ro("error_bars", field(&Result::error_bars), docs::TransitionEstimate::error_bars)
      .def_prop_ro("warnings", field(&Result::warnings), docs::TransitionEstimate::warnings)
      .def_prop_ro("rows", field(&Result::rows), docs::TransitionEstimate::rows)
      .def_prop_ro("runs", field(&Result::runs), docs::TransitionEstimate::runs)
      .def_prop_ro("missing", field(&Result::missing), docs::TransitionEstimate::missing)
      .def_prop_ro("log_likelihood", field(&Result::log_likelihood),
                   docs::TransitionEstimate::log_likelihood)
      .def_prop_ro("fit_p_value", field(&Result::fit_p_value),
                   docs::TransitionEstimate::fit_p_value)
      .def_prop_ro("effective_rows", field(&Result::effective_rows),
                   docs::TransitionEstimate::effective_rows)
      .def_prop_ro("labelled_rows", field(&Result::labelled_rows),
                   docs::TransitionEstimate::labelled_rows)
      .def_prop_ro("structure", field(&Result::structure), docs::TransitionEstimate::structure)
      .def_prop_ro("passes", field(&Result::passes), docs::TransitionEstimate::passes);
}

void define_manners(nb::class_<Estimate>& estimate) {
  estimate
      .def(
          "save", [](const Estimate& self, nb::handle path) { save(self, path_of(path)); },
          nb::arg("path").none(),
          "Writes a model file with the estimate in it, as `oas estimate` does.")
      .def("to_json", estimate_text, "The text of that file.")
      .def(
          "plot",
          [](nb::handle self, nb::handle axes, nb::handle ax) {
            return nb::module_::import_("oas.plot")
                .attr("estimate")(self, axes.is_none() ? ax : axes);
          },
          nb::arg("axes") = nb::none(), nb::arg("ax") = nb::none(),
          "Draws the matrices with their errors, one in each of `axes` (or `ax`, where there is "
          "one action); returns axes.")
      .def(
          "to_dataframe",
          [](nb::handle self) {
            return nb::module_::import_("oas._frames").attr("estimate_frame")(self);
          },
          "A pandas.DataFrame with a line for every entry.")
      .def("__repr__", [](const Estimate& self) { return "Estimate(" + self.result.brief() + ")"; })
      .def("_repr_html_",
           [](nb::handle self) {
             return nb::module_::import_("oas._html").attr("estimate_html")(self);
           })
      .def(
          "__eq__",
          [](const Estimate& self, nb::handle other) {
            return nb::isinstance<Estimate>(other) &&
                   estimate_text(self) == estimate_text(nb::cast<const Estimate&>(other));
          },
          nb::arg("other").none())
      .def("__copy__", [](const Estimate& self) { return self; })
      .def(
          "__deepcopy__", [](const Estimate& self, nb::handle) { return self; }, nb::arg("memo"))
      .def("__getstate__", estimate_text)
      .def(
          "__setstate__",
          [](Estimate& self, const std::string& text) {
            new (&self) Estimate(parse_estimate_text(text, "pickled estimate"));
          },
          nb::arg("state"));
  estimate.attr("__hash__") = nb::none();
}

Estimate estimate_files(const AnyModel& model, const std::vector<std::string>& paths,
                        const std::string& estimator, std::vector<Setting> settings) {
  const LogOptions reading = take_log_options(settings, false);
  const AnyModel loaded = reading.rows.empty() ? model : with_rows(model, parse_rows(reading.rows));
  const AnyModel of_rows = row_model(loaded, paths.at(0), reading);
  Estimation how = estimation_from(estimator, of_rows, settings, reading);
  how.estimate.parallelism = threads();
  TransitionEstimate result = run_for({"rows"}, [&](const RowsRead& progress) {
    how.estimate.progress = progress;
    return estimate_dynamics_and_rewards(of_rows, paths, how);
  });
  return finished_estimate(loaded, std::move(result));
}

// From rows in memory, which `rows(progress)` makes a source of.
template <class Rows>
Estimate estimate_memory(const Pomdp& model, const std::string& estimator,
                         const std::vector<Setting>& settings, const Rows& rows) {
  Estimation how = estimation_from(estimator, model, settings);
  how.estimate.parallelism = threads();
  TransitionEstimate result = run_for({"rows"}, [&](const RowsRead& progress) {
    how.estimate.progress = progress;
    return estimate_from_rows(
        model, [&](const AnyModel&, const RowsRead& told, const LogOptions&) { return rows(told); },
        how);
  });
  return finished_estimate(model, std::move(result));
}

Estimate estimate_log(const Pomdp& model, const Log& log, const std::string& estimator,
                      const std::vector<Setting>& settings) {
  OAS_REQUIRE(log.size() > 0, "the log has no rows");
  return estimate_memory(model, estimator, settings, [&](const RowsRead& told) {
    return std::make_unique<LoggedRows>(log, told);
  });
}

// None where runs are interleaved.
std::optional<Estimate> estimate_table(const Pomdp& model, const Columns& columns,
                                       const std::string& estimator,
                                       const std::vector<Setting>& settings) {
  OAS_REQUIRE(columns.size() > 0, "the log has no rows");
  std::optional<std::vector<std::size_t>> runs;
  run_work({"rows"}, [&](const RowsRead&) { runs = runs_of(columns); });
  if (!runs) return std::nullopt;
  return estimate_memory(model, estimator, settings, [&](const RowsRead& told) {
    return std::make_unique<TableRows>(model, columns, *runs, told);
  });
}

nb::dict described(const std::vector<SharedSetting>& settings, const std::string& member) {
  nb::dict all;
  for (const SharedSetting& setting : settings) {
    if (std::find(setting.by.begin(), setting.by.end(), member) == setting.by.end()) continue;
    all[setting.info.name.c_str()] = setting.info.help();
  }
  return all;
}

}  // namespace

void bind_estimation(nb::module_& m) {
  auto estimate = nb::class_<Estimate>(
      m, "Estimate",
      "Transition probabilities learned from rows, with error bars and warnings.\n"
      "Can be used wherever a model can. Tables are [A][S][S], [A][S] or [A]; what was not "
      "computed\n"
      "is None.");
  define_tables(estimate);
  define_fields(estimate);
  define_manners(estimate);
  m.def("_estimate_files", [](nb::handle model, const std::vector<std::string>& paths,
                              const std::string& estimator, const nb::dict& settings) {
    return estimate_files(any_model(model), paths, estimator, settings_of(settings));
  });
  m.def("_estimate_log", [](nb::handle model, const Log& log, const std::string& estimator,
                            const nb::dict& settings) {
    return estimate_log(finite_model(model), log, estimator, settings_of(settings));
  });
  m.def("_estimate_table", [](nb::handle model, const Columns& columns,
                              const std::string& estimator, const nb::dict& settings) {
    return estimate_table(finite_model(model), columns, estimator, settings_of(settings));
  });
  m.def("_parse_estimate", parse_estimate_text);
  m.def(
      "estimators",
      [] {
        nb::dict all;
        for (const EstimatorInfo& info : estimators()) {
          all[nb::str(info.name.data(), info.name.size())] =
              nb::str(info.summary.data(), info.summary.size());
        }
        return all;
      },
      "The estimators: name and summary.");
  m.def(
      "estimator_settings",
      [](const std::string& name) {
        static_cast<void>(find_estimator(name));
        return described(estimation_settings(), name);
      },
      nb::arg("estimator"), "What an estimator can be told: name and meaning.");
}

}  // namespace oas::python

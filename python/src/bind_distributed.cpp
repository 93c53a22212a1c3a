#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <utility>

#include "arrays.hpp"
#include "bindings.hpp"
#include "log.hpp"
#include "models.hpp"
#include "oas/core/bytes.hpp"
#include "oas/core/contracts.hpp"
#include "oas/estimation/evidence.hpp"
#include "oas/estimation/likelihood/row_likelihood.hpp"
#include "settings.hpp"
#include "work.hpp"

namespace oas::python {

namespace {

constexpr int kPlainPasses = 20'000;  // plain expectation-maximisation may need thousands

nb::bytes bytes_of(const std::string& bytes) { return nb::bytes(bytes.data(), bytes.size()); }
std::string_view view_of(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

// What a pass over the rows of a part is asked for, as bytes: it goes to every worker.
struct PassRequest {
  TransitionModel transition;
  PassOptions options;
  std::int64_t rows = 0;  // of all parts

  [[nodiscard]] std::string save() const {
    OAS_REQUIRE(!options.sensors && !options.emissions && !options.forgetting.active() &&
                    options.first_row == 0,
                "uncertain sensors and weights by age are not known to workers");
    ByteWriter out;
    out.put(static_cast<std::int64_t>(transition.num_states()));
    out.put(static_cast<std::int64_t>(transition.num_actions()));
    out.put_all(transition.values());
    out.put(rows);
    out.put(static_cast<std::int64_t>(options.batches));
    out.put_all(options.unknown_start);
    out.put_all(options.never_left);
    return out.take();
  }
  static PassRequest loaded(std::string_view bytes) {
    constexpr std::int64_t kMost = std::int64_t{1} << 30;
    ByteReader in(bytes);
    PassRequest made;
    const auto states = static_cast<int>(in.get_integer(1, kMost));
    const auto actions = static_cast<int>(in.get_integer(1, kMost));
    made.transition = TransitionModel(states, actions, in.get_all<double>());
    made.rows = in.get<std::int64_t>();
    made.options.batches = static_cast<int>(in.get_integer(0, kMost));
    made.options.unknown_start = in.get_all<double>();
    made.options.never_left = in.get_all<std::size_t>();
    return made;
  }
};

std::string saved(const LikelihoodPass& pass) {
  ByteWriter out;
  for (const double value : {pass.log_likelihood, pass.handover_error}) out.put(value);
  out.put_all(pass.score);
  out.put_all(pass.counts);
  out.put_all(pass.batch_scores);
  out.put_all(pass.batch_steps);
  out.put_all(pass.unknown_starts);
  return out.take();
}

LikelihoodPass loaded_pass(std::string_view bytes) {
  ByteReader in(bytes);
  LikelihoodPass pass;
  pass.log_likelihood = in.get<double>();
  pass.handover_error = in.get<double>();
  pass.score = in.get_all<double>();
  pass.counts = in.get_all<double>();
  pass.batch_scores = in.get_all<double>();
  pass.batch_steps = in.get_all<std::int64_t>();
  pass.unknown_starts = in.get_all<double>();
  return pass;
}

void add(const std::vector<double>& more, std::vector<double>& sums) {
  if (sums.empty()) sums.assign(more.size(), 0.0);
  for (std::size_t i = 0; i < more.size(); ++i) sums[i] += more[i];
}

// Passes over parts as one over all their rows, in the order in which they stand.
LikelihoodPass sum_of(const std::vector<LikelihoodPass>& passes) {
  LikelihoodPass total = passes.at(0);
  for (std::size_t i = 1; i < passes.size(); ++i) {
    const LikelihoodPass& pass = passes[i];
    total.log_likelihood += pass.log_likelihood;
    total.handover_error = std::max(total.handover_error, pass.handover_error);
    add(pass.score, total.score);
    add(pass.counts, total.counts);
    add(pass.unknown_starts, total.unknown_starts);
    total.batch_scores.insert(total.batch_scores.end(), pass.batch_scores.begin(),
                              pass.batch_scores.end());
    total.batch_steps.insert(total.batch_steps.end(), pass.batch_steps.begin(),
                             pass.batch_steps.end());
  }
  if (!total.possible()) {
    std::fill(total.score.begin(), total.score.end(), 0.0);
    std::fill(total.counts.begin(), total.counts.end(), 0.0);
  }
  return total;
}

// Whole runs on a worker, for passes of the likelihood over them.
struct LikelihoodPart {
  AnyModel model;
  RowLikelihood rows;

  explicit LikelihoodPart(AnyModel of)
      : model(std::move(of)),
        rows(std::visit([](const auto& any) { return RowLikelihood(any, 0); }, model)) {}

  // The rows of `log`; with `continues` the first of them belong to the last run.
  void take(const Log& log, bool continues) {
    bool first = continues;
    by_runs(
        log.block.view(),
        [&](RunStart start) {
          if (!std::exchange(first, false)) rows.start_run(start);
        },
        [&](const RowBlock& block) { rows.add(block); });
  }

  [[nodiscard]] LikelihoodPass pass(PassRequest request, int threads) const {
    const auto own = static_cast<std::int64_t>(rows.stored().rows());
    request.options.batches = static_cast<int>((request.options.batches * own + request.rows - 1) /
                                               std::max<std::int64_t>(request.rows, 1));
    return rows.pass(request.transition, request.options, {threads});
  }
};

nb::tuple facts_of(const LikelihoodPart& self) {
  const TransitionLikelihood& rows = self.rows.stored();
  return nb::make_tuple(rows.rows(), rows.runs(), rows.missing(), rows.transitions());
}

void bind_likelihood(nb::module_& m) {
  nb::class_<LikelihoodPart>(m, "_LikelihoodPart")
      .def("__init__", [](LikelihoodPart* self,
                          nb::handle model) { new (self) LikelihoodPart(any_model(model)); })
      .def("_take",
           [](LikelihoodPart& self, const Log& log, bool continues) {
             run_work({"rows"}, [&](const RowsRead&) { self.take(log, continues); });
           })
      .def("_append",
           [](LikelihoodPart& self, const LikelihoodPart& other) { self.rows.append(other.rows); })
      .def("_pass",
           [](const LikelihoodPart& self, const nb::bytes& request, int threads) {
             const PassRequest asked = PassRequest::loaded(view_of(request));
             return bytes_of(run_for(
                 {"rows"}, [&](const RowsRead&) { return saved(self.pass(asked, threads)); }));
           })
      .def("_facts", facts_of)
      .def("__getstate__",
           [](const LikelihoodPart& self) {
             ByteWriter out;
             self.rows.save(out);
             return nb::make_tuple(model_text(self.model), bytes_of(out.take()));
           })
      .def("__setstate__", [](LikelihoodPart& self, const nb::tuple& state) {
        new (&self)
            LikelihoodPart(parse_model_text(nb::cast<std::string>(state[0]), "pickled likelihood"));
        const auto bytes = nb::cast<nb::bytes>(state[1]);
        ByteReader in(view_of(bytes));
        self.rows.load(in);
      });
  m.def("_sum_passes", [](const std::vector<nb::bytes>& parts) {
    std::vector<LikelihoodPass> passes;
    for (const nb::bytes& part : parts) passes.push_back(loaded_pass(view_of(part)));
    return bytes_of(saved(sum_of(passes)));
  });
}

LikelihoodEstimatorOptions likelihood_options(const EstimatorInfo& info,
                                              const std::vector<Setting>& settings, bool refine) {
  EstimateOptions asked;
  SettingFields fields;
  asked.visit(fields);
  fields.apply(settings, "distributed.estimate");
  asked.validate();
  LikelihoodEstimatorOptions options;
  options.name = info.name;
  options.confidence = asked.confidence;
  options.regions = true;
  options.climb.accelerate = refine;
  options.climb.prior = asked.prior;
  if (!refine) options.climb.max_passes = kPlainPasses;
  return options;
}

// The maximum of a likelihood that `pass` asks the workers for: bytes of a request to bytes of a
// pass. `start`: what the moments say, where they say something.
Estimate estimate_by_passes(const Pomdp& model, const std::string& estimator,
                            const std::optional<Estimate>& start, const nb::tuple& facts,
                            const nb::dict& keywords, const nb::callable& pass) {
  const bool refine = estimator != "em";
  LikelihoodEstimatorOptions options =
      likelihood_options(find_estimator(estimator), settings_of(keywords), refine);
  options.draws = EstimateOptions().draws_to_carry(
      static_cast<std::size_t>(model.num_actions() * model.num_states() * model.num_states()));
  options.stream = EvidenceOptions().stream;
  LikelihoodRows rows;
  rows.rows = nb::cast<std::int64_t>(facts[0]);
  rows.runs = nb::cast<std::int64_t>(facts[1]);
  rows.missing = nb::cast<std::int64_t>(facts[2]);
  rows.transitions = nb::cast<std::vector<std::int64_t>>(facts[3]);
  rows.likelihood = [&](const TransitionModel& transition, const PassOptions& asked) {
    const std::string request = PassRequest{transition, asked, rows.rows}.save();
    const nb::gil_scoped_acquire acquired;
    const auto answer = nb::cast<nb::bytes>(pass(bytes_of(request)));
    return loaded_pass(view_of(answer));
  };
  std::vector<TransitionModel> starts = {
      TransitionModel::uniform(model.num_states(), model.num_actions())};
  if (refine) starts = likelihood_starts(model, start ? start->result.transition : starts.front());
  TransitionEstimate result = run_for(
      {"rows"}, [&](const RowsRead&) { return estimate_likelihood(rows, starts, model, options); });
  warn(result.warnings);
  return {model, std::move(result)};
}

}  // namespace

void bind_distributed(nb::module_& m) {
  bind_likelihood(m);
  m.def(
      "_estimate_by_passes",
      [](nb::handle model, const std::string& estimator, const std::optional<Estimate>& start,
         const nb::tuple& facts, const nb::dict& keywords, const nb::callable& pass) {
        return estimate_by_passes(finite_model(model), estimator, start, facts, keywords, pass);
      },
      nb::arg("model"), nb::arg("estimator"), nb::arg("start").none(), nb::arg("facts"),
      nb::arg("keywords"), nb::arg("pass_"));
}

}  // namespace oas::python

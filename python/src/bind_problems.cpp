#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string_view>
#include <utility>

#include "bindings.hpp"
#include "models.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/rng.hpp"
#include "oas/problems/named.hpp"
#include "oas/problems/random_pomdp.hpp"

namespace oas::python {

namespace {

// What the options are called here.
constexpr std::pair<const char*, const char*> kNames[] = {{"num_states", "states"},
                                                          {"num_actions", "actions"},
                                                          {"num_observations", "observations"},
                                                          {"min_transition", "epsilon"},
                                                          {"min_alpha", "alpha"}};

Pomdp drawn_pomdp(const RandomPomdpOptions& options, std::uint64_t seed) {
  Rng rng({seed, 0, Role::problem});
  try {
    return random_pomdp(options, rng).model;
  } catch (const InvalidArgument& error) {
    std::string message = error.what();
    for (const auto& [theirs, ours] : kNames) {
      const std::size_t at = message.find(theirs);
      if (at != std::string::npos) message.replace(at, std::string_view(theirs).size(), ours);
    }
    throw InvalidArgument(message);
  }
}

}  // namespace

void bind_problems(nb::module_& m) {
  m.def(
      "problem", [](const std::string& name) { return make_problem(name); }, nb::arg("name"),
      "The ready-made problem of that name; `oas.problems()` lists them.");
  m.def(
      "problems",
      [] {
        nb::dict all;
        for (const ProblemInfo& info : problems()) {
          all[nb::str(info.name.data(), info.name.size())] =
              nb::str(info.summary.data(), info.summary.size());
        }
        return all;
      },
      "The ready-made problems: name and summary.");
  m.def(
      "random_pomdp",
      [](int states, int actions, int observations, std::uint64_t seed,
         std::optional<double> epsilon, double peak, double alpha, bool spread_peaks,
         const std::string& timing) {
        RandomPomdpOptions options;
        options.num_states = states;
        options.num_actions = actions;
        options.num_observations = observations;
        options.min_transition = epsilon;
        options.peak = peak;
        options.min_alpha = alpha;
        if (spread_peaks) options.peaks = PeakRule::spread_over_pairs;
        options.timing = parse_timing(timing);
        return drawn_pomdp(options, seed);
      },
      nb::arg("states") = 3, nb::arg("actions") = 3, nb::arg("observations") = 3, nb::kw_only(),
      nb::arg("seed") = 1, nb::arg("epsilon") = nb::none(), nb::arg("peak") = 10.0,
      nb::arg("alpha") = 0.001, nb::arg("spread_peaks") = false, nb::arg("timing") = "before",
      "A random instance as in the paper, the same as `oas problem random` with this seed.");
}

}  // namespace oas::python

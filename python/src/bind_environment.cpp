#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "models.hpp"
#include "oas/core/contracts.hpp"
#include "oas/simulation/batch_environment.hpp"
#include "settings.hpp"
#include "turn.hpp"

namespace oas::python {

namespace {

using Actions = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Mask = nb::ndarray<const bool, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A BatchEnvironment whose arrays are those that learners use: 64-bit integers, an observation O
// for "nothing read yet", beliefs without padding.
class Copies {
 public:
  Copies(const Pomdp& model, const BatchOptions& options)
      : batch_(model, options),
        num_actions_(model.num_actions()),
        num_states_(static_cast<std::size_t>(model.num_states())),
        none_(model.num_observations()),
        actions_(options.copies) {}

  void reset(nb::handle seed, std::uint32_t first_replication) {
    const std::uint64_t number = seed_of(seed);
    turn_.take([&] { batch_.reset(number, first_replication); });
  }

  void step(const Actions& actions) {
    turn_.take([&] {
      take(actions);
      batch_.step(actions_);
    });
  }

  // Learners' actions, of which none is a restart; where `begins` is set the action is not looked
  // at.
  void act(const Actions& actions, const std::optional<Mask>& begins) {
    OAS_REQUIRE(!begins || begins->size() == batch_.size(), "{} values of begins for {} copies",
                begins ? begins->size() : 0, batch_.size());
    turn_.take([&] {
      take(actions);
      for (std::size_t k = 0; k < actions_.size(); ++k) {
        if (begins && begins->data()[k]) {
          actions_[k] = kRestart;
        } else {
          OAS_REQUIRE(actions_[k] >= 0, "the action of copy {} is {}; there are {} actions", k,
                      actions.data()[k], num_actions_);
        }
      }
      batch_.step(actions_);
    });
  }

  void restart(const Mask& begins) {
    OAS_REQUIRE(begins.size() == batch_.size(), "{} values of begins for {} copies", begins.size(),
                batch_.size());
    turn_.take([&] { batch_.restart({begins.data(), begins.size()}); });
  }

  [[nodiscard]] nb::object observations() const {
    std::vector<std::int64_t> out(batch_.size());
    turn_.take([&] {
      std::ranges::transform(batch_.observations(), out.begin(),
                             [this](Observation o) { return o < 0 ? none_ : o.value(); });
    });
    return owned(std::move(out));
  }
  [[nodiscard]] nb::object rewards() const {
    return owned(turn_.take(
        [&] { return std::vector<double>(batch_.rewards().begin(), batch_.rewards().end()); }));
  }
  [[nodiscard]] nb::object states() const {
    return owned(turn_.take(
        [&] { return std::vector<std::int64_t>(batch_.states().begin(), batch_.states().end()); }));
  }
  [[nodiscard]] nb::object beliefs() const {
    if (!batch_.tracks_beliefs()) return nb::none();
    std::vector<double> out(batch_.size() * num_states_);
    turn_.take([&] {
      for (std::size_t k = 0; k < batch_.size(); ++k) {
        std::ranges::copy(batch_.belief(k), out.begin() + static_cast<long>(k * num_states_));
      }
    });
    return owned(std::move(out), {batch_.size(), num_states_});
  }
  [[nodiscard]] std::size_t size() const { return batch_.size(); }

 private:
  // What does not fit into 32 bits is no action either.
  void take(const Actions& actions) {
    OAS_REQUIRE(actions.size() == batch_.size(), "{} actions for {} copies", actions.size(),
                batch_.size());
    const std::int64_t* const given = actions.data();
    for (std::size_t k = 0; k < actions_.size(); ++k) {
      const bool fits = given[k] == static_cast<std::int32_t>(given[k]);
      actions_[k] = Action{fits ? given[k] : std::int64_t{INT32_MIN}};
    }
  }

  BatchEnvironment batch_;
  int num_actions_;
  std::size_t num_states_;
  std::int32_t none_;
  std::vector<Action> actions_;
  Turn turn_;
};

}  // namespace

void bind_environment(nb::module_& m) {
  nb::class_<Copies>(
      m, "BatchEnvironment",
      "Many copies of one model, stepped together in C++: one call is one step of each. Copy k\n"
      "draws from the random numbers of (seed, first_replication + k), as run k of `oas.simulate`\n"
      "does. `oas.gym` is made of it.")
      .def(
          "__init__",
          [](Copies* self, nb::handle model, std::int64_t copies, nb::handle seed,
             std::uint32_t first_replication, bool track_beliefs) {
            OAS_REQUIRE(copies >= 1, "copies is {}; there must be at least 1", copies);
            const BatchOptions options{static_cast<std::size_t>(copies), seed_of(seed),
                                       first_replication, track_beliefs};
            new (self) Copies(finite_model(model), options);
          },
          nb::arg("model").none(), nb::arg("copies") = 1, nb::kw_only(), nb::arg("seed") = 1,
          nb::arg("first_replication") = 0, nb::arg("track_beliefs") = false)
      .def("__len__", &Copies::size)
      .def("reset", &Copies::reset, nb::arg("seed"), nb::arg("first_replication") = 0,
           "All copies at their start, on other random numbers.")
      .def("step", &Copies::step, nb::arg("actions").noconvert(),
           "One step of every copy, int64 [copy]. The action -1 starts a copy anew.")
      .def("act", &Copies::act, nb::arg("actions").noconvert(),
           nb::arg("begins").noconvert().none() = nb::none(),
           "The same with actions only; copies where `begins`, bool [copy], is set start anew.")
      .def("restart", &Copies::restart, nb::arg("begins").noconvert(),
           "Starts the copies where `begins`, bool [copy], is set anew; the others stay.")
      .def_prop_ro("observations", &Copies::observations,
                   "int64 [copy]: what each showed last; the number of observations where a run\n"
                   "has just begun and nothing was read yet.")
      .def_prop_ro("rewards", &Copies::rewards, "float64 [copy]: what each paid last.")
      .def_prop_ro("states", &Copies::states,
                   "int64 [copy]: the hidden states in which the next actions will be taken.")
      .def_prop_ro("beliefs", &Copies::beliefs,
                   "float64 [copy][S]: P(state | what was read), where `track_beliefs` is set.");
}

}  // namespace oas::python

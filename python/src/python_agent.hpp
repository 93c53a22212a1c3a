#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

#include "oas/core/json_text.hpp"
#include "oas/core/rng.hpp"
#include "oas/learning/episode.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/trajectory.hpp"

/// Agents written in Python, as the library takes agents.
namespace oas::python {

namespace nb = nanobind;

/// The first thing that went wrong in an agent written in Python. Made and let go with the GIL.
class AgentFailure {
 public:
  /// Keeps what was thrown, unless something is kept, and ends the run with Interrupted.
  [[noreturn]] void keep(const std::string& where, const nb::python_error& error);
  [[noreturn]] void keep(std::exception_ptr error);

  [[nodiscard]] bool happened() const { return happened_; }
  /// What the exception was raised by, and the exception; rethrows one that is not Python's.
  [[nodiscard]] nb::object told() const;

 private:
  std::mutex mutex_;
  std::atomic<bool> happened_{false};
  std::string where_;
  nb::object raised_;
  std::exception_ptr thrown_;
};

/// Who plays: a label for messages, the run, and the model that it plays in.
struct PlayerInfo {
  std::string label;
  std::uint32_t run = 0;
  const Pomdp* model = nullptr;     ///< outlives the agent
  AgentFailure* failure = nullptr;  ///< outlives the agent
};

/// An object with `act()`, which returns an action or (action, propensity), and `observe(o)`;
/// `probabilities()`, [A], where it has that: else its policy is taken to be what it does. What it
/// raises, or returns that makes no sense, goes to PlayerInfo::failure. Copies are the same object.
class PythonAgent {
 public:
  /// `make()` returns the object. Takes the GIL itself, as all functions here.
  PythonAgent(PlayerInfo info, const std::function<nb::object()>& make);

  void begin(Observation first) { observe(first); }
  [[nodiscard]] Choice act(Rng& rng);
  void observe(Observation observation);
  void probabilities(std::span<double> out);
  [[nodiscard]] std::span<const Episode> episodes() const { return {}; }
  /// Objects of Python are not saved: both throw InvalidArgument.
  [[nodiscard]] nlohmann::ordered_json save() const;
  void load(const JsonView& state);

 private:
  struct Held;
  std::shared_ptr<Held> held_;
};

}  // namespace oas::python

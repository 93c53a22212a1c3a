#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "oas/core/interruption.hpp"
#include "oas/study/guest_estimators.hpp"
#include "python_agent.hpp"

/// Functions of Python as estimators of studies.
namespace oas::python {

namespace nb = nanobind;

/// Functions by name, and the first thing that one of them raised to end the program.
class Guests {
 public:
  /// Functions (model, rows) → T. One is called at a time, with the GIL; what it raises becomes the
  /// message of a std::runtime_error, unless it is to end the program (KeyboardInterrupt,
  /// SystemExit): then the work ends with Interrupted.
  explicit Guests(const nb::dict& functions);

  [[nodiscard]] const GuestEstimators& functions() const { return functions_; }

  /// What `work` returns; raises in Python what ended it.
  template <class Work>
  [[nodiscard]] auto called_by(const Work& work) const {
    try {
      return work();
    } catch (const Interrupted&) {
      raise_if_kept();
      throw;
    }
  }

 private:
  void raise_if_kept() const;

  std::shared_ptr<AgentFailure> ended_;
  GuestEstimators functions_;
};

}  // namespace oas::python

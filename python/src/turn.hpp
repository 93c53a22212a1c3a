#pragma once

#include <nanobind/nanobind.h>

#include <mutex>

/// One thread at a time at an object: while a call works without the GIL another could begin.
namespace oas::python {

namespace nb = nanobind;

/// What has a turn is a value: a copy has one of its own.
class Turn {
 public:
  Turn() = default;
  Turn(const Turn& /*other*/) {}
  Turn& operator=(const Turn& /*other*/) { return *this; }

  /// Calls `work`, which touches nothing of Python, without the GIL, once nobody else is at it.
  template <class Work>
  auto take(const Work& work) const {
    const nb::gil_scoped_release released;
    const std::lock_guard lock(mutex_);
    return work();
  }
  /// The same in a thread that has no GIL.
  template <class Work>
  auto take_without_gil(const Work& work) const {
    const std::lock_guard lock(mutex_);
    return work();
  }

 private:
  mutable std::mutex mutex_;
};

}  // namespace oas::python

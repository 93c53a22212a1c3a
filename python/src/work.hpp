#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "oas/model/row_source.hpp"

/// Work that takes long: without the GIL, stopped by Ctrl-C, shown by a progress bar.
namespace oas::python {

namespace nb = nanobind;

/// What is shown while it lasts.
struct Shown {
  std::string what;        ///< "rows"
  std::int64_t total = 0;  ///< 0: unknown
};

/// Calls `work`, which may tell how far it is, and throws what it throws. In the main thread it
/// works in a thread of its own, while this one looks for signals and draws; elsewhere there are no
/// signals to see. Holds the GIL before and after, not meanwhile.
void run_work(const Shown& shown, const std::function<void(const RowsRead& progress)>& work);

/// Work that is mostly too short for a thread of its own: the same in this one, without a bar.
void run_short_work(const std::function<void()>& work);

/// run_work() with a result.
template <class Work>
[[nodiscard]] auto run_for(const Shown& shown, const Work& work) {
  std::optional<std::decay_t<decltype(work(RowsRead()))>> result;
  run_work(shown, [&](const RowsRead& progress) { result.emplace(work(progress)); });
  return std::move(*result);
}

/// The threads that a call may use; `oas.set_threads`.
[[nodiscard]] Parallelism threads();
void set_threads(int count);

}  // namespace oas::python

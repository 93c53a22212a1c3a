#include "oas/logs/detail/unit_names.hpp"

#include <algorithm>
#include <utility>

#include "oas/core/contracts.hpp"

namespace oas::detail {

namespace {

bool is_number(const std::string& name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

void UnitNames::begin_file(std::string file, bool has_run) {
  file_ = std::move(file);
  has_run_ = has_run;
}

std::string UnitNames::name_of(const std::string& run) const {
  if (!has_run_) return file_;
  return is_number(run) && !one_log_ ? file_ + ":" + run : run;
}

void UnitNames::name(LogBlock& block) {
  block.run_names.resize(block.run_starts.size());
  for (std::size_t run = 0; run < block.run_names.size(); ++run) {
    std::string& name = block.run_names[run];
    name = name_of(name);
    const bool goes_on = !block.first_steps.empty() && block.first_steps[run] > 0;
    if (goes_on || names_.add(name)) continue;
    throw ParseError(
        file_, 0, 0,
        fmt::format("run '{}' was in an earlier file, too; without columns for the run and "
                    "the time it is unknown how it goes on",
                    name));
  }
}

}  // namespace oas::detail

#include "oas/formats/detail/faults.hpp"

#include <algorithm>

#include "oas/core/contracts.hpp"

namespace oas::detail {

void Faults::add(Place place, std::string_view message) {
  faults_.push_back({place, std::string(message)});
  if (faults_.size() == kMost) throw_all(true);
}

void Faults::fail(Place place, std::string_view message) {
  add(place, message);
  throw Skip{};
}

void Faults::throw_if_any() const {
  if (!faults_.empty()) throw_all(false);
}

void Faults::throw_all(bool cut) const {
  const Fault& first = faults_.front();
  std::string text = first.message;
  for (std::size_t i = 1; i < faults_.size(); ++i) {
    const Fault& fault = faults_[i];
    text += '\n';
    text += ParseError(file_, fault.place.line, fault.place.column, fault.message).what();
  }
  if (cut) text += fmt::format("\n{}: stopped after {} faults", file_, kMost);
  throw ParseError(file_, first.place.line, first.place.column, text);
}

void Warnings::add(std::string_view kind, long line, std::string message) {
  const auto known = std::find_if(warnings_.begin(), warnings_.end(),
                                  [&](const Warning& warning) { return warning.kind == kind; });
  if (known != warnings_.end()) {
    ++known->count;
  } else {
    warnings_.push_back({std::string(kind), line, std::move(message), 1});
  }
}

std::vector<std::string> Warnings::list() const {
  std::vector<std::string> lines;
  for (const Warning& warning : warnings_) {
    const std::string where = warning.line > 0 ? fmt::format("{}:{}", file_, warning.line) : file_;
    lines.push_back(fmt::format("{}: {}", where, warning.message));
    if (warning.count > 1) lines.back() += fmt::format(" (and {} more times)", warning.count - 1);
  }
  return lines;
}

}  // namespace oas::detail

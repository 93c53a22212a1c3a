#include "oas/formats/detail/plain_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace oas::detail {

namespace {

std::string plain(std::string name, std::string_view kind,
                  const std::function<bool(std::string_view)>& is_allowed,
                  const std::function<bool(char)>& keeps) {
  std::replace_if(
      name.begin(), name.end(), [&](char c) { return !keeps(c); }, '_');
  if (!is_allowed(name)) name = fmt::format("{}_{}", kind.front(), name);
  return name;
}

}  // namespace

PlainNames plain_names(const Labels& labels, std::string_view kind,
                       const std::function<bool(std::string_view)>& is_allowed,
                       const std::function<bool(char)>& keeps) {
  PlainNames result;
  std::unordered_set<std::string> used;
  for (const std::string& name : labels.names()) {
    if (is_allowed(name)) used.insert(name);
  }
  int changed = 0;
  for (int i = 0; i < labels.size(); ++i) {
    std::string name = labels[i];
    if (labels.has_names() && !is_allowed(name)) {
      const std::string old = name;
      const std::string base = plain(name, kind, is_allowed, keeps);
      name = base;
      for (int n = 2; !used.insert(name).second; ++n) name = fmt::format("{}_{}", base, n);
      if (++changed == 1)
        result.warning = fmt::format("{} '{}' is written as '{}'", kind, old, name);
    }
    result.names.push_back(std::move(name));
  }
  if (changed > 1)
    result.warning += fmt::format(" (and {} more {}s are renamed)", changed - 1, kind);
  return result;
}

}  // namespace oas::detail

#include "oas/study/study.hpp"

#include <fmt/format.h>

#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/core/fingerprint.hpp"

namespace oas {

namespace {

void append(std::string& text, const Task& task, const char* table, const TaskSettings& settings) {
  for (const auto& [name, value] : settings.values()) {
    text += fmt::format("task {}: {}{} = {}\n", task.name, table, name, to_text(value));
  }
}

}  // namespace

std::string Study::canonical() const {
  std::string text = fmt::format("oas-study/1\nname = {}\nseed = {}\nreplications = {}\n", name,
                                 seed, replications);
  for (const Task& task : tasks) {
    text += fmt::format("task {}: kind = {}\n", task.name, task.kind);
    append(text, task, "", task.settings);
    append(text, task, "agent ", task.agent);
  }
  return text;
}

std::string Study::hash() const { return fmt::format("{:016x}", fingerprint(canonical())); }

Unit Study::unit(std::int64_t number) const {
  OAS_REQUIRE(number >= 0 && number < num_units(), "there is no task {}: {} has tasks 0 to {}",
              number, name, num_units() - 1);
  return {number, static_cast<std::size_t>(number / replications),
          static_cast<std::uint32_t>(number % replications)};
}

Study read_study(const std::string& path, bool quick) {
  constexpr std::size_t kMaxBytes = 1 << 20;
  return parse_study(read_text_file(path, kMaxBytes), path, quick);
}

}  // namespace oas

#include "oas/experiments/log_structure.hpp"

#include <filesystem>
#include <optional>

#include "oas/belief/filter.hpp"
#include "oas/core/contracts.hpp"
#include "oas/io/log_reader.hpp"

namespace oas {

namespace {

struct ImpossibleRow {
  std::int64_t index;  // from 0, over all files
  Action action;
  Observation observation;
};

std::optional<ImpossibleRow> first_impossible(const LogLikelihood& log, const Pomdp& model) {
  BeliefFilter filter(model);
  std::optional<ImpossibleRow> found;
  std::int64_t index = 0;
  log.visit_rows([&](Action action, Observation observation, bool starts_run) {
    if (found) return;
    if (starts_run) filter.reset();
    if (!(filter.update(action, observation) > 0.0)) found = {index, action, observation};
    ++index;
  });
  return found;
}

// The file and line of a row; of a pipe, which cannot be read again, no line.
std::pair<std::string, long> locate(std::span<const std::string> paths, const Pomdp& model,
                                    std::int64_t index) {
  LogBlock block;
  for (const std::string& path : paths) {
    if (!std::filesystem::is_regular_file(path)) break;
    LogReader reader(path, model);
    for (long line = reader.line(); reader.read_block(block, kLogBlockRows); line = reader.line()) {
      const auto rows = static_cast<std::int64_t>(block.rows.size());
      if (index < rows) return {path, line + 1 + static_cast<long>(index)};
      index -= rows;
    }
  }
  return {input_name(paths.front()), 0};
}

}  // namespace

void require_possible(const LogLikelihood& log, std::span<const std::string> paths,
                      const Pomdp& model, const TransitionStructure& structure,
                      Parallelism parallelism) {
  const TransitionModel uniform = TransitionModel::uniform(model.num_states(), model.num_actions());
  const TransitionModel inside = structure.expand(structure.reduce(uniform));
  if (log.pass(inside, {}, parallelism).possible()) return;
  const std::optional<ImpossibleRow> row = first_impossible(log, model.with_transition(inside));
  OAS_REQUIRE(row, "the rows cannot happen under the structure");
  const auto [file, line] = locate(paths, model, row->index);
  throw ParseError(file, line, 0,
                   fmt::format("row {}: after the rows before it, observation '{}' under action "
                               "'{}' cannot happen with the zeros and fixed entries of the "
                               "structure",
                               row->index + 1, model.observations()[row->observation],
                               model.actions()[row->action]));
}

}  // namespace oas

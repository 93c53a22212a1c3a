#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/logs/log_reader.hpp"
#include "oas/model/pomdp.hpp"

/// Small models and short ways to read a log from a string.
namespace oas::test {

inline Pomdp log_model(Labels states, Labels actions, Labels observations,
                       Timing timing = Timing::before) {
  PomdpParts parts;
  parts.timing = timing;
  parts.states = std::move(states);
  parts.actions = std::move(actions);
  parts.observations = std::move(observations);
  const int s = parts.states.size();
  const int a = parts.actions.size();
  const int o = parts.observations.size();
  parts.sensors =
      ObservationModel(s, a, o, std::vector<double>(static_cast<std::size_t>(s * a * o), 1.0 / o));
  return Pomdp(std::move(parts));
}

/// 2 states, 3 actions, 4 observations, without names.
inline Pomdp index_model(Timing timing = Timing::before) {
  return log_model(Labels(2, "state"), Labels(3, "action"), Labels(4, "observation"), timing);
}

/// States dry, wet; actions go, stay, "turn, left"; observations red, green, 'say "blue"', ocker.
inline Pomdp name_model(Timing timing = Timing::before) {
  return log_model(Labels({"dry", "wet"}, "state"), Labels({"go", "stay", "turn, left"}, "action"),
                   Labels({"red", "green", "say \"blue\"", "ocker"}, "observation"), timing);
}

/// The bytes of a log, read as the file "log.csv".
inline LogReader reader_of(std::string_view text, const Pomdp& model) {
  return LogReader(bytes_of(text), "log.csv", model);
}

inline LogReader reader_of(std::string_view text, const Pomdp& model, const LogOptions& options) {
  return LogReader(bytes_of(text), "log.csv", model, options);
}

/// All rows at once, whatever the size of the blocks; run starts count from the first row.
inline LogBlock read_all(LogReader reader, std::size_t max_rows = 1000) {
  LogBlock all;
  const auto append = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (LogBlock block; reader.read_block(block, max_rows);) {
    for (const std::size_t start : block.run_starts) {
      all.run_starts.push_back(all.rows.size() + start);
    }
    append(all.run_names, block.run_names);
    append(all.starts, block.starts);
    append(all.first_steps, block.first_steps);
    append(all.readings, block.readings);
    append(all.likelihoods, block.likelihoods);
    append(all.known, block.known);
    append(all.rows.actions, block.rows.actions);
    append(all.rows.observations, block.rows.observations);
    append(all.rows.propensities, block.rows.propensities);
    append(all.rows.rewards, block.rows.rewards);
    append(all.rows.states, block.rows.states);
  }
  return all;
}

inline LogBlock read_text(std::string_view text, const Pomdp& model, std::size_t max_rows = 1000,
                          const LogOptions& options = {}) {
  return read_all(reader_of(text, model, options), max_rows);
}

/// What the ParseError says when the log is read to its end; "" when it is fine.
inline std::string error_of(std::string_view text, const Pomdp& model,
                            const LogOptions& options = {}) {
  try {
    static_cast<void>(read_text(text, model, 1000, options));
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

template <class Tag>
std::vector<int> values(const std::vector<Index<Tag>>& indices) {
  return {indices.begin(), indices.end()};
}

}  // namespace oas::test

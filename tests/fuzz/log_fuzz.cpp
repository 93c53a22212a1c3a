#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fuzz/fuzz_target.hpp"
#include "oas/core/contracts.hpp"
#include "oas/logs/log_reader.hpp"

/// LogReader on any bytes, read as the format says and as logs of fleets are: it gives rows that
/// keep the contract or throws InvalidArgument, and the size of the blocks changes nothing.
namespace {

using namespace oas;  // NOLINT(google-build-using-namespace)

Pomdp make_model(Labels states, Labels actions, Labels observations, Timing timing) {
  PomdpParts parts;
  parts.timing = timing;
  parts.states = std::move(states);
  parts.actions = std::move(actions);
  parts.observations = std::move(observations);
  parts.sensors = ObservationModel(2, 3, 4, std::vector<double>(24, 0.25));
  return Pomdp(std::move(parts));
}

const Pomdp& indexed() {
  static const Pomdp model =
      make_model(Labels(2, "state"), Labels(3, "action"), Labels(4, "observation"), Timing::before);
  return model;
}

const Pomdp& named() {
  static const Pomdp model =
      make_model(Labels({"dry", "wet"}, "state"), Labels({"go", "stay", "turn, left"}, "action"),
                 Labels({"red", "green", "\"blue\"", "größe"}, "observation"), Timing::after);
  return model;
}

constexpr std::size_t kMostRows = 200'000;

// As the format says; columns by name with known states; times with and without a step; rows that
// are reading-first; steps in classes.
const std::array<LogOptions, 8>& ways() {
  static const std::array<LogOptions, 8> all = {
      LogOptions{},
      LogOptions{.columns = "run=unit,action=cmd,state=seen", .known_states = true},
      LogOptions{.step = "1", .gaps = "repeat"},
      LogOptions{.step = "1h", .gaps = "new-run", .known_states = true},
      LogOptions{.interleaved = true},
      LogOptions{.rows = "reading-first"},
      LogOptions{.step = "1", .gaps = "repeat", .rows = "reading-first", .known_states = true},
      LogOptions{.step_classes = "short=1..5", .gaps = "new-run"}};
  return all;
}

void require(bool condition) {
  if (!condition) std::abort();
}

template <class Indices>
void require_range(const Indices& indices, int lowest, int size) {
  for (const auto index : indices) require(index >= lowest && index < size);
}

void require_contract(const LogReader& reader, const LogBlock& block, std::size_t max_rows) {
  const Trajectory& rows = block.rows;
  require(rows.size() >= 1 && rows.size() <= max_rows);
  require(rows.observations.size() == rows.size());
  require(rows.propensities.size() == (reader.has_propensity() ? rows.size() : 0));
  require(rows.rewards.size() == (reader.has_reward() ? rows.size() : 0));
  require(rows.states.size() == (reader.has_state() ? rows.size() : 0));
  require_range(rows.actions, 0, 3);
  require_range(rows.observations, -1, 4);
  require_range(rows.states, -1, 2);
  require(block.starts.empty() || block.starts.size() == block.run_starts.size());
  require(block.run_names.size() == (reader.has_run() ? block.run_starts.size() : 0));
  require(block.known.empty() || block.likelihoods.size() == 2 * rows.size());
  for (const double propensity : rows.propensities) require(propensity > 0 && propensity <= 1);
  // NaN: not known.
  for (const double reward : rows.rewards) require(reward - reward == 0 || reward != reward);
  for (const std::size_t start : block.run_starts) require(start < rows.size());
}

// What there is to see of a log: its rows and runs, then how it ended.
std::string summary(std::string_view bytes, const Pomdp& model, const LogOptions& options,
                    std::size_t max_rows) {
  std::size_t rows = 0;
  std::string text;
  try {
    LogReader reader(bytes_of(bytes), "log", model, options);
    for (LogBlock block; reader.read_block(block, max_rows);) {
      require_contract(reader, block, max_rows);
      for (const std::size_t start : block.run_starts) text += fmt::format("{} ", rows + start);
      rows += block.rows.size();
      if (rows > kMostRows) return text;  // gaps can be long
    }
    return text + fmt::format("{} rows, {} lines", rows, reader.line());
  } catch (const InvalidArgument& error) {
    return error.what();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const Pomdp* model : {&indexed(), &named()}) {
    for (const LogOptions& options : ways()) {
      require(summary(bytes, *model, options, 3).substr(0, 1000) ==
              summary(bytes, *model, options, 100'000).substr(0, 1000));
    }
  }
  return 0;
}

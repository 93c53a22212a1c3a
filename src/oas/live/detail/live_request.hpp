#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oas/core/index.hpp"
#include "oas/journal/journal_record.hpp"
#include "oas/model/pomdp.hpp"

namespace oas::detail {

/// Longest name of a unit, in bytes.
inline constexpr std::size_t kLongestUnit = 128;

/// One call as it was asked for; what it does not have is absent.
struct LiveRequest {
  std::string call;
  std::string unit;
  std::optional<std::int64_t> step;
  std::optional<std::int64_t> run;  ///< must be the unit's, where it is given
  JournalRow row;                   ///< of observe and step; no action: the agent's own
  int horizon = 50;                 ///< of forecast
  std::vector<Action> schedule;     ///< of forecast
  std::vector<State> reach;         ///< of forecast
  Action action;                    ///< of history: the entry T_action(from, to)
  State from;                       ///< of history
  State to;                         ///< of history
  std::string after;                ///< of status: units whose names come after this one
  int limit = 100;                  ///< of status: so many units
};

/// Reads {"call":…, …}; `call`, where it is not empty, says which, and the object need not. Names
/// and indices are checked against the model. Throws InvalidArgument.
[[nodiscard]] LiveRequest parse_live_request(std::string_view call, std::string_view body,
                                             const Pomdp& model);

/// Fingerprint of what a row says, so that the same row can be told from another one.
[[nodiscard]] std::uint64_t content_of(const JournalRow& row);

}  // namespace oas::detail

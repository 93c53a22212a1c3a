#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "oas/core/settings.hpp"

namespace oas {

/// When what was written to a journal is forced to the disk. A killed process loses nothing in any
/// of the three; they differ in what a power cut may take.
enum class LiveSync {
  always,    ///< before every answer: nothing
  interval,  ///< every LiveOptions::sync_seconds: what was answered since then
  never,     ///< when the system sees fit
};

/// What a live agent does when it finds that the dynamics have changed.
enum class OnChange {
  warn,   ///< it says so and goes on
  fresh,  ///< it also forgets all rows before the change
};

struct LiveOptions {
  static constexpr double kMostRows = 1e15;

  std::string journal;                ///< folder; made where it is missing
  std::string agent = "oas-ucrl-ml";  ///< of the table of agents
  std::vector<Setting> settings;      ///< of the agent
  std::uint64_t seed = 1;             ///< of its draws
  LiveSync sync = LiveSync::interval;
  double sync_seconds = 1.0;  ///< between two syncs with LiveSync::interval; > 0
  bool synchronous = false;   ///< plans are made within the call that needs them
  bool verify = false;        ///< at the start every recorded choice and plan is computed again
  std::int64_t snapshot_every = 100'000;  ///< records of the journal, at least; 0: never
  std::size_t segment_bytes = std::size_t{64} << 20;  ///< of one file of the journal
  int max_units = 10'000;                             ///< at the same time, at least 1
  std::size_t max_body = std::size_t{1} << 20;        ///< bytes of a request
  /// MiB of rows for likelihood, those that a plan copies counted in. Beyond, a plan reads them
  /// again from the journal. Answers do not depend on it.
  int memory = 1024;
  /// A row counts half as much after so many further ones of all units, at least 1; 0: rows do not
  /// fade. Of agents that learn from rows and not from hidden paths.
  double half_life = 0.0;
  OnChange on_change = OnChange::warn;
  /// Were the dynamics known exactly, a false alarm of change would come once in so many steps on
  /// average, or more rarely; at least 100.
  double steps_per_false_alarm = 1e6;

  template <class Fields>
  void visit(Fields& fields) {
    fields.choice("fsync", sync, {"always", "interval", "never"},
                  "when the journal is forced to the disk");
    fields("fsync_seconds", sync_seconds, {kAboveZero},
           "seconds between two syncs, with --fsync interval");
    fields("synchronous", synchronous, "plan within the call that needs a new plan");
    fields("verify", verify,
           "at the start, compute every recorded choice and plan again, and "
           "compare");
    fields("snapshot_every", snapshot_every, {1, 1'000'000'000'000, true},
           "least number of records of the journal between two snapshots; 0: no "
           "snapshots");
    fields("memory", memory, {0},
           "memory for rows of likelihood in MiB, plans included; beyond it, plans "
           "read the journal again");
    fields("max_units", max_units, {1}, "most units at the same time");
    fields("half_life", half_life, {1.0, kMostRows, true},
           "rows of all units after which a row counts half; 0: rows always count "
           "in full");
    fields.choice("on_change", on_change, {"warn", "fresh"},
                  "what to do when the dynamics have changed: warn, or also forget the "
                  "rows before");
    fields("steps_per_false_alarm", steps_per_false_alarm, {100.0},
           "mean number of steps between two false alarms of a change, at least");
    fields.when(
        {"fsync_seconds"}, [this] { return sync == LiveSync::interval; },
        "used only with --fsync interval");
  }

  [[nodiscard]] std::size_t row_memory() const { return static_cast<std::size_t>(memory) << 20; }

  /// Throws InvalidArgument naming the field and the value.
  void validate() const;
};

}  // namespace oas

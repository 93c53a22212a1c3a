#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oas/jobs/oracle_cache.hpp"
#include "oas/study/guest_estimators.hpp"
#include "oas/study/result_table.hpp"
#include "oas/study/shared_values.hpp"
#include "oas/study/study.hpp"

namespace oas {

/// Thrown by a task that was told to stop; nothing of it is stored.
struct StopRequested {};

/// What a running task may ask.
struct TaskContext {
  /// True when the work should end; looked at every few milliseconds. Empty: never.
  std::function<bool()> stop;
  /// What tasks share; never null inside a task.
  std::shared_ptr<SharedValues> shared = std::make_shared<SharedValues>();
  /// Oracles of earlier runs.
  OracleCache oracles;
  GuestEstimators guests;  ///< that tasks may name

  void check() const {
    if (stop && stop()) throw StopRequested{};
  }
};

/// What a kind adds to the report of a study, beside the figures that the study's file asks for.
struct KindReport {
  std::string section;   ///< of the page
  std::string csv_name;  ///< a tidy table, written into the folder
  std::string csv;
  std::string figure_name;  ///< written as figures/NAME.svg and so on
  std::string svg;
};

/// How long units took, by number.
using UnitSeconds = std::map<std::int64_t, double>;

/// A unit that gave no rows.
struct FailedUnit {
  std::string sweep;
  std::string agent;  ///< of kinds that have agents
  std::string message;
};

/// What a kind makes its part of a report of.
struct KindResults {
  const ResultTable& table;  ///< at least one row
  const UnitSeconds& seconds;
  std::vector<FailedUnit> failed = {};  ///< in the order of units
};

/// One row of the table of task kinds: which settings a task takes, which columns it fills, and the
/// function that does the work. The rows of a task depend on (task, replication) alone.
struct TaskKind {
  std::string_view name;
  std::string_view summary;
  std::vector<TaskSetting> settings;
  std::span<const std::string_view> columns;
  std::string_view progress;  ///< the column that grows within a unit: samples or steps
  bool has_agent;             ///< whether the setting `agent` names a table [agents.NAME]
  /// Throws InvalidArgument naming the setting and the value.
  void (*check)(const Task&);
  /// Work of one replication, in any unit: for the order, and the time left.
  double (*cost)(const Task&);
  ResultRows (*run)(const Task&, std::uint32_t replication, const TaskContext&);
  /// Null: nothing.
  KindReport (*report)(const KindResults&) = nullptr;
};

[[nodiscard]] std::span<const TaskKind> task_kinds();

/// Throws InvalidArgument listing the names when there is none of that name.
[[nodiscard]] const TaskKind& find_task_kind(std::string_view name);

}  // namespace oas

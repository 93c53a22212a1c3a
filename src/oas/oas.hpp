#pragma once

/// What most programs need, from a model and a log to an estimate, a plan and an agent. Everything
/// else has a header of its own: oas/<module>/<file>.hpp, see ARCHITECTURE.md.

// Errors, threads, version.
#include "oas/core/contracts.hpp"
#include "oas/core/parallel.hpp"
#include "oas/core/version.hpp"

// Models: Pomdp, read_any_model(), write_model(), ready-made problems.
#include "oas/formats/model_file.hpp"
#include "oas/model/any_model.hpp"
#include "oas/model/model_json.hpp"
#include "oas/problems/named.hpp"
#include "oas/problems/random_pomdp.hpp"

// Can it be learned? analyse_sensors(), analyse_ergodicity(); calibrate() makes sensors.
#include "oas/sensors/calibration.hpp"
#include "oas/sensors/revealing.hpp"
#include "oas/theory/ergodicity.hpp"

// Rows: Trajectory, RowBlock, StoredRows, ClosedLoop, LogFiles, LogWriter.
#include "oas/logs/log_files.hpp"
#include "oas/logs/log_writer.hpp"
#include "oas/model/row_source.hpp"
#include "oas/simulation/closed_loop.hpp"

// Rows in, dynamics with error bars out: Evidence, estimate_from_logs(), TransitionEstimate.
#include "oas/estimation/estimate_json.hpp"
#include "oas/estimation/evidence.hpp"
#include "oas/estimation/transition_error.hpp"
#include "oas/jobs/log_estimation.hpp"

// Beliefs and plans: BeliefFilter, make_plan(), PlanPolicy, read_policy().
#include "oas/belief/filter.hpp"
#include "oas/planning/plan_policy.hpp"
#include "oas/planning/planner.hpp"
#include "oas/planning/policies/policy_file.hpp"

// Agents that learn while they act: make_agent(), learn().
#include "oas/jobs/learning_run.hpp"
#include "oas/learning/agents.hpp"

// Agents for real systems: LiveAgent.
#include "oas/live/live_agent.hpp"

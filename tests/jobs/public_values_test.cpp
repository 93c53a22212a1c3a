#include <gtest/gtest.h>

#include <type_traits>

#include "oas/model/continuous_pomdp.hpp"
#include "oas/oas.hpp"
#include "oas/planning/policies/controller.hpp"

/// What users of the library hold in containers and return from functions moves without throwing.
namespace oas {
namespace {

template <class... Values>
constexpr bool kMoveWithoutThrowing = (std::is_nothrow_move_constructible_v<Values> && ...) &&
                                      (std::is_nothrow_move_assignable_v<Values> && ...);

static_assert(kMoveWithoutThrowing<Labels, TransitionModel, ObservationModel, Reward, PomdpParts>);
static_assert(kMoveWithoutThrowing<Pomdp, ContinuousPomdp, AnyModel>);
static_assert(kMoveWithoutThrowing<Trajectory, RowBlock, RunStart, LogBlock, StoredRows>);
static_assert(kMoveWithoutThrowing<LogOptions, OneLog, LogFiles, LogReader, LogWriter>);
static_assert(kMoveWithoutThrowing<Evidence, EvidenceOptions, EstimateOptions, Estimation>);
static_assert(kMoveWithoutThrowing<TransitionEstimate, ConfidenceRegion, MomentSeries>);
static_assert(kMoveWithoutThrowing<PlanOptions, Plan, PlanPolicy, Controller, GainInterval>);
static_assert(kMoveWithoutThrowing<BeliefFilter, ClosedLoop, LearningOptions, LearningRun>);
static_assert(kMoveWithoutThrowing<AnyAgent, SplitAgent, Episode, RegretOracle, Checkpoint>);
static_assert(kMoveWithoutThrowing<Belief, Density, DensitySensors, Cells, ObservationCounts>);
static_assert(kMoveWithoutThrowing<SensorReport, ErgodicityReport, TransitionError, SensorCounts>);
static_assert(kMoveWithoutThrowing<EstimateDocument, Resampled, TransitionStructure, AnyPolicy>);
static_assert(kMoveWithoutThrowing<PolicyOptions, LiveOptions, LiveReply, LiveWarning, ReadModel>);

TEST(PublicValues, MoveWithoutThrowing) { SUCCEED(); }

}  // namespace
}  // namespace oas

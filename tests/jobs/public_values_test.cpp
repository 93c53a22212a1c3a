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
static_assert(kMoveWithoutThrowing<Trajectory, RowBlock, RunStart, LogBlock>);
static_assert(kMoveWithoutThrowing<LogOptions, OneLog, LogFiles, LogReader, LogWriter>);
static_assert(kMoveWithoutThrowing<Evidence, EvidenceOptions, EstimateOptions, Estimation>);
static_assert(kMoveWithoutThrowing<TransitionEstimate, ConfidenceRegion, MomentSeries>);
static_assert(kMoveWithoutThrowing<PlanOptions, Plan, PlanPolicy, Controller, GainInterval>);
static_assert(kMoveWithoutThrowing<BeliefFilter, ClosedLoop, LearningOptions, LearningRun>);
static_assert(kMoveWithoutThrowing<AnyAgent>);

TEST(PublicValues, MoveWithoutThrowing) { SUCCEED(); }

}  // namespace
}  // namespace oas

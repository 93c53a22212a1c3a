#include <gtest/gtest.h>

#include "live/live_kills.hpp"

namespace oas {
namespace {

TEST(LiveKillTest, NothingThatWasToldIsLost) { test::expect_survives(40); }

}  // namespace
}  // namespace oas

#include <gtest/gtest.h>

#include "live/live_kills.hpp"

namespace oas {
namespace {

TEST(LiveKillTest, NothingThatWasToldIsLost) { test::expect_survives(40); }

TEST(LiveKillTest, NothingIsLostWhereRowsFade) { test::expect_survives(16, 150.0); }

}  // namespace
}  // namespace oas

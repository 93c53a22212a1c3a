#include <gtest/gtest.h>

#include "live/live_kills.hpp"

namespace oas {
namespace {

TEST(LiveKillLongTest, NothingThatWasToldIsLostInAThousandKills) { test::expect_survives(1000); }

}  // namespace
}  // namespace oas

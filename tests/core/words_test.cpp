#include "oas/core/words.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace oas {
namespace {

TEST(Plural, OfOneThingIsNone) {
  EXPECT_EQ(plural(1, "row"), "row");
  EXPECT_EQ(plural(std::int64_t{1}, "pass"), "pass");
  EXPECT_EQ(plural(std::size_t{0}, "row"), "rows");
  EXPECT_EQ(plural(2, "row"), "rows");
  EXPECT_EQ(plural(2, "pass"), "passes");
  EXPECT_EQ(plural(2, "batch"), "batches");
  EXPECT_EQ(plural(2, "entry"), "entries");
  EXPECT_EQ(plural(2, "day"), "days");
}

}  // namespace
}  // namespace oas

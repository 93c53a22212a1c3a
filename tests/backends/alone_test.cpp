// The program as it is where there was no MPI when it was built.
#include <gtest/gtest.h>

#include <cstdlib>

#include "oas/backends/ranks.hpp"

namespace oas {
namespace {

TEST(WithoutMpi, AProgramIsAloneWhoeverHasStartedIt) {
  ASSERT_EQ(setenv("OMPI_COMM_WORLD_SIZE", "4", 1), 0);
  ASSERT_EQ(setenv("PMI_RANK", "1", 1), 0);
  EXPECT_EQ(mpi_version(), "without MPI");
  EXPECT_EQ(join_ranks([](const std::string&) {}), nullptr);
  EXPECT_EXIT(abort_ranks(1), testing::ExitedWithCode(1), "");
}

}  // namespace
}  // namespace oas

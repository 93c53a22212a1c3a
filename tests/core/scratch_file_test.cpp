#include "oas/core/scratch_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "oas/core/contracts.hpp"
#include "support/temporary_directory.hpp"

namespace oas {
namespace {

TEST(ScratchFile, HasNoNameAndNeedsRoom) {
  const test::TemporaryDirectory folder;
  ScratchFile file(folder.path().string(), 10'000);
  std::fill_n(file.data(), file.size(), 'x');
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  EXPECT_THROW(ScratchFile(folder.path().string(), std::size_t{1} << 55), IoError);
  EXPECT_THROW(ScratchFile(folder.file("none"), 1), IoError);
}

}  // namespace
}  // namespace oas

#include "oas/study/known_studies.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "oas/core/contracts.hpp"
#include "support/temporary_directory.hpp"

namespace oas {
namespace {

TEST(KnownStudies, AreThoseOfTheFolderHere) {
  const test::TemporaryDirectory folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::create_directory(folder.file("studies"));
  std::ofstream(folder.file("studies/broken.toml")) << "kind = 3\n";
  std::filesystem::current_path(folder.file(""));
  const auto entries = known_studies();
  const std::string found = find_study("broken");
  EXPECT_THROW(static_cast<void>(find_study("no-such-study")), InvalidArgument);
  EXPECT_THROW(static_cast<void>(find_study("")), InvalidArgument);
  std::filesystem::current_path(before);
  ASSERT_EQ(entries.size(), 1U);  // one that cannot be read is there all the same
  EXPECT_EQ(entries[0].name, "broken");
  EXPECT_THAT(entries[0].summary, testing::HasSubstr("cannot be read"));
  EXPECT_EQ(found, entries[0].file);
}

}  // namespace
}  // namespace oas

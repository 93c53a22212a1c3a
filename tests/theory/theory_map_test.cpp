#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>

#include "oas/core/files.hpp"

namespace oas {
namespace {

// All tests of this program, as ctest shows them.
std::set<std::string> test_names() {
  std::set<std::string> names;
  const testing::UnitTest& unit = *testing::UnitTest::GetInstance();
  for (int i = 0; i < unit.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *unit.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      names.insert(std::string("theory.") + suite.name() + "." + suite.GetTestInfo(j)->name());
    }
  }
  return names;
}

TEST(TheoryMap, NamesOnlyTestsThatExist) {
  const std::string text = read_text_file(OAS_SOURCE_DIR "/docs/background/theory_map.md");
  const std::set<std::string> known = test_names();
  const std::regex name("`(theory\\.\\w+\\.\\w+)`");
  int found = 0;
  for (std::sregex_iterator i(text.begin(), text.end(), name), end; i != end; ++i, ++found) {
    EXPECT_EQ(known.count((*i)[1]), 1U) << (*i)[1];
  }
  EXPECT_GT(found, 20);
}

}  // namespace
}  // namespace oas

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "formats/model_file_support.hpp"
#include "oas/formats/model_file.hpp"
#include "oas/formats/pomdp_text.hpp"
#include "oas/formats/pomdpx.hpp"
#include "oas/model/convert_timing.hpp"

/// Public model files, which are not part of this tree (their licences differ): every file is read
/// or rejected as the reference parser does it. The folder is OAS_PUBLIC_MODELS.
namespace oas::test {
namespace {

using testing::HasSubstr;

namespace fs = std::filesystem;
using Row = std::map<std::string, std::string>;

class PublicModels : public testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("OAS_PUBLIC_MODELS");
    if (folder == nullptr) {
      GTEST_SKIP() << "not run: OAS_PUBLIC_MODELS names no folder of public model files";
    }
    folder_ = folder;
  }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }

  // A table with tabs; columns are called as its first line says.
  [[nodiscard]] std::vector<Row> table(const std::string& name) const {
    std::ifstream file(path(name));
    EXPECT_TRUE(file.good()) << path(name);
    std::vector<std::vector<std::string>> lines;
    for (std::string line; std::getline(file, line);) {
      auto& cells = lines.emplace_back();
      std::istringstream stream(line);
      for (std::string cell; std::getline(stream, cell, '\t');) cells.push_back(cell);
    }
    std::vector<Row> rows;
    for (std::size_t i = 1; i < lines.size(); ++i) {
      auto& row = rows.emplace_back();
      for (std::size_t c = 0; c < std::min(lines[i].size(), lines[0].size()); ++c) {
        row[lines[0][c]] = lines[i][c];
      }
    }
    EXPECT_FALSE(rows.empty()) << name;
    return rows;
  }

  fs::path folder_;
};

bool is_accepted(const std::string& path, bool lenient = false) {
  try {
    (void)read_any_model(path, {.lenient = lenient});
    return true;
  } catch (const ParseError&) {
    return false;
  }
}

TEST_F(PublicModels, AreAcceptedAsByTheReferenceParser) {
  int accepted = 0;
  int rejected = 0;
  for (const Row& row : table("PROVENANCE.tsv")) {
    const std::string file = row.at("file");
    if (file.ends_with(".pomdpx")) continue;
    // Where the reference parser was not tried, the file has to be read all the same.
    const bool expected = row.at("pomdp-solve") == "ok" || row.at("pomdp-solve") == "?";
    EXPECT_EQ(is_accepted(path(file)), expected) << file;
    ++(expected ? accepted : rejected);
    if (!expected) continue;
    const Pomdp model = read_any_model(path(file)).model;
    EXPECT_EQ(std::to_string(model.num_states()), row.at("S")) << file;
    EXPECT_EQ(std::to_string(model.num_actions()), row.at("A")) << file;
    EXPECT_EQ(std::to_string(model.num_observations()), row.at("O")) << file;
    if (row.at("discount") == "?") continue;
    EXPECT_EQ(model.discount(), std::stod(row.at("discount"))) << file;
  }
  EXPECT_GE(accepted, 30);
  EXPECT_GE(rejected, 8);
}

// Where the reference stops on an assertion (no R at all), the reward is zero here.
TEST_F(PublicModels, EdgeCases) {
  for (const Row& row : table("edge-cases/EXPECTED.tsv")) {
    const std::string file = "edge-cases/" + row.at("# file") + ".pomdp";
    EXPECT_EQ(is_accepted(path(file)), row.at("pomdp-solve-5.5") != "reject") << file;
  }
}

// Only a row that sums to 1.1, names that are no names and a matrix of the wrong kind remain.
TEST_F(PublicModels, LenientReadsAllDialects) {
  std::vector<std::string> rejected;
  for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
    const std::string ending = entry.path().extension();
    if (ending != ".pomdp" && ending != ".POMDP") continue;
    if (!is_accepted(entry.path(), true)) rejected.push_back(entry.path().stem());
  }
  std::sort(rejected.begin(), rejected.end());
  EXPECT_THAT(rejected, testing::ElementsAre("R_action_only", "ejs7", "numeric_names",
                                             "reserved_name", "start_badsum"));
}

// Numbers, not how the reward is stored; the large file is compared by its tables.
TEST_F(PublicModels, WrittenFilesReadBackEqual) {
  int count = 0;
  for (const Row& row : table("PROVENANCE.tsv")) {
    const std::string file = row.at("file");
    if (file.ends_with(".pomdpx") || row.at("pomdp-solve") != "ok") continue;
    const Pomdp model = read_any_model(path(file)).model;
    EXPECT_EQ(parse_pomdp(pomdp_to_text(model).text, file).model, model) << file;
    if (model.num_states() < 100) {
      const Pomdp again = parse_pomdpx(pomdpx_to_text(model).text, file).model;
      EXPECT_LT(model_difference(again, model), 1e-12) << file;
      EXPECT_EQ(again.states(), model.states()) << file;
    }
    ++count;
  }
  EXPECT_GE(count, 30);
}

TEST_F(PublicModels, PomdpxAgreesWithPomdp) {
  const Pomdp tiger = read_any_model(path("sarsop/Tiger.pomdp")).model;
  EXPECT_LT(model_difference(read_any_model(path("sarsop/Tiger.pomdpx")).model, tiger), 1e-12);
  // The POMDPX file has the expected reward of its .pomdp file, to six digits.
  const Pomdp hallway = read_any_model(path("sarsop/Hallway.pomdp")).model;
  const Pomdp same = read_any_model(path("sarsop/Hallway.pomdpx")).model;
  EXPECT_LT(largest_difference(same.transition().values(), hallway.transition().values()), 1e-5);
  EXPECT_LT(largest_difference(same.sensors().values(), hallway.sensors().values()), 1e-5);
  EXPECT_LT((same.expected_reward() - hallway.expected_reward()).cwiseAbs().maxCoeff(), 1e-5);
}

TEST_F(PublicModels, FactoredFiles) {
  const Pomdp tag = read_any_model(path("sarsop/TagAvoid.pomdpx")).model;
  EXPECT_EQ(tag.num_states(), 29 * 30);
  EXPECT_EQ(tag.num_observations(), 2 * 29);
  const Pomdp rocks = read_any_model(path("sarsop/RockSample_7_8.pomdpx")).model;
  EXPECT_EQ(rocks.num_states(), 50 * 256);
  EXPECT_TRUE(rocks.transition().is_listed());
  const Pomdp again = parse_pomdp(pomdp_to_text(rocks).text, "text").model;
  EXPECT_EQ(again.transition(), rocks.transition());
  EXPECT_EQ(again.sensors(), rocks.sensors());
}

// Its matrices mean the same in both timings.
TEST_F(PublicModels, TigerIsTheSameInBothTimings) {
  const Pomdp tiger = read_any_model(path("pomdp-solve/tiger.95.POMDP")).model;
  EXPECT_EQ(tiger.reward().kind(), Reward::Kind::by_action_state);
  const auto before = convert_timing(tiger, Timing::before);
  ASSERT_TRUE(before.model.has_value()) << before.reason;
  EXPECT_EQ(before.model->sensors(), tiger.sensors());
}

}  // namespace
}  // namespace oas::test

#include "logs/log_support.hpp"

/// States that are noted whenever they occur: an empty cell tells, too.
namespace oas::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// States fine, worn, failed; every observation can come in all of them but `smoke`, of failed only.
Pomdp noticing_model(Timing timing, Rows rows = Rows::action_first) {
  PomdpParts parts = log_model(Labels({"fine", "worn", "failed"}, "state"), Labels(2, "action"),
                               Labels({"low", "high", "smoke"}, "observation"), timing)
                         .parts();
  const std::vector<double> one = {0.7, 0.3, 0.0, 0.4, 0.6, 0.0, 0.2, 0.3, 0.5};
  std::vector<double> both = one;
  both.insert(both.end(), one.begin(), one.end());
  parts.sensors = ObservationModel(3, 2, 3, both);
  parts.rows = rows;
  return Pomdp(std::move(parts));
}

const LogOptions kNoticed{.step = "1", .gaps = "repeat", .known_states = true, .noticed = "failed"};
constexpr const char* kRows =
    "time,action,observation,state\n1,0,low,\n2,0,high,failed\n4,1,low,worn\n5,1,low,\n";

// Rows of three likelihoods.
using Three = std::vector<double>;
std::vector<Three> likelihoods(const LogBlock& block) {
  std::vector<Three> rows;
  for (std::size_t i = 0; i < block.likelihoods.size(); i += 3) {
    rows.emplace_back(block.likelihoods.begin() + static_cast<std::ptrdiff_t>(i),
                      block.likelihoods.begin() + static_cast<std::ptrdiff_t>(i + 3));
  }
  return rows;
}

TEST(NoticedStates, BeforeTheRowItselfTells) {
  const LogBlock block = read_text(kRows, noticing_model(Timing::before), 10, kNoticed);
  EXPECT_THAT(likelihoods(block),
              ElementsAre(Three{0.7, 0.4, 0.0}, Three{0.0, 0.0, 0.3}, Three{1.0, 1.0, 1.0},
                          Three{0.0, 0.4, 0.0}, Three{0.7, 0.4, 0.0}));
}

// In `after` the row behind tells; nothing does behind the last one and before a row of a gap.
TEST(NoticedStates, AfterTheRowBehindTells) {
  const LogBlock block = read_text(kRows, noticing_model(Timing::after), 10, kNoticed);
  EXPECT_THAT(likelihoods(block),
              ElementsAre(Three{0.0, 0.0, 0.2}, Three{0.3, 0.6, 0.3}, Three{0.0, 1.0, 0.0},
                          Three{0.7, 0.4, 0.0}, Three{0.7, 0.4, 0.2}));
}

TEST(NoticedStates, ReadingFirstTheReadingsRowTells) {
  const Pomdp model = noticing_model(Timing::after, Rows::reading_first);
  const LogBlock block = read_text(kRows, model, 10, kNoticed);
  ASSERT_EQ(block.starts.size(), 1U);
  EXPECT_THAT(block.starts[0].first()->likelihood, ElementsAre(0.7, 0.4, 0.0));
  EXPECT_THAT(likelihoods(block), ElementsAre(Three{0.0, 0.0, 0.3}, Three{1.0, 1.0, 1.0},
                                              Three{0.0, 0.4, 0.0}, Three{0.7, 0.4, 0.0}));
}

TEST(NoticedStates, WithoutThemAnEmptyCellSaysNothing) {
  LogOptions options = kNoticed;
  options.noticed.clear();
  const LogBlock block = read_text(kRows, noticing_model(Timing::before), 10, options);
  EXPECT_EQ(likelihoods(block)[0], (Three{0.7, 0.4, 0.2}));
}

TEST(NoticedStates, FaultsNameLineAndValue) {
  const Pomdp model = noticing_model(Timing::before);
  const auto with = [](const std::string& noticed) {
    LogOptions options = kNoticed;
    options.noticed = noticed;
    return options;
  };
  EXPECT_EQ(error_of(kRows, model, with("broken")),
            "noticed: there is no state 'broken'; there are fine, worn, failed");
  EXPECT_EQ(error_of(kRows, model, with("failed+")),
            "noticed: there is no state ''; there are fine, worn, failed");
  LogOptions unused = kNoticed;
  unused.known_states = false;
  EXPECT_THAT(error_of(kRows, model, unused), HasSubstr("noticed: 'failed' is for known states"));
  EXPECT_THAT(
      error_of("time,action,observation,state\n1,0,low,\n2,0,smoke,\n", model, kNoticed),
      HasSubstr("log.csv:3:4: the state is empty, but only failed, which is noticed, can have"));
}

}  // namespace
}  // namespace oas::test

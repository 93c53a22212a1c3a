#include "oas/study/caption.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <regex>

#include "oas/core/contracts.hpp"
#include "study_support.hpp"

namespace oas {
namespace {

using test::small_study;
using testing::HasSubstr;
using testing::Not;

std::string with_caption(const std::string& caption) {
  std::string text = small_study();
  const std::string title = "title = \"Error\"\n";
  text.insert(text.find(title), "caption = \"" + caption + "\"\n");
  return text;
}

FigureData data_of(const Study& study, std::vector<int> runs) {
  FigureData figure{study.figures.at(0), {{"", {}}}};
  for (const int count : runs) {
    figure.panels[0].series.push_back(
        {"s", {{1.0, {1.0, 0.5, 2.0, count}}}, std::nullopt, std::nullopt});
  }
  return figure;
}

// One text, true of both versions.
TEST(Caption, SpeaksOfWhatWasRun) {
  const std::string text =
      with_caption("{replications} runs of {pairs} pairs, sizes {size}, floors {iota}.");
  const Study full = parse_study(text, "s.toml");
  EXPECT_EQ(caption_text(full, full.figures[0]),
            "3 runs of 2,000 pairs, sizes 2x2x2 and 3x2x4, floors 1/(10A) and 0.25.");
  const Study quick = parse_study(text, "s.toml", true);
  EXPECT_EQ(caption_text(quick, quick.figures[0]),
            "1 runs of 2,000 pairs, sizes 2x2x2, floors 1/(10A) and 0.25.");
}

TEST(Caption, OnlyTheTasksBehindTheFigureCount) {
  Study study = parse_study(with_caption("{size}"), "s.toml");
  study.figures[0].where["size"] = {"3x2x4"};
  EXPECT_EQ(caption_text(study, study.figures[0]), "3x2x4");
  study.figures[0].where = {{"sweep", {"another"}}};
  EXPECT_NO_THROW(check_captions(study));  // no tasks: the figure will not be drawn
}

TEST(Caption, UnknownNamesAreErrorsOfTheFile) {
  const auto error_of = [](const std::string& caption) -> std::string {
    try {
      static_cast<void>(parse_study(with_caption(caption), "s.toml"));
    } catch (const ParseError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(error_of("after {stpes} steps"), HasSubstr("no task of it sets 'stpes'"));
  EXPECT_THAT(error_of("after {pairs"), HasSubstr("never closed"));
}

TEST(Caption, RunsAndIntervalsAreThoseOfTheData) {
  Study study = parse_study(small_study(), "s.toml");
  study.figures[0].bootstrap = true;
  EXPECT_EQ(drawing_text(study, data_of(study, {10, 10})),
            "Lines are means over 10 runs of 2,000 pairs of steps, bands 95 % intervals "
            "(bootstrap-t). Dotted: the predicted exponent −0.5.");
  study.figures[0].fit_decades = 1.0;
  EXPECT_THAT(drawing_text(study, data_of(study, {10})),
              HasSubstr("run by run to the last power of ten of pairs."));
  // Few runs have Student's interval, and one run has none.
  EXPECT_THAT(
      drawing_text(study, data_of(study, {3, 5})),
      HasSubstr("over 3 to 5 runs of 2,000 pairs of steps, bands 95 % intervals (Student)"));
  EXPECT_THAT(drawing_text(study, data_of(study, {1})), HasSubstr("over 1 run of 2,000"));
  EXPECT_THAT(drawing_text(study, data_of(study, {1})), Not(HasSubstr("bands")));
}

// Numbers of runs, instances, steps and logs are filled in, never written out: written out they
// would be false in the quick version, or in the full one.
TEST(Caption, CaptionsOfTheTreeHaveNoSizesOfTheirOwn) {
  const std::regex sizes(
      "\\b([Oo]ne|[Tt]wo|[Tt]hree|[Ff]our|[Ff]ive|[Ss]ix|[Ee]ight|[Tt]en|[Tt]welve|[Aa] "
      "million|[0-9][0-9,.]*)"
      " (runs|instances|logs|steps|pairs|replications|draws)\\b");
  for (const auto& entry : std::filesystem::directory_iterator(OAS_SOURCE_DIR "/studies")) {
    if (entry.path().extension() != ".toml") continue;
    const Study study = read_study(entry.path().string());
    for (const FigureSpec& figure : study.figures) {
      EXPECT_FALSE(std::regex_search(figure.caption, sizes))
          << study.name << ": " << figure.caption;
    }
    EXPECT_FALSE(std::regex_search(study.question, sizes)) << study.name;
    EXPECT_FALSE(std::regex_search(study.answer, sizes)) << study.name;
  }
}

}  // namespace
}  // namespace oas

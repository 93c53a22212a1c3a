#include "oas/formats/model_file.hpp"

#include "formats/model_file_support.hpp"
#include "support/random_models.hpp"
#include "support/temporary_directory.hpp"

namespace oas::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

Pomdp after_model() {
  RandomModelOptions options;
  options.timing = Timing::after;
  PomdpParts parts = random_model(options, 1).parts();
  parts.discount = 0.5;
  return Pomdp(std::move(parts));
}

TEST(ModelFile, EveryFormatByItsEnding) {
  const TemporaryDirectory folder;
  const Pomdp model = after_model();
  for (const char* name : {"m.json", "m.pomdp", "m.POMDP", "m.pomdpx", "m.PomdpX"}) {
    EXPECT_THAT(write_any_model(folder.file(name), model), IsEmpty()) << name;
    EXPECT_LT(model_difference(read_any_model(folder.file(name)).model, model), 1e-12) << name;
  }
  EXPECT_EQ(slurp(folder.file("m.json")).front(), '{');
  EXPECT_EQ(slurp(folder.file("m.PomdpX")).front(), '<');
}

TEST(ModelFile, NumbersOfLabelledRowsAreLeftOutWithAWord) {
  const TemporaryDirectory folder;
  PomdpParts parts = after_model().parts();
  parts.observation_counts = ObservationCounts(3, 2, 4, std::vector<double>(24, 5.0));
  const Pomdp model(std::move(parts));
  EXPECT_THAT(write_any_model(folder.file("m.json"), model), IsEmpty());
  EXPECT_EQ(read_any_model(folder.file("m.json")).model.observation_counts(),
            model.observation_counts());
  for (const char* name : {"m.pomdp", "m.pomdpx"}) {
    EXPECT_THAT(write_any_model(folder.file(name), model),
                testing::ElementsAre(HasSubstr("labelled rows behind the sensors are left out")));
    EXPECT_FALSE(read_any_model(folder.file(name)).model.observation_counts().has_value());
  }
}

TEST(ModelFile, ContentCountsWhenReading) {
  const TemporaryDirectory folder;
  const Pomdp model = after_model();
  write_any_model(folder.file("m.json"), model);
  write_any_model(folder.file("m.pomdpx"), model);
  write_any_model(folder.file("m.pomdp"), model);
  for (const char* name : {"m.json", "m.pomdpx", "m.pomdp"}) {
    const std::string text = slurp(folder.file(name));
    EXPECT_LT(model_difference(parse_any_model("\n " + text, "some.txt").model, model), 1e-12);
  }
}

TEST(ModelFile, ErrorsAreThoseOfTheEnding) {
  EXPECT_THAT([] { (void)parse_any_model("", "m.json"); },
              ThrowsMessage<ParseError>(HasSubstr("m.json:1:1: syntax error")));
  EXPECT_THAT([] { (void)parse_any_model("x", "m.pomdpx"); },
              ThrowsMessage<ParseError>(HasSubstr("not valid XML")));
  EXPECT_THAT([] { (void)parse_any_model("x", "m"); },
              ThrowsMessage<ParseError>(HasSubstr("m:1:1: found 'x', expected discount")));
  EXPECT_THAT([] { (void)format_of_ending("m.xml"); },
              ThrowsMessage<InvalidArgument>(HasSubstr("known are .json, .pomdp and .pomdpx")));
  EXPECT_THAT([] { (void)format_of_ending(".json"); }, testing::Throws<InvalidArgument>());
}

}  // namespace
}  // namespace oas::test

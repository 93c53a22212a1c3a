#include "formats/model_file_support.hpp"
#include "oas/formats/pomdp_text.hpp"
#include "support/pomdp_invariants.hpp"
#include "support/property.hpp"

/// Random model → text → model.
namespace oas::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

Pomdp with(const Pomdp& model, const std::function<void(PomdpParts&)>& change) {
  PomdpParts parts = model.parts();
  change(parts);
  return Pomdp(std::move(parts));
}

Labels plain_labels(int size, const char* kind, bool named) {
  if (!named) return {size, kind};
  std::vector<std::string> names;
  for (int i = 0; i < size; ++i) names.push_back(fmt::format("{}-{}_x", kind, i));
  return {names, kind};
}

RC_GTEST_PROP(PomdpRoundTrip, GivesTheSameModel, ()) {
  const bool named = *rc::gen::arbitrary<bool>().as("named");
  const Pomdp model = with(any_model(), [&](PomdpParts& parts) {
    parts.timing = Timing::after;
    parts.discount = 0.7;
    parts.states = plain_labels(parts.states.size(), "state", named);
    parts.actions = plain_labels(parts.actions.size(), "action", named);
    parts.observations = plain_labels(parts.observations.size(), "observation", !named);
  });
  const WrittenModel written = pomdp_to_text(model);
  RC_ASSERT(written.warnings.empty());
  const ReadModel read = parse_pomdp(written.text, "text");
  RC_ASSERT(read.warnings.empty());
  RC_ASSERT(model_difference(read.model, model) == 0.0);
  RC_ASSERT(read.model.states() == model.states());
  RC_ASSERT(read.model.actions() == model.actions());
  RC_ASSERT(read.model.observations() == model.observations());
  RC_ASSERT(read.model.discount() == model.discount());
  expect_pomdp_invariants(read.model);
}

TEST(PomdpRoundTrip, ShortFormsAreWritten) {
  const std::string text =
      "discount: 1\nvalues: reward\nstates: a b\nactions: x y\nobservations: p q\n"
      "start: uniform\n\nT: x identity\n\nT: y : a uniform\nT: y : b 0.1 0.9\n\n"
      "O: * : a 0.25 0.75\nO: * : b uniform\n\nR: x : * : * : * -1\n";
  EXPECT_EQ(pomdp_to_text(parse_pomdp(text, "text").model).text, text);
}

TEST(PomdpRoundTrip, RewardZeroIsWrittenForTheReferenceParser) {
  RandomModelOptions options;
  options.timing = Timing::after;
  options.reward = Reward::Kind::none;
  EXPECT_THAT(pomdp_to_text(random_model(options, 1)).text, HasSubstr("R: * : * : * : * 0\n"));
}

TEST(PomdpRoundTrip, NamesThatTheGrammarForbidsAreChangedWithAWarning) {
  RandomModelOptions options;
  options.timing = Timing::after;
  const Pomdp model = with(random_model(options, 1), [](PomdpParts& parts) {
    parts.states = Labels({"T", "a b", "a_b"}, "state");
    parts.actions = Labels({"größe", "2nd"}, "action");
    parts.discount = 0.5;
  });
  const WrittenModel written = pomdp_to_text(model);
  EXPECT_THAT(
      written.warnings,
      ElementsAre("state 'T' is written as 's_T' (and 1 more states are renamed)",
                  "action 'größe' is written as 'gr____e' (and 1 more actions are renamed)"));
  const Pomdp read = parse_pomdp(written.text, "text").model;
  EXPECT_THAT(read.states().names(), ElementsAre("s_T", "a_b_2", "a_b"));
  EXPECT_THAT(read.actions().names(), ElementsAre("gr____e", "a_2nd"));
  EXPECT_EQ(model_difference(read, model), 0.0);
}

TEST(PomdpRoundTrip, WhatTheFormatCannotHold) {
  RandomModelOptions options;
  EXPECT_THAT([&] { (void)pomdp_to_text(random_model(options, 1)); },
              ThrowsMessage<InvalidArgument>(HasSubstr("timing after")));
  options.timing = Timing::after;
  EXPECT_THAT([&] { (void)pomdp_to_text(random_model(options, 1).without_transition()); },
              ThrowsMessage<InvalidArgument>(HasSubstr("needs a transition model")));
  EXPECT_THAT(pomdp_to_text(random_model(options, 1)).warnings,
              ElementsAre(HasSubstr("no discount; 1 is written")));
}

}  // namespace
}  // namespace oas::test

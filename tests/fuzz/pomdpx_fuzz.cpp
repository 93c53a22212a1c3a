#include <cstdlib>
#include <optional>
#include <string_view>

#include "fuzz/fuzz_target.hpp"
#include "oas/core/contracts.hpp"
#include "oas/io/pomdpx.hpp"

/// parse_pomdpx on any text: it gives a model whose text reads back with the same numbers, or
/// throws ParseError.
namespace {

std::optional<oas::Pomdp> parse(std::string_view text) {
  oas::ModelReadOptions options;
  options.lenient = true;
  options.max_numbers = 20'000;
  try {
    return oas::parse_pomdpx(text, "text", options).model;
  } catch (const oas::ParseError&) {
    return std::nullopt;
  }
}

oas::RewardTable rewards(const oas::Pomdp& model) {
  return model.reward().to_table(model.num_states(), model.num_actions(), model.num_observations());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto model = parse({reinterpret_cast<const char*>(data), size});
  if (!model) return 0;
  const auto again = parse(oas::pomdpx_to_text(*model).text);
  if (!again || again->start() != model->start() || !(again->sensors() == model->sensors()) ||
      !(again->transition() == model->transition()) || !(rewards(*again) == rewards(*model))) {
    std::abort();
  }
  return 0;
}

#include <cmath>
#include <cstdlib>
#include <string_view>

#include "fuzz/fuzz_target.hpp"
#include "oas/core/contracts.hpp"
#include "oas/estimation/structure_json.hpp"

/// parse_structure on any text: it throws InvalidArgument, or gives facts that a model obeys; a
/// model made to obey them stays as it is when it is made to once more.
namespace {

using namespace oas;  // NOLINT(google-build-using-namespace)

Pomdp machine() {
  PomdpParts parts;
  parts.states = Labels({"new", "worn", "gone"}, "state");
  parts.actions = Labels({"run", "mend"}, "action");
  parts.observations = Labels(1, "observation");
  parts.sensors = ObservationModel(3, 2, 1, std::vector<double>(6, 1.0));
  return Pomdp(std::move(parts));
}

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Pomdp model = machine();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const TransitionStructure structure(model, parse_structure(text, "structure", model));
    const auto obey = [&](const TransitionModel& transition) {
      return structure.expand(structure.reduce(transition));
    };
    const TransitionModel once = obey(TransitionModel::uniform(3, 2));
    const TransitionModel twice = obey(once);
    for (std::size_t i = 0; i < once.values().size(); ++i) {
      require(structure.is_free(i) || once.values()[i] == structure.fixed_value(i));
      require(std::abs(once.values()[i] - twice.values()[i]) < 1e-9);
    }
  } catch (const InvalidArgument&) {
    return 0;
  }
  return 0;
}

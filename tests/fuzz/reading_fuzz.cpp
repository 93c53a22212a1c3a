#include <cstdlib>
#include <string>
#include <string_view>

#include "fuzz/fuzz_target.hpp"
#include "oas/core/contracts.hpp"
#include "oas/logs/log_reader.hpp"

/// LogReader for real-valued observations and for likelihoods on any bytes: it gives rows that keep
/// the contract or throws InvalidArgument, and the size of the blocks changes nothing.
namespace {

using namespace oas;  // NOLINT(google-build-using-namespace)

void require(bool condition) {
  if (!condition) std::abort();
}

Pomdp chain() {
  PomdpParts parts;
  parts.states = Labels({"dry", "wet"}, "state");
  parts.actions = Labels(2, "action");
  parts.observations = Labels(1, "observation");
  parts.sensors = ObservationModel(2, 2, 1, std::vector<double>(4, 1.0));
  return Pomdp(std::move(parts));
}

const ContinuousPomdp& line() {
  static const ContinuousPomdp model(
      chain(), DensitySensors(2, 2,
                              {VectorDensity({Density::gaussian(0, 1)}),
                               VectorDensity({Density::table({-1, 2, 3}, {0.25, 0.75})}),
                               VectorDensity({Density::beta(0.5, 0.5)}),
                               VectorDensity({Density::gamma(2, 1)})}));
  return model;
}

const ContinuousPomdp& plane() {
  static const ContinuousPomdp model(
      chain(),
      DensitySensors(
          2, 2, std::vector<VectorDensity>(4, VectorDensity::gaussian({0, 1}, {1, 0.5, 0.5, 1}))));
  return model;
}

const ContinuousPomdp& bare() {
  static const ContinuousPomdp model(chain());
  return model;
}

std::string summary(std::string_view bytes, const ContinuousPomdp& model, std::size_t max_rows) {
  std::size_t rows = 0;
  double sum = 0.0;
  try {
    LogReader reader(bytes_of(bytes), "log", model);
    const auto d =
        static_cast<std::size_t>(reader.has_likelihood() ? 0 : model.sensors().dimension());
    for (LogBlock block; reader.read_block(block, max_rows);) {
      require(block.rows.observations.size() == block.rows.size());
      require(block.readings.size() == d * block.rows.size());
      require(block.likelihoods.size() == 2 * block.rows.size());
      for (const double value : block.readings) require(value - value == 0);
      for (std::size_t t = 0; t < block.rows.size(); ++t) {
        const double* const row = block.likelihoods.data() + 2 * t;
        require(row[0] >= 0 && row[1] >= 0 && row[0] + row[1] > 0);
        sum += row[0];
      }
      rows += block.rows.size();
    }
    return fmt::format("{} rows, {} lines, {}", rows, reader.line(), sum);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const ContinuousPomdp* model : {&line(), &plane(), &bare()}) {
    require(summary(bytes, *model, 3) == summary(bytes, *model, 100'000));
  }
  return 0;
}

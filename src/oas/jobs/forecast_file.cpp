#include <fmt/format.h>

#include <iterator>

#include "oas/jobs/log_forecast.hpp"
#include "oas/logs/csv_cell.hpp"

namespace oas {

void write_forecasts(const Pomdp& model, std::span<const UnitForecast> units, ByteSink& out) {
  const bool limits = !units.empty() && !units.front().lower.states.empty();
  const bool reach = !units.empty() && !units.front().middle.survival.empty();
  std::string text = "unit,step";
  const auto name = [&](const std::string& column) {
    text += "," + csv_cell(column);
    if (limits) text += "," + csv_cell(column + "_lower") + "," + csv_cell(column + "_upper");
  };
  for (int s = 0; s < model.num_states(); ++s) name("state_" + model.states()[s]);
  if (reach) name("reached");
  out.write(text + "\n");
  const auto states = static_cast<std::size_t>(model.num_states());
  for (const UnitForecast& unit : units) {
    for (std::size_t k = 0; k * states < unit.middle.states.size(); ++k) {
      text = fmt::format("{},{}", csv_cell(unit.unit), k);
      const auto number = [&](double middle, double lower, double upper) {
        fmt::format_to(std::back_inserter(text), ",{:.6g}", middle);
        if (limits) fmt::format_to(std::back_inserter(text), ",{:.6g},{:.6g}", lower, upper);
      };
      for (std::size_t i = k * states; i < (k + 1) * states; ++i) {
        number(unit.middle.states[i], limits ? unit.lower.states[i] : 0.0,
               limits ? unit.upper.states[i] : 0.0);
      }
      if (reach) {
        number(1.0 - unit.middle.survival[k], limits ? 1.0 - unit.upper.survival[k] : 0.0,
               limits ? 1.0 - unit.lower.survival[k] : 0.0);
      }
      out.write(text + "\n");
    }
  }
}

}  // namespace oas

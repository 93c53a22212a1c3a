#include "oas/learning/detail/saved_state.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

namespace oas::detail {

std::int64_t saved_integer(const JsonView& view, std::int64_t low, std::int64_t high) {
  const std::int64_t value = view.as_integer();
  if (value < low || value > high) {
    view.fail(fmt::format("{} does not lie between {} and {}", value, low, high));
  }
  return value;
}

std::vector<std::int64_t> saved_integers(const JsonView& view, std::int64_t low,
                                         std::int64_t high) {
  std::vector<std::int64_t> values(view.size());
  const nlohmann::ordered_json& items = view.json();
  for (std::size_t i = 0; i < values.size(); ++i) {
    // view.at(i) builds a path, which only a message needs.
    const bool plain = items[i].is_number_integer() && !items[i].is_number_unsigned();
    const bool natural =
        items[i].is_number_unsigned() &&
        items[i].get<std::uint64_t>() <= static_cast<std::uint64_t>(kMostSavedSteps);
    if (plain || natural) values[i] = items[i].get<std::int64_t>();
    if (!(plain || natural) || values[i] < low || values[i] > high) {
      values[i] = saved_integer(view.at(i), low, high);
    }
  }
  return values;
}

std::vector<std::int64_t> saved_counters(const JsonView& view, std::size_t size,
                                         std::int64_t most) {
  std::vector<std::int64_t> values = saved_integers(view, 0);
  if (values.size() != size) {
    view.fail(fmt::format("{} entries where {} are needed", values.size(), size));
  }
  std::int64_t left = most;
  for (std::size_t i = 0; i < size; ++i) {
    if (values[i] > left) view.fail(fmt::format("the entries add up to more than {}", most));
    left -= values[i];
  }
  return values;
}

std::vector<double> saved_numbers(const JsonView& view, std::size_t size, double largest) {
  const std::array<int, 1> extents = {static_cast<int>(size)};
  std::vector<double> values = view.as_array(extents);
  for (std::size_t i = 0; i < size; ++i) {
    if (std::abs(values[i]) > largest) {
      view.at(i).fail(fmt::format("{} is beyond {:g}", values[i], largest));
    }
  }
  return values;
}

std::vector<SavedRow> saved_rows(const JsonView& view, int num_actions, int num_observations) {
  const std::vector<std::int64_t> numbers =
      saved_integers(view, kMissing.value(), std::int64_t{1} << 31);
  if (numbers.size() % 2 != 0) view.fail("expected an even number of entries");
  std::vector<SavedRow> rows(numbers.size() / 2);
  for (std::size_t i = 0; i < numbers.size(); i += 2) {
    if (numbers[i] < 0 || numbers[i] >= num_actions) {
      view.at(i).fail(fmt::format("{} is none of {} actions", numbers[i], num_actions));
    }
    if (numbers[i + 1] >= num_observations) {
      view.at(i + 1).fail(
          fmt::format("{} is none of {} observations", numbers[i + 1], num_observations));
    }
    rows[i / 2] = {Action{numbers[i]}, Observation{numbers[i + 1]}};
  }
  return rows;
}

Action saved_action(const JsonView& state, int num_actions) {
  return Action{saved_integer(state.at("action"), 0, num_actions - 1)};
}

Choice saved_choice(const JsonView& state, int num_actions) {
  const JsonView propensity = state.at("propensity");
  const double value = propensity.as_double();
  if (!(value > 0.0 && value <= 1.0)) propensity.fail(fmt::format("{} is not a propensity", value));
  return {saved_action(state, num_actions), value};
}

}  // namespace oas::detail

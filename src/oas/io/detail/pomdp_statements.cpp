#include <algorithm>
#include <cmath>

#include "oas/core/contracts.hpp"
#include "oas/io/detail/pomdp_parser.hpp"

namespace oas::detail {

namespace {

std::string known_names(const Labels& labels) {
  if (!labels.has_names()) return fmt::format("indices from 0 to {}", labels.size() - 1);
  constexpr std::size_t kShown = 8;
  const auto& names = labels.names();
  const auto shown = std::min(names.size(), kShown);
  return fmt::format("{}{}",
                     fmt::join(names.begin(), names.begin() + static_cast<long>(shown), ", "),
                     names.size() > kShown ? ", …" : "");
}

}  // namespace

void PomdpParser::read_statements() {
  while (!token_.is(Word::end)) {
    try {
      read_statement();
    } catch (const Skip&) {
      skip_to_statement();
    }
  }
}

void PomdpParser::read_statement() {
  const Token first = token_;
  const bool terminal = is_terminal();
  advance();
  switch (first.word) {
    case Word::transition:
      return read_transition(first.line);
    case Word::observation:
      return read_observation(first.line);
    case Word::reward_spec:
      return read_reward(first.line);
    case Word::start:
      if (!options_.lenient) faults_.fail(first.place(), "'start' must stand before T, O and R");
      lenient("start late", first.line, "'start' stands after T, O or R");
      return read_start(first.line);
    case Word::discount:
    case Word::values:
    case Word::states:
    case Word::actions:
    case Word::observations:
      faults_.fail(first.place(),
                   fmt::format("'{}:' must stand before start, T, O and R", first.text));
    default:
      if (terminal) return read_terminal(first.line);
      faults_.fail(first.place(), fmt::format("found {}, expected T, O or R", found(first)));
  }
}

void PomdpParser::read_transition(long line) {
  expect_colon();
  const int action = read_index(actions_);
  if (take(Word::colon)) {
    const int state = read_index(states_);
    read_transition_row(action, state, line);
    return;
  }
  const auto n = static_cast<std::size_t>(states_.size());
  if (take(Word::uniform)) {
    transition_->set(action, kAll, kAll, 1.0 / states_.size(), line);
  } else if (take(Word::identity)) {
    transition_->set_identity_row(action, kAll, line);
  } else if (token_.is_number()) {
    transition_->set_matrix(action, read_distribution(n, n, "one per pair of states"), line);
  } else {
    unexpected("':', uniform, identity or numbers");
  }
}

void PomdpParser::read_transition_row(int action, int state, long line) {
  if (take(Word::colon)) {
    const int next = read_index(states_);
    skip_lenient_colon("T");
    transition_->set(action, state, next, read_probability(), line);
    return;
  }
  if (take(Word::uniform)) {
    transition_->set(action, state, kAll, 1.0 / states_.size(), line);
  } else if (take(Word::reset)) {
    transition_->set_row(action, state, start_, line);
  } else if (token_.is(Word::identity) && options_.lenient) {
    lenient("identity row", line, "'identity' of one row was read as staying in the state");
    advance();
    transition_->set_identity_row(action, state, line);
  } else if (token_.is_number()) {
    const auto n = static_cast<std::size_t>(states_.size());
    transition_->set_row(action, state, read_distribution(n, 1, "one per state"), line);
  } else {
    unexpected("':', uniform, reset or numbers");
  }
}

void PomdpParser::read_observation(long line) {
  if (is_mdp()) faults_.fail({line, 0}, "found O, but the file has no 'observations:'");
  expect_colon();
  const int action = read_index(actions_);
  const auto width = static_cast<std::size_t>(observations_.size());
  int state = kAll;
  bool whole = true;
  if (take(Word::colon)) {
    state = read_index(states_);
    whole = false;
    if (take(Word::colon)) {
      const int observation = read_index(observations_);
      skip_lenient_colon("O");
      sensors_->set(action, state, observation, read_probability(), line);
      return;
    }
  }
  if (take(Word::uniform)) {
    sensors_->set(action, state, kAll, 1.0 / observations_.size(), line);
  } else if (!token_.is_number()) {
    unexpected("':', uniform or numbers");
  } else if (whole) {
    const auto rows = static_cast<std::size_t>(states_.size());
    sensors_->set_matrix(action, read_distribution(width, rows, "one per state and observation"),
                         line);
  } else {
    sensors_->set_row(action, state, read_distribution(width, 1, "one per observation"), line);
  }
}

void PomdpParser::add_reward(int action, int state, int next, int observation, double value) {
  const double sign = reward_sign_.value_or(1.0);
  rules_.push_back({action, state, next, observation, sign * value});
}

void PomdpParser::read_reward(long line) {
  expect_colon();
  const int action = read_index(actions_);
  if (is_mdp() && !token_.is(Word::colon)) return read_reward_matrix(action, kAll, line);
  expect_colon();
  const int state = read_index(states_);
  if (!take(Word::colon)) return read_reward_matrix(action, state, line);
  const int next = read_index(states_);
  if (is_mdp()) {
    skip_lenient_colon("R");
    add_reward(action, state, next, kAll, read_number(true));
    return;
  }
  if (take(Word::colon)) {
    const int observation = read_index(observations_);
    skip_lenient_colon("R");
    add_reward(action, state, next, observation, read_number(true));
    return;
  }
  const auto width = static_cast<std::size_t>(observations_.size());
  const auto numbers = read_numbers(width, true, "one per observation");
  for (std::size_t o = 0; o < width; ++o) {
    add_reward(action, state, next, static_cast<int>(o), numbers[o]);
  }
}

// POMDP: S×O numbers, a row per end state. MDP: S numbers of a state, or S×S when `state` is open.
void PomdpParser::read_reward_matrix(int action, int state, long /*line*/) {
  const auto n = static_cast<std::size_t>(states_.size());
  const bool all_states = is_mdp() && state == kAll;
  const std::size_t width = is_mdp() ? n : static_cast<std::size_t>(observations_.size());
  const std::size_t rows = is_mdp() ? (all_states ? n : 1) : n;
  const auto numbers = read_numbers(rows * width, true,
                                    !is_mdp()    ? "one per end state and observation"
                                    : all_states ? "one per pair of states"
                                                 : "one per state");
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < width; ++column) {
      const double value = numbers[row * width + column];
      const int r = static_cast<int>(row);
      const int c = static_cast<int>(column);
      if (is_mdp()) {
        add_reward(action, all_states ? r : state, c, kAll, value);
      } else {
        add_reward(action, state, r, c, value);
      }
    }
  }
}

void PomdpParser::read_terminal(long line) {
  expect_colon();
  lenient("terminal", line, "'E:' (terminal states): these states are left never, reward 0");
  while (token_.is(Word::name) || token_.is(Word::integer)) {
    terminal_.push_back(read_index(states_));
  }
}

int PomdpParser::read_index(const NameSet& set) {
  if (take(Word::star)) return kAll;
  if (token_.is(Word::integer)) {
    const double index = token_.number;
    if (index >= set.size()) unexpected(fmt::format("{} from 0 to {}", set.a_kind, set.size() - 1));
    advance();
    return static_cast<int>(index);
  }
  if (!token_.is(Word::name)) unexpected(fmt::format("{}, by name or index", set.a_kind));
  const auto known = set.index.find(token_.text);
  if (known == set.index.end()) {
    unexpected(fmt::format("{}: {}", set.a_kind, known_names(set.labels)));
  }
  advance();
  return known->second;
}

double PomdpParser::read_number(bool is_signed) {
  double sign = 1.0;
  if (is_signed && (token_.is(Word::plus) || token_.is(Word::minus))) {
    sign = token_.is(Word::minus) ? -1.0 : 1.0;
    advance();
  }
  if (!token_.is_number()) unexpected(is_signed ? "a number" : "a probability");
  if (!std::isfinite(token_.number)) unexpected("a smaller number");
  const double value = sign * token_.number;
  if (options_.lenient && token_.text.front() == '.') {
    lenient("point", token_.line, fmt::format("'{}' has no digit before the point", token_.text));
  }
  advance();
  return value;
}

double PomdpParser::read_probability() {
  const Place place = token_.place();
  const double value = read_number(false);
  if (value > 1.0) {
    faults_.fail(place, fmt::format("found {}, expected a probability from 0 to 1", value));
  }
  return value;
}

void PomdpParser::skip_lenient_colon(std::string_view statement) {
  if (!options_.lenient || !token_.is(Word::colon)) return;
  lenient("colon", token_.line,
          fmt::format("':' before the number of {} {} entry was skipped",
                      statement == "T" ? "a" : "an", statement));
  advance();
}

std::span<const double> PomdpParser::read_numbers(std::size_t expected, bool is_signed,
                                                  std::string_view shape) {
  const Place place = token_.place();
  const auto is_number = [&] {
    return token_.is_number() || (is_signed && (token_.is(Word::plus) || token_.is(Word::minus)));
  };
  if (!is_number()) unexpected("numbers");
  numbers_.clear();
  while (is_number() && numbers_.size() < expected) numbers_.push_back(read_number(is_signed));
  if (numbers_.size() < expected || is_number()) {
    const bool more = numbers_.size() == expected;
    faults_.fail(more ? token_.place() : place,
                 fmt::format("found {}{} number{}, expected {} ({})", more ? "more than " : "",
                             numbers_.size(), numbers_.size() == 1 ? "" : "s", expected, shape));
  }
  return numbers_;
}

std::span<const double> PomdpParser::read_distribution(std::size_t width, std::size_t rows,
                                                       std::string_view shape) {
  const Place place = token_.place();
  const auto numbers = read_numbers(width * rows, false, shape);
  const auto large = std::find_if(numbers.begin(), numbers.end(), [](double p) { return p > 1.0; });
  if (large != numbers.end()) {
    faults_.fail(place, fmt::format("number {} of these is {}, expected a probability from 0 to 1",
                                    large - numbers.begin() + 1, *large));
  }
  return numbers;
}

// Terminal states: what the text leaves open becomes absorbing; rewards there are 0.
void PomdpParser::make_terminal_absorbing() {
  for (const int s : terminal_) {
    for (int a = 0; a < actions_.size(); ++a) {
      const int row = a * states_.size() + s;
      if (!transition_->is_given(row)) transition_->set_identity_row(a, s, 0);
      if (sensors_ && !sensors_->is_given(row)) {
        sensors_->set(a, s, kAll, 1.0 / observations_.size(), 0);
      }
    }
    rules_.push_back({kAll, s, kAll, kAll, 0.0});
  }
}

ReadModel PomdpParser::finish() {
  make_terminal_absorbing();
  if (faults_.empty()) {  // what was skipped would be reported as missing
    transition_->finish("T", actions_.labels, states_.labels, faults_, warnings_);
    if (sensors_) sensors_->finish("O", actions_.labels, states_.labels, faults_, warnings_);
  }
  faults_.throw_if_any();
  const int s = states_.size();
  const int a = actions_.size();
  if (is_mdp()) {
    warnings_.add("mdp", 0, "no 'observations:'; the state is observed");
    observations_.labels = states_.labels;
    sensors_.emplace(a, s, s, options_.max_numbers, budget_);
    sensors_->set_identity_row(kAll, kAll, 0);
  }
  PomdpParts parts;
  parts.timing = Timing::after;
  parts.states = states_.labels;
  parts.actions = actions_.labels;
  parts.observations = observations_.labels;
  parts.start = std::move(start_);
  parts.transition = transition_->take_transition();
  parts.sensors = ObservationModel(s, a, observations_.size(), sensors_->take());
  parts.reward = Reward::simplest(RewardTable(s, a, observations_.size(), rules_, budget_.limit()));
  parts.discount = discount_;
  return {Pomdp(std::move(parts)), warnings_.list()};
}

}  // namespace oas::detail

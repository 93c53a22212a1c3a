#include <algorithm>
#include <cmath>

#include "oas/core/contracts.hpp"
#include "oas/formats/detail/pomdp_parser.hpp"

namespace oas::detail {

namespace {

std::string known_names(const Labels& labels) {
  if (!labels.has_names()) return fmt::format("indices from 0 to {}", labels.size() - 1);
  constexpr std::size_t kShown = 8;
  std::string list;
  for (std::size_t i = 0; i < std::min(labels.names().size(), kShown); ++i) {
    list += (i > 0 ? ", " : "") + shortened(labels.names()[i]);
  }
  return list + (labels.names().size() > kShown ? ", …" : "");
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
      return read_observation(first.place());
    case Word::reward_spec:
      return read_reward();
    case Word::start:
      return read_late_start(first.place());
    case Word::discount:
    case Word::values:
    case Word::states:
    case Word::actions:
    case Word::observations:
      faults_.add(first.place(),
                  fmt::format("'{}:' must stand before start, T, O and R", first.text));
      if (first.is(Word::observations) && is_mdp()) return read_late_observations();
      throw Skip{};
    default:
      if (terminal) return read_terminal(first.line);
      faults_.fail(first.place(), fmt::format("found {}, expected T, O or R", found(first)));
  }
}

// A row that was reset took the start belief of then, which this one would replace.
void PomdpParser::read_late_start(Place place) {
  if (has_start_) faults_.fail(place, "'start' is given twice");
  if (!options_.lenient) faults_.fail(place, "'start' must stand before T, O and R");
  if (has_reset_) faults_.fail(place, "'start' stands after a 'reset' that depends on it");
  lenient("start late", place.line, "'start' stands after T, O or R");
  read_start(place.line);
}

// The fault is noted; what follows is read with the observations, so that it is not at fault too.
void PomdpParser::read_late_observations() {
  expect_colon();
  read_set(observations_);
  check_sensors_fit(observations_.size());
  make_sensors();
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
    has_reset_ = true;
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

void PomdpParser::read_observation(Place place) {
  if (is_mdp()) faults_.fail(place, "found O, but the file has no 'observations:'");
  if (!sensors_) throw Skip{};  // observations that are misplaced and at fault
  const long line = place.line;
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

void PomdpParser::read_reward() {
  expect_colon();
  const int action = read_index(actions_);
  if (is_mdp() && !token_.is(Word::colon)) return read_state_rewards(action);
  expect_colon();
  const int state = read_index(states_);
  if (!take(Word::colon)) return read_outcome_rewards(action, state);
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

// "R: a" of an MDP: a number for each start and end state.
void PomdpParser::read_state_rewards(int action) {
  const auto n = static_cast<std::size_t>(states_.size());
  const auto numbers = read_numbers(n * n, true, "one per pair of states");
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    add_reward(action, static_cast<int>(i / n), static_cast<int>(i % n), kAll, numbers[i]);
  }
}

// "R: a : s": a number for each end state, and for each observation there but in an MDP.
void PomdpParser::read_outcome_rewards(int action, int state) {
  const auto n = static_cast<std::size_t>(states_.size());
  const auto width = is_mdp() ? 1 : static_cast<std::size_t>(observations_.size());
  const auto numbers = read_numbers(
      n * width, true, is_mdp() ? "one per state" : "one per end state and observation");
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    add_reward(action, state, static_cast<int>(i / width),
               is_mdp() ? kAll : static_cast<int>(i % width), numbers[i]);
  }
}

void PomdpParser::read_terminal(long line) {
  expect_colon();
  lenient("terminal", line, "'E:' (terminal states): these states are left never, reward 0");
  while ((token_.is(Word::name) && !is_terminal()) || token_.is(Word::integer)) {
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
    const bool strange = token_.is(Word::name) && !is_terminal();  // as 0x1, a number and a name
    faults_.fail(more || strange ? token_.place() : place,
                 fmt::format("found {}{} number{}{}, expected {} ({})", more ? "more than " : "",
                             numbers_.size(), numbers_.size() == 1 ? "" : "s",
                             strange ? " and then " + found(token_) : "", expected, shape));
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
  if (is_mdp() && mdp_start_) {
    faults_.add(mdp_start_->place(), fmt::format("found {}, expected a state: the file has no "
                                                 "'observations:'",
                                                 found(*mdp_start_)));
  }
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

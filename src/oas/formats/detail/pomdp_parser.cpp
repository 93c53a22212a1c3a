#include "oas/formats/detail/pomdp_parser.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "oas/core/contracts.hpp"

namespace oas::detail {

namespace {

constexpr int kMaxLabels = 1'000'000;

bool starts_statement(Word word) {
  switch (word) {
    case Word::end:
    case Word::discount:
    case Word::values:
    case Word::states:
    case Word::actions:
    case Word::observations:
    case Word::start:
    case Word::transition:
    case Word::observation:
    case Word::reward_spec:
      return true;
    default:
      return false;
  }
}

bool is_preamble(Word word) {
  return starts_statement(word) && word < Word::transition && word != Word::end;
}

}  // namespace

PomdpParser::PomdpParser(std::string_view text, const std::string& file,
                         const ModelReadOptions& options)
    : options_(options),
      faults_(file),
      warnings_(file),
      lexer_(text, options.lenient),
      budget_(options.max_numbers) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (options.lenient && text.starts_with(kMark)) {
    lexer_ = PomdpLexer(text.substr(kMark.size()), true);
    lenient("mark", 1, "a byte order mark was skipped");
  }
  advance();
}

ReadModel PomdpParser::parse() {
  read_preamble();
  check_preamble();
  const bool is_start = token_.is(Word::start);
  if (is_start) {
    const long line = token_.line;
    advance();
    statement([&] { read_start(line); });
  }
  read_statements();
  return finish();
}

void PomdpParser::unexpected(std::string_view expected) {
  faults_.fail(token_.place(), fmt::format("found {}, expected {}", found(token_), expected));
}

void PomdpParser::expect_colon() {
  if (!take(Word::colon)) unexpected("':'");
}

bool PomdpParser::take(Word word) {
  if (!token_.is(word)) return false;
  advance();
  return true;
}

void PomdpParser::skip_to_statement() {
  const auto is_statement = [&] {
    if (token_.is(Word::end) || !starts_statement(token_.word)) return token_.is(Word::end);
    const Token next = PomdpLexer(lexer_).next();  // else it is a name that is not allowed
    return next.is(Word::colon) ||
           (token_.is(Word::start) && (next.is(Word::include) || next.is(Word::exclude)));
  };
  while (!is_statement()) advance();
}

// Reads one statement; after a fault goes on at the next one.
template <class Statement>
void PomdpParser::statement(Statement read) {
  try {
    read();
  } catch (const Skip&) {
    skip_to_statement();
  }
}

void PomdpParser::lenient(std::string_view kind, long line, std::string message) {
  warnings_.add(kind, line, std::move(message));
}

void PomdpParser::read_preamble() {
  while (!token_.is(Word::end)) {
    const Word word = token_.word;
    if (is_preamble(word)) {
      advance();
      statement([&] { read_preamble_item(word); });
    } else if (starts_statement(word) || is_terminal()) {
      return;
    } else {
      statement(
          [&] { unexpected("discount, values, states, actions, observations, start, T, O or R"); });
    }
  }
}

void PomdpParser::read_preamble_item(Word word) {
  seen_.insert(word);
  expect_colon();
  switch (word) {
    case Word::discount:
      return read_discount();
    case Word::values:
      return read_values();
    case Word::states:
      return read_set(states_);
    case Word::actions:
      return read_set(actions_);
    default:
      return read_set(observations_);
  }
}

void PomdpParser::read_discount() {
  const Place place = token_.place();
  const double value = read_number(true);
  if (!(value >= 0.0 && value <= 1.0)) {
    faults_.fail(place, fmt::format("found discount {}, expected a number from 0 to 1", value));
  }
  discount_ = value;
}

void PomdpParser::read_values() {
  if (take(Word::reward)) {
    reward_sign_ = 1.0;
  } else if (take(Word::cost)) {
    reward_sign_ = -1.0;
  } else if (options_.lenient && (token_.text == "rewards" || token_.text == "costs")) {
    lenient("values", token_.line,
            fmt::format("'values: {}' was read as '{}'", token_.text,
                        token_.text.substr(0, token_.text.size() - 1)));
    reward_sign_ = token_.text == "rewards" ? 1.0 : -1.0;
    advance();
  } else {
    unexpected("reward or cost");
  }
}

void PomdpParser::read_set(NameSet& set) {
  set.index.clear();
  if (token_.is(Word::integer)) {
    if (!(token_.number >= 1.0 && token_.number <= kMaxLabels)) {
      unexpected(fmt::format("a number of {}s from 1 to {}", set.kind, kMaxLabels));
    }
    set.labels = Labels(static_cast<int>(token_.number), set.kind);
    advance();
    if (token_.is_number()) unexpected("one number, or names that begin with a letter");
    return;
  }
  std::vector<std::string> names;
  for (; token_.is(Word::name) && !is_terminal(); advance()) {
    if (!set.index.emplace(token_.text, static_cast<int>(names.size())).second) {
      faults_.add(token_.place(), fmt::format("{} name {} is used twice", set.kind, found(token_)));
      continue;
    }
    names.emplace_back(token_.text);
  }
  if (names.empty()) unexpected(fmt::format("a number of {}s or their names", set.kind));
  if (names.size() > static_cast<std::size_t>(kMaxLabels)) {
    unexpected(fmt::format("at most {} {}s", kMaxLabels, set.kind));
  }
  set.labels = Labels(std::move(names), set.kind);
  if (!starts_statement(token_.word) && !is_terminal()) {
    unexpected("a name (a letter, then letters, digits, _ and -; no reserved word)");
  }
}

void PomdpParser::check_preamble() {
  const auto require = [&](Word word, const char* key) {
    if (!seen_.contains(word)) faults_.add(token_.place(), fmt::format("'{}:' is missing", key));
  };
  require(Word::states, "states");
  require(Word::actions, "actions");
  if (options_.lenient && !reward_sign_) {
    lenient("values", 0, "no 'values:'; reward is assumed");
    reward_sign_ = 1.0;
  }
  if (options_.lenient && !discount_) lenient("discount", 0, "no 'discount:'");
  if (!options_.lenient) {
    require(Word::discount, "discount");
    require(Word::values, "values");
  }
  const bool no_set = states_.size() == 0 || actions_.size() == 0 ||
                      (observations_.size() == 0 && seen_.contains(Word::observations));
  if (no_set) faults_.throw_if_any();
  make_tables();
}

void PomdpParser::make_tables() {
  check_sensors_fit(is_mdp() ? states_.size() : observations_.size());
  start_.assign(static_cast<std::size_t>(states_.size()), 1.0 / states_.size());
  transition_ = ProbabilityTable::for_transition(actions_.size(), states_.size(),
                                                 options_.max_numbers, budget_);
  if (!is_mdp()) make_sensors();
}

void PomdpParser::make_sensors() {
  sensors_.emplace(actions_.size(), states_.size(), observations_.size(), options_.max_numbers,
                   budget_);
}

void PomdpParser::check_sensors_fit(int num_observations) {
  const double a = actions_.size();
  const double s = states_.size();
  const double size = a * s * num_observations;
  if (size <= static_cast<double>(options_.max_numbers)) return;
  faults_.add({}, fmt::format("{} actions, {} states and {} observations need a table of {:.0f} "
                              "numbers, more than the limit of {}",
                              a, s, num_observations, size, options_.max_numbers));
  faults_.throw_if_any();
}

bool PomdpParser::is_terminal() const {
  return options_.lenient && token_.text == "E" && PomdpLexer(lexer_).next().is(Word::colon);
}

void PomdpParser::read_start(long line) {
  has_start_ = true;
  if (is_mdp()) check_mdp_start();
  if (token_.is(Word::include) || token_.is(Word::exclude)) {
    const bool excluded = token_.is(Word::exclude);
    advance();
    expect_colon();
    read_start_states(excluded);
    return;
  }
  expect_colon();
  if (take(Word::uniform)) return;
  const auto is_state = [&] { return token_.is(Word::name) && !is_terminal(); };
  if (token_.is(Word::name)) {
    std::vector<int> states{read_index(states_)};
    if (is_state() && options_.lenient) {
      lenient("start names", line, "'start:' with several names was read as 'start include:'");
      while (is_state()) states.push_back(read_index(states_));
    }
    if (is_state()) unexpected("one state ('start include:' takes several)");
    set_start(states, false);
    return;
  }
  if (is_mdp() && token_.is(Word::integer)) {
    set_start({read_index(states_)}, false);
    return;
  }
  read_start_numbers();
}

// The start of an MDP file is one state. Whether it is one is known at the end: 'observations:' may
// be misplaced.
void PomdpParser::check_mdp_start() {
  const Token next = PomdpLexer(lexer_).next();
  if (token_.is(Word::colon) && (next.is(Word::name) || next.is(Word::integer))) return;
  const Token& odd = token_.is(Word::colon) ? next : token_;
  if (options_.lenient) {
    lenient("mdp start", odd.line, "'start' of a file without observations is not one state");
  } else {
    mdp_start_ = odd;
  }
}

void PomdpParser::read_start_states(bool excluded) {
  std::vector<int> states;
  while ((token_.is(Word::name) && !is_terminal()) || token_.is(Word::integer)) {
    states.push_back(read_index(states_));
  }
  if (states.empty()) unexpected("a state");
  set_start(states, excluded);
}

void PomdpParser::read_start_numbers() {
  const Token first = token_;
  if (!token_.is_number()) unexpected("uniform, a state, or one probability per state");
  numbers_.clear();
  while (token_.is_number() && numbers_.size() <= start_.size()) {
    numbers_.push_back(read_probability());
  }
  if (options_.lenient && numbers_.size() == 1 && start_.size() > 1 && first.is(Word::integer) &&
      first.number < states_.size()) {
    lenient("start index", first.line,
            fmt::format("'start: {}' was read as the index of a state", first.text));
    set_start({static_cast<int>(first.number)}, false);
    return;
  }
  if (numbers_.size() != start_.size()) {
    faults_.fail(first.place(),
                 fmt::format("found {}{} number{}, expected {}, one probability per state",
                             numbers_.size() > start_.size() ? "more than " : "",
                             std::min(numbers_.size(), start_.size()),
                             numbers_.size() == 1 ? "" : "s", start_.size()));
  }
  const double sum = std::accumulate(numbers_.begin(), numbers_.end(), 0.0);
  const double off = std::abs(sum - 1.0);
  if (off > kTextTolerance) {
    faults_.fail(first.place(), fmt::format("start sums to {:.8g}, not to 1", sum));
  }
  start_ = numbers_;
  if (off <= kRoundingTolerance) return;
  for (double& p : start_) p /= sum;
  warnings_.add("start", first.line, fmt::format("start is off 1 by {:.2g}; renormalised", off));
}

void PomdpParser::set_start(const std::vector<int>& states, bool excluded) {
  std::vector<bool> chosen(start_.size(), excluded);
  for (const int s : states) chosen[static_cast<std::size_t>(s)] = !excluded;
  const auto count = std::count(chosen.begin(), chosen.end(), true);
  if (count == 0) faults_.fail(token_.place(), "all states are excluded from the start");
  for (std::size_t s = 0; s < chosen.size(); ++s) {
    start_[s] = chosen[s] ? 1.0 / static_cast<double>(count) : 0.0;
  }
}

}  // namespace oas::detail

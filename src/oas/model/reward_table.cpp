#include "oas/model/reward_table.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"

namespace oas {

namespace {

constexpr int kAny = RewardRule::kAny;

// The entry at `place`, put there with the value of `rest` when it is not among the others.
template <class Value>
Value& entry(Exceptions<Value>& function, int place) {
  auto& others = function.others;
  if (others.empty() || others.back().first < place) {
    return others.emplace_back(place, function.rest).second;
  }
  const auto found = std::lower_bound(others.begin(), others.end(), place,
                                      [](const auto& other, int p) { return other.first < p; });
  if (found->first == place) return found->second;
  return others.emplace(found, place, function.rest)->second;
}

void assign(RewardByObservation& rewards, int observation, double value) {
  if (observation == kAny) {
    rewards.rest = value;
    rewards.others.clear();
  } else {
    entry(rewards, observation) = value;
  }
}

void check_sizes(int num_states, int num_actions, int num_observations) {
  OAS_REQUIRE(num_states >= 1 && num_actions >= 1 && num_observations >= 1,
              "rewards of {} states, {} actions and {} observations", num_states, num_actions,
              num_observations);
}

// Exceptions are at ascending places of 0 … size-1.
template <class Value>
void check_places(const Exceptions<Value>& function, int size) {
  int last = -1;
  for (const auto& other : function.others) {
    OAS_REQUIRE(other.first > last && other.first < size, "a reward at place {} after {}, of {}",
                other.first, last, size);
    last = other.first;
  }
}

// Returns about how many entries were touched.
std::size_t assign(RewardRow& row, const RewardRule& rule) {
  if (rule.next != kAny) {
    assign(entry(row, rule.next), rule.observation, rule.value);
    return 1;
  }
  assign(row.rest, rule.observation, rule.value);
  if (rule.observation == kAny) {
    row.others.clear();
    return 1;
  }
  for (auto& other : row.others) assign(other.second, rule.observation, rule.value);
  return row.others.size() + 1;
}

// The unique form: `rest` is the most frequent value (of equally frequent ones the smallest) and no
// exception equals it.
template <class Value>
void normalise(Exceptions<Value>& function, int size) {
  auto& others = function.others;
  const auto drop_rest = [&] {
    std::erase_if(others, [&](const auto& other) { return other.second == function.rest; });
  };
  drop_rest();
  if (others.empty()) return;
  const std::size_t at_rest = static_cast<std::size_t>(size) - others.size();
  if (at_rest > others.size()) return;
  std::map<Value, std::size_t> count;
  for (const auto& other : others) ++count[other.second];
  const Value old = function.rest;
  Value best = old;
  std::size_t most = at_rest;
  for (const auto& [value, times] : count) {
    if (times > most || (times == most && (most == 0 || value < best))) {
      best = value;
      most = times;
    }
  }
  if (best == old) return;
  std::vector<std::pair<int, Value>> all;
  std::size_t next = 0;
  for (int place = 0; place < size; ++place) {
    const bool other = next < others.size() && others[next].first == place;
    all.emplace_back(place, other ? std::move(others[next].second) : old);
    next += other ? 1 : 0;
  }
  others = std::move(all);
  function.rest = std::move(best);
  drop_rest();
}

std::size_t size_of(const RewardRow& row) {
  std::size_t size = row.rest.others.size() + row.others.size();
  for (const auto& other : row.others) size += other.second.others.size();
  return size;
}

// Rows while rules are applied; a row that several (a,s) share is copied when they part.
class RowBuilder {
 public:
  RowBuilder(int num_states, int num_actions)
      : num_states_(num_states),
        num_actions_(num_actions),
        row_of(static_cast<std::size_t>(num_states) * static_cast<std::size_t>(num_actions), 0),
        rows(1),
        users_{row_of.size()} {}

  std::size_t apply(const RewardRule& rule) {
    if (rule.action != kAny && rule.state != kAny) {
      const auto at = static_cast<std::size_t>(rule.action) * num_states_ + rule.state;
      return assign(own_row(at), rule);
    }
    affected_.resize(rows.size(), 0);
    successor_.resize(rows.size(), -1);
    for_each(rule, [&](std::size_t at) {
      if (affected_[index(at)]++ == 0) touched_.push_back(index(at));
    });
    std::size_t writes = 0;
    for (const std::size_t old : touched_) {
      successor_[old] = static_cast<int>(affected_[old] == users_[old] ? old : copy_of(old));
      writes += rows[old].others.size();
      writes += assign(rows[static_cast<std::size_t>(successor_[old])], rule);
    }
    for_each(rule, [&](std::size_t at) {
      move_to(at, successor_[index(at)]);
      ++writes;
    });
    for (const std::size_t old : touched_) {
      affected_[old] = 0;
      successor_[old] = -1;
    }
    touched_.clear();
    return writes;
  }

 private:
  template <class Visit>
  void for_each(const RewardRule& rule, Visit visit) const {
    const int first_action = rule.action == kAny ? 0 : rule.action;
    const int last_action = rule.action == kAny ? num_actions_ - 1 : rule.action;
    const int first_state = rule.state == kAny ? 0 : rule.state;
    const int last_state = rule.state == kAny ? num_states_ - 1 : rule.state;
    for (int a = first_action; a <= last_action; ++a) {
      for (int s = first_state; s <= last_state; ++s) {
        visit(static_cast<std::size_t>(a) * num_states_ + s);
      }
    }
  }

  [[nodiscard]] std::size_t index(std::size_t at) const {
    return static_cast<std::size_t>(row_of[at]);
  }

  std::size_t copy_of(std::size_t row) {
    copied_ += size_of(rows[row]);
    OAS_REQUIRE(copied_ <= RewardTable::kMaxCopied,
                "rewards that differ between actions and states need more than the limit of {} "
                "entries",
                RewardTable::kMaxCopied);
    rows.push_back(rows[row]);
    users_.push_back(0);
    return rows.size() - 1;
  }

  void move_to(std::size_t at, int row) {
    --users_[index(at)];
    row_of[at] = row;
    ++users_[index(at)];
  }

  RewardRow& own_row(std::size_t at) {
    if (users_[index(at)] > 1) move_to(at, static_cast<int>(copy_of(index(at))));
    return rows[index(at)];
  }

  int num_states_;
  int num_actions_;

 public:
  std::vector<int> row_of;
  std::vector<RewardRow> rows;

 private:
  std::size_t copied_ = 0;  // exceptions
  std::vector<std::size_t> users_;
  // By row, while one rule is applied: how many (a,s) it meets, and their row after it.
  std::vector<std::size_t> affected_;
  std::vector<int> successor_;
  std::vector<std::size_t> touched_;
};

void check_rule(const RewardRule& rule, int num_states, int num_actions, int num_observations) {
  const auto inside = [](int index, int size) {
    return index == kAny || (index >= 0 && index < size);
  };
  OAS_REQUIRE(inside(rule.action, num_actions) && inside(rule.state, num_states) &&
                  inside(rule.next, num_states) && inside(rule.observation, num_observations),
              "reward rule for ({}, {}, {}, {}) is outside {} actions, {} states, {} observations",
              rule.action, rule.state, rule.next, rule.observation, num_actions, num_states,
              num_observations);
  OAS_REQUIRE(std::isfinite(rule.value), "reward is {}; it must be finite", rule.value);
}

}  // namespace

RewardTable::RewardTable(int num_states, int num_actions, int num_observations,
                         std::span<const RewardRule> rules, std::size_t max_writes)
    : num_states_(num_states), num_actions_(num_actions), num_observations_(num_observations) {
  check_sizes(num_states, num_actions, num_observations);
  RowBuilder builder(num_states, num_actions);
  std::size_t writes = 0;
  for (RewardRule rule : rules) {
    check_rule(rule, num_states, num_actions, num_observations);
    rule.value += 0.0;  // no negative zero: it would be a second form of the same reward
    writes += builder.apply(rule);
    OAS_REQUIRE(writes <= max_writes, "rewards write more than the limit of {} entries",
                max_writes);
  }
  row_of_ = std::move(builder.row_of);
  rows_ = std::move(builder.rows);
  make_unique();
}

RewardTable::RewardTable(int num_states, int num_actions, int num_observations,
                         std::vector<RewardRow> rows, std::vector<int> row_of)
    : num_states_(num_states),
      num_actions_(num_actions),
      num_observations_(num_observations),
      row_of_(std::move(row_of)),
      rows_(std::move(rows)) {
  check_sizes(num_states, num_actions, num_observations);
  OAS_REQUIRE(row_of_.size() == table_size({num_actions, num_states}),
              "{} rows of rewards for {} actions and {} states", row_of_.size(), num_actions,
              num_states);
  for (const int row : row_of_) {
    OAS_REQUIRE(row >= 0 && row < static_cast<int>(rows_.size()), "row {} of {}", row,
                rows_.size());
  }
  for (const RewardRow& row : rows_) {
    check_places(row, num_states);
    check_places(row.rest, num_observations);
    for (const auto& other : row.others) check_places(other.second, num_observations);
  }
  make_unique();
}

RewardTable RewardTable::from_dense(int num_states, int num_actions, int num_observations,
                                    std::span<const double> values) {
  const std::size_t size =
      static_cast<std::size_t>(num_states) * static_cast<std::size_t>(num_actions);
  OAS_REQUIRE(values.size() == size * static_cast<std::size_t>(num_states) *
                                   static_cast<std::size_t>(num_observations),
              "{} rewards for {} actions, {} states and {} observations", values.size(),
              num_actions, num_states, num_observations);
  std::vector<RewardRow> rows(size);
  std::vector<int> row_of(size);
  std::iota(row_of.begin(), row_of.end(), 0);
  std::size_t at = 0;
  for (RewardRow& row : rows) {
    std::vector<RewardByObservation> by_next;
    for (int next = 0; next < num_states; ++next) {
      std::vector<double> by_observation;
      for (int o = 0; o < num_observations; ++o, ++at) by_observation.push_back(values[at] + 0.0);
      by_next.push_back(RewardByObservation::of(std::move(by_observation)));
    }
    row = RewardRow::of(std::move(by_next));
  }
  return {num_states, num_actions, num_observations, std::move(rows), std::move(row_of)};
}

void RewardTable::make_unique() {
  for (RewardRow& row : rows_) {
    normalise(row.rest, num_observations_);
    for (auto& other : row.others) normalise(other.second, num_observations_);
    normalise(row, num_states_);
  }
  std::map<RewardRow, int> known;  // numbered in the order of their first (a,s)
  std::vector<int> number(rows_.size(), -1);
  for (int& row : row_of_) {
    int& renamed = number[static_cast<std::size_t>(row)];
    if (renamed < 0) {
      renamed = known
                    .try_emplace(std::move(rows_[static_cast<std::size_t>(row)]),
                                 static_cast<int>(known.size()))
                    .first->second;
    }
    row = renamed;
  }
  std::vector<RewardRow> rows(known.size());
  while (!known.empty()) {
    auto node = known.extract(known.begin());
    rows[static_cast<std::size_t>(node.mapped())] = std::move(node.key());
  }
  rows_ = std::move(rows);
}

bool RewardTable::depends_on_next() const {
  return std::any_of(rows_.begin(), rows_.end(),
                     [](const RewardRow& row) { return !row.others.empty(); });
}

bool RewardTable::depends_on_observation() const {
  return std::any_of(rows_.begin(), rows_.end(), [](const RewardRow& row) {
    return !row.rest.others.empty() ||
           std::any_of(row.others.begin(), row.others.end(),
                       [](const auto& other) { return !other.second.others.empty(); });
  });
}

int RewardTable::common_row(int action) const {
  const auto first = row_of_.begin() + static_cast<std::ptrdiff_t>(action) * num_states_;
  return std::all_of(first, first + num_states_, [&](int row) { return row == *first; }) ? *first
                                                                                         : -1;
}

namespace {

// Rules of one row for a group of (a,s), written over a background of 0.
void add_rules(const RewardRow& row, RewardRule rule, std::vector<RewardRule>& out) {
  const auto add = [&](const RewardByObservation& rewards, bool over_zero) {
    rule.observation = kAny;
    rule.value = rewards.rest;
    if (rewards.rest != 0.0 || !over_zero) out.push_back(rule);
    for (const auto& [observation, value] : rewards.others) {
      rule.observation = observation;
      rule.value = value;
      out.push_back(rule);
    }
  };
  rule.next = kAny;
  add(row.rest, true);
  const bool blank = row.rest == RewardByObservation{};
  for (const auto& [next, rewards] : row.others) {
    rule.next = next;
    add(rewards, blank);
  }
}

}  // namespace

double RewardTable::at(int action, int state, int next, int observation) const {
  check_action(Action{action}, num_actions_);
  check_state(State{state}, num_states_);
  check_state(State{next}, num_states_);
  OAS_REQUIRE(observation >= 0 && observation < num_observations_,
              "observation is {}; there are {} observations", observation, num_observations_);
  return (*this)(action, state, next, observation);
}

std::vector<RewardRule> RewardTable::rules() const {
  std::vector<RewardRule> out;
  if (rows_.size() == 1) {
    add_rules(rows_.front(), {}, out);
    return out;
  }
  for (int a = 0; a < num_actions_; ++a) {
    RewardRule rule;
    rule.action = a;
    const int common = common_row(a);
    if (common >= 0) {
      add_rules(rows_[static_cast<std::size_t>(common)], rule, out);
      continue;
    }
    for (rule.state = 0; rule.state < num_states_; ++rule.state) {
      add_rules(row(a, rule.state), rule, out);
    }
  }
  return out;
}

}  // namespace oas

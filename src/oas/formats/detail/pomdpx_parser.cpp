#include "oas/formats/detail/pomdpx_parser.hpp"

#include <algorithm>
#include <cmath>

#include "oas/core/contracts.hpp"

namespace oas::detail {

namespace {

constexpr std::size_t kMaxVariables = 1000;

// What is seen of each state; empty when no variable is fully observed.
StateSplit state_split(const FactoredModel& model, int num_states) {
  StateSplit split;
  split.num_hidden = 1;
  bool any = false;
  for (const Variable& variable : model.states) {
    any = any || variable.fully_observed;
    (variable.fully_observed ? split.num_seen : split.num_hidden) *= variable.size();
  }
  if (!any) return {};
  for (int s = 0; s < num_states; ++s) {
    int part[2] = {0, 0};  // hidden, seen
    int stride = num_states;
    for (const Variable& variable : model.states) {
      stride /= variable.size();
      int& index = part[variable.fully_observed ? 1 : 0];
      index = index * variable.size() + s / stride % variable.size();
    }
    split.hidden.push_back(part[0]);
    split.seen.push_back(part[1]);
  }
  return split;
}

}  // namespace

PomdpxParser::PomdpxParser(std::string_view text, const std::string& file,
                           const ModelReadOptions& options)
    : options_(options),
      faults_(file),
      warnings_(file),
      xml_(text, file),
      budget_(options.max_numbers) {}

ReadModel PomdpxParser::parse() {
  const Node root = xml_.document().child("pomdpx");
  if (!root) throw ParseError(faults_.file(), 0, 0, "the element <pomdpx> is missing");
  check_elements(root, {"Description", "Discount", "Variable", "InitialStateBelief",
                        "StateTransitionFunction", "ObsFunction", "RewardFunction"});
  read_discount(root);
  read_variables(root);
  faults_.throw_if_any();
  (void)model_.num_states();  // refuses what is too large before any table is made
  (void)model_.num_actions();
  collect_slots();
  read_probabilities(root, "InitialStateBelief", SlotKind::state_before, model_.start);
  read_probabilities(root, "StateTransitionFunction", SlotKind::state_after, model_.transition);
  if (!model_.observations.empty()) {
    read_probabilities(root, "ObsFunction", SlotKind::observation, model_.sensors);
  }
  read_rewards(root.child("RewardFunction"));
  faults_.throw_if_any();
  model_.transition_line = xml_.place(root.child("StateTransitionFunction")).line;
  model_.sensor_line =
      xml_.place(root.child(model_.observations.empty() ? "Variable" : "ObsFunction")).line;
  Pomdp model = flatten(model_, options_.max_numbers, faults_, warnings_);
  StateSplit split = state_split(model_, model.num_states());
  return {std::move(model), warnings_.list(), std::move(split)};
}

void PomdpxParser::fail(const Node& node, std::string_view message) {
  faults_.fail(xml_.place(node), message);
}

// Reads the children of this name; after a fault goes on with the next one.
template <class Read>
void PomdpxParser::each(const Node& parent, const char* name, Read read) {
  for (const Node& child : parent.children(name)) {
    try {
      read(child);
    } catch (const Skip&) {
    }
  }
}

// A misspelt or second section must not be passed over: what it says would be lost.
void PomdpxParser::check_elements(const Node& parent, std::initializer_list<std::string_view> known,
                                  bool once) {
  std::set<std::string_view> seen;
  for (const Node& child : parent.children()) {
    const std::string_view name = child.name();
    if (child.type() != pugi::node_element) continue;
    if (std::ranges::find(known, name) != known.end()) {
      if (!seen.insert(name).second && once) {
        faults_.add(xml_.place(child), fmt::format("<{}> is given twice", name));
      }
      continue;
    }
    const std::string message =
        fmt::format("found <{}>, expected <{}>", name, fmt::join(known, ">, <"));
    if (options_.lenient) {
      warnings_.add(name, xml_.place(child).line, message + "; it was passed over");
    } else {
      faults_.add(xml_.place(child), message);
    }
  }
}

void PomdpxParser::read_discount(const Node& root) {
  const Node node = root.child("Discount");
  const std::string text = text_of(node);
  const auto words = words_of(text);
  double value = 0.0;
  if (!node && options_.lenient) {
    warnings_.add("discount", 0, "no <Discount>");
  } else if (!node) {
    faults_.add(xml_.place(root), "<Discount> is missing");
  } else if (words.size() != 1 || !read_number(words[0], value) || !(value >= 0 && value <= 1)) {
    faults_.add(xml_.place(node), fmt::format("found discount '{}', expected a number from 0 to 1",
                                              fmt::join(words, " ")));
  } else {
    model_.discount = value;
  }
}

void PomdpxParser::read_variables(const Node& root) {
  const Node section = root.child("Variable");
  check_elements(section, {"StateVar", "ObsVar", "ActionVar", "RewardVar"}, false);
  each(section, "StateVar", [&](const Node& node) {
    Variable variable = read_variable(node, "vnamePrev", 's');
    const std::string after = read_name(node, "vnameCurr");
    variable.fully_observed = node.attribute("fullyObs").as_bool();
    name_slot(node, variable.name, SlotKind::state_before, model_.states.size());
    name_slot(node, after, SlotKind::state_after, model_.states.size());
    model_.states.push_back(std::move(variable));
  });
  each(section, "ActionVar", [&](const Node& node) {
    Variable variable = read_variable(node, "vname", 'a');
    name_slot(node, variable.name, SlotKind::action, model_.actions.size());
    model_.actions.push_back(std::move(variable));
  });
  each(section, "ObsVar", [&](const Node& node) {
    Variable variable = read_variable(node, "vname", 'o');
    name_slot(node, variable.name, SlotKind::observation, model_.observations.size());
    model_.observations.push_back(std::move(variable));
  });
  each(section, "RewardVar",
       [&](const Node& node) { reward_names_.insert(read_name(node, "vname")); });
  if (model_.states.empty()) faults_.add(xml_.place(section), "no <StateVar>");
  if (model_.actions.empty()) faults_.add(xml_.place(section), "no <ActionVar>");
}

Variable PomdpxParser::read_variable(const Node& node, const char* name_attribute, char prefix) {
  Variable variable;
  variable.name = read_name(node, name_attribute);
  if (names_.size() > kMaxVariables) {
    fail(node, fmt::format("more than the limit of {} variables", kMaxVariables));
  }
  read_values(node, variable, prefix);
  return variable;
}

// Lists of names are separated by spaces, so that one with a space in it cannot be named there by
// the letter of the format.
std::string PomdpxParser::read_name(const Node& node, const char* attribute) {
  std::string name = node.attribute(attribute).value();
  const auto words = words_of(name);
  if (!options_.lenient || words.size() < 2) return name;
  name = fmt::format("{}", fmt::join(words, " "));
  most_words_ = std::max(most_words_, words.size());
  warnings_.add("name", xml_.place(node).line,
                fmt::format("the name '{}' has spaces in it; the longest name that fits counts "
                            "where variables are listed",
                            name));
  return name;
}

std::vector<std::string> PomdpxParser::names_in(std::string_view text) const {
  const auto words = words_of(text);
  std::vector<std::string> names;
  for (std::size_t at = 0; at < words.size();) {
    std::string longest(words[at]);
    std::size_t used = 1;
    std::string joined = longest;
    const std::size_t most = std::min(most_words_, words.size() - at);
    for (std::size_t count = 2; count <= most; ++count) {
      joined.append(1, ' ').append(words[at + count - 1]);
      if (!names_.contains(joined) && !reward_names_.contains(joined)) continue;
      longest = joined;
      used = count;
    }
    names.push_back(std::move(longest));
    at += used;
  }
  return names;
}

void PomdpxParser::read_values(const Node& node, Variable& variable, char prefix) {
  if (const Node size = node.child("NumValues")) {
    const std::string text = text_of(size);
    const auto words = words_of(text);
    double count = 0.0;
    if (words.size() != 1 || !read_number(words[0], count) || count < 1 || count > kMaxValues ||
        static_cast<double>(static_cast<int>(count)) != count) {
      fail(size, fmt::format("found '{}' values, expected a number from 1 to {}",
                             fmt::join(words, " "), kMaxValues));
    }
    variable.numbered = true;
    for (int i = 0; i < static_cast<int>(count); ++i) {
      variable.values.push_back(fmt::format("{}{}", prefix, i));
    }
  } else {
    const std::string text = text_of(node.child("ValueEnum"));
    for (const auto word : words_of(text)) variable.values.emplace_back(word);
    if (variable.values.empty()) fail(node, "expected <ValueEnum> or <NumValues>");
  }
  for (int i = 0; i < variable.size(); ++i) {
    const std::string& value = variable.values[static_cast<std::size_t>(i)];
    if (!variable.index.emplace(value, i).second) {
      fail(node, fmt::format("value '{}' is given twice", value));
    }
  }
}

void PomdpxParser::name_slot(const Node& node, const std::string& name, SlotKind role,
                             std::size_t variable) {
  if (name.empty()) fail(node, "the variable has no name");
  if (!names_.emplace(name, std::pair(role, variable)).second) {
    fail(node, fmt::format("variable '{}' is declared twice", name));
  }
}

void PomdpxParser::collect_slots() {
  const auto add = [&](SlotKind role, const std::vector<Variable>& variables) {
    for (std::size_t v = 0; v < variables.size(); ++v) {
      model_.slots.push_back({role, static_cast<int>(v), variables[v].size()});
    }
  };
  add(SlotKind::action, model_.actions);
  add(SlotKind::state_before, model_.states);
  add(SlotKind::state_after, model_.states);
  add(SlotKind::observation, model_.observations);
}

void PomdpxParser::read_probabilities(const Node& root, const char* section, SlotKind role,
                                      std::vector<Factor>& factors) {
  const auto& variables = role == SlotKind::observation ? model_.observations : model_.states;
  factors.resize(variables.size());
  std::vector<bool> given(variables.size(), false);
  const Node node = root.child(section);
  check_elements(node, {"CondProb"}, false);
  each(node, "CondProb", [&](const Node& child) { read_conditional(child, role, factors, given); });
  if (!faults_.empty()) return;
  for (std::size_t v = 0; v < variables.size(); ++v) {
    if (!given[v]) {
      faults_.add(xml_.place(node ? node : root),
                  fmt::format("<{}> does not give '{}'", section,
                              name_of(model_.slot(role, static_cast<int>(v)))));
    }
  }
}

void PomdpxParser::read_conditional(const Node& node, SlotKind role, std::vector<Factor>& factors,
                                    std::vector<bool>& given) {
  const std::string text = text_of(node.child("Var"));
  const std::vector<std::string> names = names_in(text);
  if (names.size() != 1) {
    fail(node, options_.lenient
                   ? "expected one variable in <Var>"
                   : "expected one variable in <Var>; --lenient reads names with spaces in them");
  }
  const int slot = find_slot(node, names[0]);
  const Slot& variable = model_.slots[static_cast<std::size_t>(slot)];
  if (variable.role != role) fail(node, fmt::format("'{}' does not belong here", names[0]));
  std::vector<int> scope = read_parents(node);
  check_parents(node, scope, role);
  scope.push_back(slot);
  Factor factor = make_factor(node, scope);
  read_parameter(node, factor, true);
  check_sums(node, factor);
  const auto v = static_cast<std::size_t>(variable.variable);
  if (given[v]) fail(node, fmt::format("'{}' is given twice", names[0]));
  given[v] = true;
  factors[v] = std::move(factor);
}

// Rows of a factor that are given sum to 1; none need be given for parents that cannot be.
void PomdpxParser::check_sums(const Node& node, const Factor& factor) {
  const auto [row, sum] = factor.find_sum(
      [](double total) { return total != 0.0 && std::abs(total - 1.0) > kTextTolerance; });
  if (row == factor.num_rows()) return;
  std::string parents;
  std::size_t rest = row;
  for (std::size_t i = factor.scope().size() - 1; i-- > 0;) {
    const int slot = factor.scope()[i];
    const auto size = static_cast<std::size_t>(factor.sizes()[i]);
    parents.insert(0,
                   fmt::format(", {} = {}", name_of(slot), variable_of(slot).values[rest % size]));
    rest /= size;
  }
  fail(node, fmt::format("'{}' sums to {:.8g}, not to 1{}", name_of(factor.scope().back()), sum,
                         parents));
}

std::string PomdpxParser::name_of(int slot) const {
  const auto known = std::ranges::find_if(names_, [&](const auto& name) {
    return model_.slot(name.second.first, static_cast<int>(name.second.second)) == slot;
  });
  return known->first;
}

void PomdpxParser::read_rewards(const Node& section) {
  check_elements(section, {"Func"}, false);
  std::set<std::string> given;
  each(section, "Func", [&](const Node& node) {
    const std::string text = text_of(node.child("Var"));
    for (std::string& name : names_in(text)) given.insert(std::move(name));
    read_reward(node);
  });
  for (const std::string& name : given) {
    if (!reward_names_.contains(name)) {
      faults_.add(xml_.place(section), fmt::format("no <RewardVar> is called '{}'", name));
    }
  }
  for (const std::string& name : reward_names_) {
    if (!given.contains(name)) {
      warnings_.add("no reward", xml_.place(section).line,
                    fmt::format("no <Func> gives '{}'; it is taken as 0", name));
    }
  }
}

void PomdpxParser::read_reward(const Node& node) {
  Factor factor = make_factor(node, read_parents(node));
  read_parameter(node, factor, false);
  model_.rewards.push_back(std::move(factor));
}

int PomdpxParser::find_slot(const Node& node, std::string_view name) {
  const auto found = names_.find(name);
  if (found == names_.end()) fail(node, fmt::format("unknown variable '{}'", name));
  return model_.slot(found->second.first, static_cast<int>(found->second.second));
}

std::vector<int> PomdpxParser::read_parents(const Node& node) {
  std::vector<int> scope;
  const std::string text = text_of(node.child("Parent"));
  for (const std::string& name : names_in(text)) {
    if (name != "null") scope.push_back(find_slot(node, name));
  }
  return scope;
}

// Start: states before. Transition: all but observations. Observation: actions and states after.
void PomdpxParser::check_parents(const Node& node, const std::vector<int>& scope, SlotKind role) {
  for (const int slot : scope) {
    const SlotKind parent = model_.slots[static_cast<std::size_t>(slot)].role;
    const bool fine = role == SlotKind::state_before ? parent == SlotKind::state_before
                      : role == SlotKind::state_after
                          ? parent != SlotKind::observation
                          : parent == SlotKind::action || parent == SlotKind::state_after;
    if (!fine) fail(node, "a variable in <Parent> cannot be a parent here");
  }
}

Factor PomdpxParser::make_factor(const Node& node, const std::vector<int>& scope) {
  std::vector<int> sorted = scope;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    fail(node, "a variable is its own parent, or a parent twice");
  }
  std::vector<int> sizes;
  sizes.reserve(scope.size());
  for (const int slot : scope) sizes.push_back(model_.slots[static_cast<std::size_t>(slot)].size);
  const std::size_t max_table = std::min(options_.max_numbers, TransitionModel::kMaxTable);
  double size = 1.0;
  for (const int n : sizes) size *= n;
  numbers_held_ += size <= static_cast<double>(max_table) ? size : 4.0 * size / sizes.back();
  if (numbers_held_ > static_cast<double>(options_.max_numbers)) {
    fail(node, fmt::format("the tables up to this one hold {:.4g} numbers, more than the limit of "
                           "{}",
                           numbers_held_, options_.max_numbers));
  }
  try {
    return {scope, sizes, max_table};
  } catch (const InvalidArgument& error) {
    fail(node, error.what());
  }
}

}  // namespace oas::detail

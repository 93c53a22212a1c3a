#include <algorithm>

#include "oas/core/contracts.hpp"
#include "oas/formats/detail/pomdpx_parser.hpp"

namespace oas::detail {

const Variable& PomdpxParser::variable_of(int slot) const {
  const Slot& s = model_.slots[static_cast<std::size_t>(slot)];
  const auto& variables = s.role == SlotKind::action        ? model_.actions
                          : s.role == SlotKind::observation ? model_.observations
                                                            : model_.states;
  return variables[static_cast<std::size_t>(s.variable)];
}

int PomdpxParser::find_value(const Node& node, int slot, std::string_view value) {
  const Variable& variable = variable_of(slot);
  const auto found = variable.index.find(std::string(value));
  if (found == variable.index.end()) {
    fail(node, fmt::format("'{}' is not a value of '{}'", value, name_of(slot)));
  }
  return found->second;
}

void PomdpxParser::read_parameter(const Node& node, Factor& factor, bool is_probability) {
  const Node parameter = node.child("Parameter");
  const std::string_view type = parameter.attribute("type").value();
  is_probability_ = is_probability;
  if (!parameter) fail(node, "<Parameter> is missing");
  if (type == "DD") {
    templates_.clear();
    for (const Node& child : parameter.children("SubDAGTemplate")) {
      templates_.emplace(child.attribute("id").value(), child);
    }
    std::vector<int> place(factor.scope().size(), kAll);
    const Node dag = parameter.child("DAG");
    if (!dag) fail(parameter, "<DAG> is missing");
    read_diagram(dag, factor, place);
  } else if (type == "TBL" || type.empty()) {
    for (const Node& entry : parameter.children("Entry")) {
      try {
        read_entry(entry, factor, is_probability);
      } catch (const Skip&) {
      }
    }
  } else {
    fail(parameter, fmt::format("found type '{}', expected TBL or DD", type));
  }
}

void PomdpxParser::read_entry(const Node& entry, Factor& factor, bool is_probability) {
  std::vector<bool> listed;
  const std::vector<int> place = read_instance(entry, factor, listed);
  const char* name = is_probability ? "ProbTable" : "ValueTable";
  const Node table = entry.child(name);
  if (!table) fail(entry, fmt::format("<{}> is missing", name));
  read_table(table, factor, place, listed, is_probability);
}

// "a * -": a value, all values alike, or one value after the other as the table lists them.
std::vector<int> PomdpxParser::read_instance(const Node& entry, const Factor& factor,
                                             std::vector<bool>& listed) {
  const Node node = entry.child("Instance");
  const std::string text = text_of(node);
  const auto words = words_of(text);
  if (words.size() != factor.scope().size()) {
    fail(node ? node : entry,
         fmt::format("found {} values in <Instance>, expected {}, one per variable", words.size(),
                     factor.scope().size()));
  }
  std::vector<int> place(words.size(), kAll);
  listed.assign(words.size(), false);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "-") {
      listed[i] = true;
    } else if (words[i] != "*") {
      place[i] = find_value(node, factor.scope()[i], words[i]);
    }
  }
  return place;
}

void PomdpxParser::read_table(const Node& table, Factor& factor, std::span<const int> place,
                              const std::vector<bool>& listed, bool is_probability) {
  const std::string text = text_of(table);
  const auto words = words_of(text);
  if (is_probability && words.size() == 1 && words[0] == "uniform") {
    const double value = 1.0 / factor.sizes().back();
    factor.fill(place, budget_, [&](std::span<const int>) { return value; });
    return;
  }
  if (is_probability && words.size() == 1 && words[0] == "identity") {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < listed.size(); ++i) {
      if (listed[i]) open.push_back(i);
    }
    if (open.size() != 2 || factor.sizes()[open[0]] != factor.sizes()[open[1]]) {
      fail(table, "identity needs two '-' of variables of the same size");
    }
    factor.fill(place, budget_,
                [&](std::span<const int> at) { return at[open[0]] == at[open[1]] ? 1.0 : 0.0; });
    return;
  }
  double expected = 1.0;
  for (std::size_t i = 0; i < listed.size(); ++i) expected *= listed[i] ? factor.sizes()[i] : 1;
  if (static_cast<double>(words.size()) != expected) {
    fail(table, fmt::format("found {} numbers, expected {:.0f}", words.size(), expected));
  }
  std::vector<double> numbers(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!read_number(words[i], numbers[i])) {
      fail(table, fmt::format("found '{}', expected a number", words[i].substr(0, 40)));
    }
    if (is_probability && !(numbers[i] >= 0.0 && numbers[i] <= 1.0)) {
      fail(table, fmt::format("found {}, expected a probability from 0 to 1", numbers[i]));
    }
  }
  factor.fill(place, budget_, [&](std::span<const int> at) {
    std::size_t index = 0;
    for (std::size_t i = 0; i < at.size(); ++i) {
      if (listed[i])
        index =
            index * static_cast<std::size_t>(factor.sizes()[i]) + static_cast<std::size_t>(at[i]);
    }
    return numbers[index];
  });
}

// What stands inside <DAG>, <Edge> or a template: one node, terminal or part.
void PomdpxParser::read_diagram(const Node& parent, Factor& factor, std::vector<int>& place) {
  if (const Node node = parent.child("Node")) {
    read_diagram_node(node, factor, place);
  } else if (const Node part = parent.child("SubDAG")) {
    read_sub_diagram(part, factor, place);
  } else if (const Node terminal = parent.child("Terminal")) {
    const std::string text = text_of(terminal);
    const auto words = words_of(text);
    double value = 0.0;
    if (words.size() != 1 || !read_number(words[0], value)) {
      fail(terminal, fmt::format("found '{}', expected a number", fmt::join(words, " ")));
    }
    if (is_probability_ && !(value >= 0.0 && value <= 1.0)) {
      fail(terminal, fmt::format("found {}, expected a probability from 0 to 1", value));
    }
    factor.fill(place, budget_, [&](std::span<const int>) { return value; });
  } else {
    fail(parent, "expected <Node>, <SubDAG> or <Terminal>");
  }
}

std::size_t PomdpxParser::find_position(const Node& node, const Factor& factor,
                                        std::string_view variable) {
  const auto& scope = factor.scope();
  const auto found = std::find(scope.begin(), scope.end(), find_slot(node, variable));
  if (found == scope.end()) {
    fail(node, fmt::format("'{}' is neither the variable nor a parent here", variable));
  }
  return static_cast<std::size_t>(found - scope.begin());
}

// Each node fixes one more variable and each edge another value, so leaves never overlap.
void PomdpxParser::read_diagram_node(const Node& node, Factor& factor, std::vector<int>& place) {
  const std::size_t position = find_position(node, factor, node.attribute("var").value());
  if (place[position] != kAll) {
    fail(node, fmt::format("'{}' was decided above", node.attribute("var").value()));
  }
  std::vector<bool> seen(static_cast<std::size_t>(factor.sizes()[position]), false);
  for (const Node& edge : node.children("Edge")) {
    const int value = find_value(edge, factor.scope()[position], edge.attribute("val").value());
    if (seen[static_cast<std::size_t>(value)]) fail(edge, "this value has an edge already");
    seen[static_cast<std::size_t>(value)] = true;
    place[position] = value;
    budget_.take(1);
    read_diagram(edge, factor, place);
  }
  place[position] = kAll;
}

void PomdpxParser::read_sub_diagram(const Node& node, Factor& factor, std::vector<int>& place) {
  const std::string_view type = node.attribute("type").value();
  if (type == "template") {
    const auto found = templates_.find(std::string_view(node.attribute("idref").value()));
    if (found == templates_.end()) {
      fail(node, fmt::format("no template '{}'", node.attribute("idref").value()));
    }
    if (found->second.child("SubDAG")) fail(node, "a template that is nothing but a <SubDAG>");
    read_diagram(found->second, factor, place);
    return;
  }
  const std::size_t position = find_position(node, factor, node.attribute("var").value());
  if (type == "uniform") {
    const double value = 1.0 / factor.sizes()[position];
    factor.fill(place, budget_, [&](std::span<const int>) { return value; });
  } else if (type == "deterministic") {
    const int value = find_value(node, factor.scope()[position], node.attribute("val").value());
    factor.fill(place, budget_,
                [&](std::span<const int> at) { return at[position] == value ? 1.0 : 0.0; });
  } else if (type == "persistent") {
    const Slot& after = model_.slots[static_cast<std::size_t>(factor.scope()[position])];
    const int slot = model_.slot(SlotKind::state_before, after.variable);
    const auto& scope = factor.scope();
    const auto before = std::find(scope.begin(), scope.end(), slot);
    if (after.role != SlotKind::state_after || before == scope.end()) {
      fail(node, "persistent needs a state variable with its own past among the parents");
    }
    const auto from = static_cast<std::size_t>(before - scope.begin());
    factor.fill(place, budget_,
                [&](std::span<const int> at) { return at[position] == at[from] ? 1.0 : 0.0; });
  } else {
    fail(node, fmt::format("found type '{}', expected template, uniform, deterministic or "
                           "persistent",
                           type));
  }
}

}  // namespace oas::detail

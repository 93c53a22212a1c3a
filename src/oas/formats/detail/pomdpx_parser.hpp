#pragma once

#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "oas/formats/detail/factor.hpp"
#include "oas/formats/detail/xml_text.hpp"
#include "oas/formats/model_text.hpp"

namespace oas::detail {

/// Reads one POMDPX text into factors. A fault is noted and reading goes on at the next variable,
/// entry or edge.
class PomdpxParser {
 public:
  PomdpxParser(std::string_view text, const std::string& file, const ModelReadOptions& options);

  [[nodiscard]] ReadModel parse();

 private:
  using Node = pugi::xml_node;

  // pomdpx_parser.cpp: variables and which function stands where
  [[noreturn]] void fail(const Node& node, std::string_view message);
  template <class Read>
  void each(const Node& parent, const char* name, Read read);
  void check_elements(const Node& parent, std::initializer_list<std::string_view> known,
                      bool once = true);
  void read_discount(const Node& root);
  void read_variables(const Node& root);
  Variable read_variable(const Node& node, const char* name_attribute, char prefix);
  void read_values(const Node& node, Variable& variable, char prefix);
  void name_slot(const Node& node, const std::string& name, SlotKind role, std::size_t variable);
  void collect_slots();
  void read_probabilities(const Node& root, const char* section, SlotKind role,
                          std::vector<Factor>& factors);
  void read_conditional(const Node& node, SlotKind role, std::vector<Factor>& factors,
                        std::vector<bool>& given);
  void check_sums(const Node& node, const Factor& factor);
  void read_rewards(const Node& section);
  void read_reward(const Node& node);
  [[nodiscard]] std::string name_of(int slot) const;
  std::string read_name(const Node& node, const char* attribute);
  // The variables that a list names.
  [[nodiscard]] std::vector<std::string> names_in(std::string_view text) const;
  int find_slot(const Node& node, std::string_view name);
  std::vector<int> read_parents(const Node& node);
  void check_parents(const Node& node, const std::vector<int>& scope, SlotKind role);
  Factor make_factor(const Node& node, const std::vector<int>& scope);

  // pomdpx_tables.cpp: the numbers of one function
  void read_parameter(const Node& node, Factor& factor, bool is_probability);
  void read_entry(const Node& entry, Factor& factor, bool is_probability);
  std::vector<int> read_instance(const Node& entry, const Factor& factor,
                                 std::vector<bool>& listed);
  void read_table(const Node& table, Factor& factor, std::span<const int> place,
                  const std::vector<bool>& listed, bool is_probability);
  void read_diagram(const Node& parent, Factor& factor, std::vector<int>& place);
  void read_diagram_node(const Node& node, Factor& factor, std::vector<int>& place);
  void read_sub_diagram(const Node& node, Factor& factor, std::vector<int>& place);
  std::size_t find_position(const Node& node, const Factor& factor, std::string_view variable);
  int find_value(const Node& node, int slot, std::string_view value);
  [[nodiscard]] const Variable& variable_of(int slot) const;

  ModelReadOptions options_;
  Faults faults_;
  Warnings warnings_;
  XmlText xml_;
  FactoredModel model_;
  std::map<std::string, std::pair<SlotKind, std::size_t>, std::less<>> names_;
  std::set<std::string> reward_names_;
  std::size_t most_words_ = 1;                          // of a name
  std::map<std::string, Node, std::less<>> templates_;  // of the diagram that is being read
  WriteBudget budget_;
  double numbers_held_ = 0.0;  // by the factors so far; a listed row takes the room of four
  bool is_probability_ = false;
};

}  // namespace oas::detail

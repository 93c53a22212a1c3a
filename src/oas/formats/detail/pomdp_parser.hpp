#pragma once

#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "oas/formats/detail/pomdp_lexer.hpp"
#include "oas/formats/detail/probability_table.hpp"
#include "oas/formats/model_text.hpp"

namespace oas::detail {

/// A set of labels while the text is read: names are views of the text.
struct NameSet {
  const char* kind = "";    // "state"
  const char* a_kind = "";  // "a state"
  Labels labels;
  std::unordered_map<std::string_view, int> index;

  [[nodiscard]] int size() const { return labels.size(); }
};

/// Reads one .pomdp text by recursive descent. A fault is noted and reading goes on at the next
/// reserved word that can start a statement.
class PomdpParser {
 public:
  PomdpParser(std::string_view text, const std::string& file, const ModelReadOptions& options);

  [[nodiscard]] ReadModel parse();

 private:
  // pomdp_parser.cpp: tokens and the statements before T, O and R
  void advance() { token_ = lexer_.next(); }
  [[noreturn]] void unexpected(std::string_view expected);
  void expect_colon();
  bool take(Word word);
  void skip_to_statement();
  template <class Statement>
  void statement(Statement read);
  void lenient(std::string_view kind, long line, std::string message);
  void read_preamble();
  void read_preamble_item(Word word);
  void read_discount();
  void read_values();
  void read_set(NameSet& set);
  void check_preamble();
  void make_tables();
  void make_sensors();
  void check_sensors_fit(int num_observations);
  void read_start(long line);
  void check_mdp_start();
  void read_start_states(bool excluded);
  void read_start_numbers();
  void set_start(const std::vector<int>& states, bool excluded);
  [[nodiscard]] bool is_terminal() const;  // at "E:", terminal states
  [[nodiscard]] bool is_mdp() const { return observations_.size() == 0; }

  // pomdp_statements.cpp: T, O, R, E and the end
  void read_statements();
  void read_statement();
  void read_transition(long line);
  void read_transition_row(int action, int state, long line);
  void read_late_start(Place place);
  void read_late_observations();
  void read_observation(Place place);
  void read_reward();
  void read_state_rewards(int action);
  void read_outcome_rewards(int action, int state);
  void read_terminal(long line);
  int read_index(const NameSet& set);
  double read_number(bool is_signed);
  double read_probability();
  void skip_lenient_colon(std::string_view statement);
  std::span<const double> read_numbers(std::size_t expected, bool is_signed,
                                       std::string_view shape);
  std::span<const double> read_distribution(std::size_t width, std::size_t rows,
                                            std::string_view shape);
  void add_reward(int action, int state, int next, int observation, double value);
  void make_terminal_absorbing();
  [[nodiscard]] ReadModel finish();

  ModelReadOptions options_;
  Faults faults_;
  Warnings warnings_;
  PomdpLexer lexer_;
  Token token_;
  NameSet states_{"state", "a state", {}, {}};
  NameSet actions_{"action", "an action", {}, {}};
  NameSet observations_{"observation", "an observation", {}, {}};
  std::set<Word> seen_;  // keys of the preamble
  std::optional<double> discount_;
  std::optional<double> reward_sign_;
  std::vector<double> start_;
  bool has_start_ = false;
  bool has_reset_ = false;
  std::optional<Token> mdp_start_;  // of no form that a file without observations may have
  WriteBudget budget_;
  std::optional<ProbabilityTable> transition_;
  std::optional<ProbabilityTable> sensors_;
  std::vector<RewardRule> rules_;
  std::vector<int> terminal_;
  std::vector<double> numbers_;  // of the matrix that is being read
};

}  // namespace oas::detail

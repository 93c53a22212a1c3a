#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "oas/core/number_text.hpp"
#include "oas/formats/detail/plain_names.hpp"
#include "oas/formats/detail/pomdp_lexer.hpp"
#include "oas/formats/detail/writable.hpp"
#include "oas/formats/pomdp_text.hpp"

namespace oas {

namespace {

using detail::number_text;

bool keeps(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

bool is_identity(const TransitionModel& transition, Action a) {
  bool identity = true;
  for (State s{0}; s < transition.num_states() && identity; ++s) {
    transition.for_each_next(
        a, s, [&](State next, double p) { identity = identity && next == s && p == 1.0; });
  }
  return identity;
}

class PomdpWriter {
 public:
  explicit PomdpWriter(const Pomdp& model)
      : model_(model),
        states_(names(model.states(), "state")),
        actions_(names(model.actions(), "action")),
        observations_(names(model.observations(), "observation")) {}

  WrittenModel write() {
    write_preamble();
    write_start();
    for (int a = 0; a < model_.num_actions(); ++a) write_transition(Action{a});
    write_sensors();
    write_rewards();
    return {std::move(text_), std::move(warnings_)};
  }

 private:
  std::vector<std::string> names(const Labels& labels, std::string_view kind) {
    auto plain = detail::plain_names(labels, kind, detail::PomdpLexer::is_name, keeps);
    if (!plain.warning.empty()) warnings_.push_back(std::move(plain.warning));
    return std::move(plain.names);
  }

  template <class... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    text_ += '\n';
  }

  void write_set(const char* key, const Labels& labels, const std::vector<std::string>& names) {
    if (labels.has_names()) {
      line("{}: {}", key, fmt::join(names, " "));
    } else {
      line("{}: {}", key, labels.size());
    }
  }

  void write_preamble() {
    if (!model_.discount()) {
      warnings_.emplace_back("the model has no discount; 1 is written, which some solvers refuse");
    }
    line("discount: {}", number_text(model_.discount().value_or(1.0)));
    line("values: reward");
    write_set("states", model_.states(), states_);
    write_set("actions", model_.actions(), actions_);
    write_set("observations", model_.observations(), observations_);
  }

  void write_start() {
    const double uniform = 1.0 / model_.num_states();
    const auto& start = model_.start();
    if (std::all_of(start.begin(), start.end(), [&](double p) { return p == uniform; })) {
      line("start: uniform");
    } else {
      write_numbers("start:", start);
    }
  }

  void write_numbers(std::string_view head, std::span<const double> values) {
    text_ += head;
    for (const double value : values) {
      text_ += ' ';
      text_ += number_text(value);
    }
    text_ += '\n';
  }

  // One row of T or O, by what is not 0: `head` is "T: a : s".
  void write_row(const std::string& head, std::span<const ProbabilityEntry> row,
                 const std::vector<std::string>& columns) {
    const double uniform = 1.0 / static_cast<double>(columns.size());
    if (row.size() == columns.size() && std::all_of(row.begin(), row.end(), [&](const auto& entry) {
          return entry.probability == uniform;
        })) {
      line("{} uniform", head);
      return;
    }
    if (row.size() * 4 > columns.size()) {
      write_numbers(head, detail::numbers_of(row, columns.size()));
      return;
    }
    for (const auto& [i, p] : row) {
      line("{} : {} {}", head, columns[static_cast<std::size_t>(i)], number_text(p));
    }
  }

  void write_transition(Action a) {
    text_ += '\n';
    const std::string& name = actions_[static_cast<std::size_t>(a)];
    if (is_identity(model_.transition(), a)) {
      line("T: {} identity", name);
      return;
    }
    for (State s{0}; s < model_.num_states(); ++s) {
      write_row(fmt::format("T: {} : {}", name, states_[static_cast<std::size_t>(s)]),
                detail::entries_of(model_.transition(), a, s), states_);
    }
  }

  void write_sensors() {
    const ObservationModel& sensors = model_.sensors();
    const bool same = !sensors.action_that_differs();
    for (int a = 0; a < (same ? 1 : model_.num_actions()); ++a) {
      text_ += '\n';
      const std::string name = same ? "*" : actions_[static_cast<std::size_t>(a)];
      for (int s = 0; s < model_.num_states(); ++s) {
        write_row(fmt::format("O: {} : {}", name, states_[static_cast<std::size_t>(s)]),
                  detail::entries_of(sensors.distribution(Action{a}, State{s})), observations_);
      }
    }
  }

  void write_rewards() {
    text_ += '\n';
    const auto name = [](const std::vector<std::string>& all, int index) {
      return index == RewardRule::kAny ? "*" : all[static_cast<std::size_t>(index)].c_str();
    };
    const auto rules =
        model_.reward()
            .to_table(model_.num_states(), model_.num_actions(), model_.num_observations())
            .rules();
    for (const RewardRule& rule : rules) {
      line("R: {} : {} : {} : {} {}", name(actions_, rule.action), name(states_, rule.state),
           name(states_, rule.next), name(observations_, rule.observation),
           number_text(rule.value));
    }
    // The reference parser stops at a file without any R.
    if (rules.empty()) line("R: * : * : * : * 0");
  }

  const Pomdp& model_;
  std::string text_;
  std::vector<std::string> warnings_;
  std::vector<std::string> states_;
  std::vector<std::string> actions_;
  std::vector<std::string> observations_;
};

}  // namespace

WrittenModel pomdp_to_text(const Pomdp& model) {
  OAS_REQUIRE(!model.reading_first(),
              "a .pomdp file cannot say what is read before the first action, and the rows of this "
              "model are reading-first; --rows action-first leaves that out");
  detail::check_writable(model, ".pomdp");
  return PomdpWriter(model).write();
}

}  // namespace oas

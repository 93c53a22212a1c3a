#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "oas/core/markup.hpp"
#include "oas/core/number_text.hpp"
#include "oas/formats/detail/plain_names.hpp"
#include "oas/formats/detail/writable.hpp"
#include "oas/formats/pomdpx.hpp"

namespace oas {

namespace {

using detail::number_text;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool is_word(std::string_view name) {
  return !name.empty() && name != "*" && name != "-" &&
         std::none_of(name.begin(), name.end(), is_space);
}

bool keeps_in_xml(char c) { return !is_space(c); }

class PomdpxWriter {
 public:
  explicit PomdpxWriter(const Pomdp& model)
      : model_(model),
        states_(names(model.states(), "state")),
        actions_(names(model.actions(), "action")),
        observations_(names(model.observations(), "observation")) {}

  WrittenModel write() {
    write_head();
    open("<InitialStateBelief>");
    write_start();
    open("</InitialStateBelief>");
    open("<StateTransitionFunction>");
    write_conditional("state_1", "action state_0", states_, [&](Action a, State s) {
      return detail::entries_of(model_.transition(), a, s);
    });
    open("</StateTransitionFunction>");
    open("<ObsFunction>");
    write_conditional("observation", "action state_1", observations_, [&](Action a, State s) {
      return detail::entries_of(model_.sensors().distribution(a, s));
    });
    open("</ObsFunction>");
    open("<RewardFunction>");
    write_rewards();
    open("</RewardFunction>\n</pomdpx>");
    return {std::move(text_), std::move(warnings_)};
  }

 private:
  // Names as they stand in the XML text; a set without names is numbered a0, a1, …
  std::vector<std::string> names(const Labels& labels, std::string_view kind) {
    auto plain = detail::plain_names(labels, kind, is_word, keeps_in_xml);
    if (!plain.warning.empty()) warnings_.push_back(std::move(plain.warning));
    for (std::string& name : plain.names) {
      name = labels.has_names() ? escape_markup(name) : fmt::format("{}{}", kind.front(), name);
    }
    return std::move(plain.names);
  }

  void open(std::string_view text) {
    text_ += text;
    text_ += '\n';
  }

  template <class... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    text_ += '\n';
  }

  std::string value_list(const Labels& labels, const std::vector<std::string>& all) {
    return labels.has_names() ? fmt::format("<ValueEnum>{}</ValueEnum>", fmt::join(all, " "))
                              : fmt::format("<NumValues>{}</NumValues>", labels.size());
  }

  void write_head() {
    if (!model_.discount()) {
      warnings_.emplace_back("the model has no discount; 1 is written, which some solvers refuse");
    }
    open("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<pomdpx version=\"1.0\" id=\"oas\">");
    line("<Discount>{}</Discount>", number_text(model_.discount().value_or(1.0)));
    open("<Variable>");
    line(R"(<StateVar vnamePrev="state_0" vnameCurr="state_1" fullyObs="false">{}</StateVar>)",
         value_list(model_.states(), states_));
    line("<ObsVar vname=\"observation\">{}</ObsVar>",
         value_list(model_.observations(), observations_));
    line("<ActionVar vname=\"action\">{}</ActionVar>", value_list(model_.actions(), actions_));
    open("<RewardVar vname=\"reward\"/>\n</Variable>");
  }

  void entry(const std::string& instance, const char* table, const std::string& numbers) {
    line("<Entry><Instance>{}</Instance><{}>{}</{}></Entry>", instance, table, numbers, table);
  }

  static std::string text_of(std::span<const double> row) {
    std::string numbers;
    for (const double value : row) {
      if (!numbers.empty()) numbers += ' ';
      numbers += number_text(value);
    }
    return numbers;
  }

  void write_start() {
    open("<CondProb><Var>state_0</Var><Parent>null</Parent><Parameter type=\"TBL\">");
    entry("-", "ProbTable", text_of(model_.start()));
    open("</Parameter></CondProb>");
  }

  template <class Row>
  void write_conditional(const char* variable, const char* parents,
                         const std::vector<std::string>& columns, Row row_of) {
    line("<CondProb><Var>{}</Var><Parent>{}</Parent><Parameter type=\"TBL\">", variable, parents);
    for (Action a{0}; a < model_.num_actions(); ++a) {
      for (State s{0}; s < model_.num_states(); ++s) {
        const std::string head = fmt::format("{} {}", actions_[static_cast<std::size_t>(a)],
                                             states_[static_cast<std::size_t>(s)]);
        const std::vector<ProbabilityEntry> row = row_of(a, s);
        if (row.size() * 8 > columns.size()) {
          entry(head + " -", "ProbTable", text_of(detail::numbers_of(row, columns.size())));
          continue;
        }
        for (const auto& [i, p] : row) {
          entry(head + " " + columns[static_cast<std::size_t>(i)], "ProbTable", number_text(p));
        }
      }
    }
    open("</Parameter></CondProb>");
  }

  void write_rewards() {
    const RewardTable table = model_.reward().to_table(model_.num_states(), model_.num_actions(),
                                                       model_.num_observations());
    const bool by_next = table.depends_on_next();
    const bool by_observation = table.depends_on_observation();
    line("<Func><Var>reward</Var><Parent>action state_0{}{}</Parent><Parameter type=\"TBL\">",
         by_next ? " state_1" : "", by_observation ? " observation" : "");
    const auto name = [](const std::vector<std::string>& all, int index) {
      return index == RewardRule::kAny ? "*" : all[static_cast<std::size_t>(index)].c_str();
    };
    const auto rules = table.rules();
    for (const RewardRule& rule : rules) {
      std::string instance =
          fmt::format("{} {}", name(actions_, rule.action), name(states_, rule.state));
      if (by_next) instance += fmt::format(" {}", name(states_, rule.next));
      if (by_observation) instance += fmt::format(" {}", name(observations_, rule.observation));
      entry(instance, "ValueTable", number_text(rule.value));
    }
    if (rules.empty()) entry("* *", "ValueTable", "0");
    open("</Parameter></Func>");
  }

  const Pomdp& model_;
  std::string text_;
  std::vector<std::string> warnings_;
  std::vector<std::string> states_;
  std::vector<std::string> actions_;
  std::vector<std::string> observations_;
};

}  // namespace

WrittenModel pomdpx_to_text(const Pomdp& model) {
  OAS_REQUIRE(
      !model.reading_first(),
      "a .pomdpx file cannot say what is read before the first action, and the rows of this "
      "model are reading-first; --rows action-first leaves that out");
  detail::check_writable(model, "POMDPX");
  return PomdpxWriter(model).write();
}

}  // namespace oas

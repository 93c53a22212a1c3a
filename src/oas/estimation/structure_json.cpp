#include "oas/estimation/structure_json.hpp"

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/core/json_text.hpp"

namespace oas {

namespace {

constexpr std::string_view kStructureFormat = "oas-structure/1";
constexpr std::array<std::string_view, 4> kStructureKeys = {"format", "transition", "entries",
                                                            "tied"};
constexpr const char* kZeros = "zeros-of-model";
constexpr const char* kSame = "same-for-all-actions";

// A name, an index, or "*" for all.
std::vector<int> read_choice(const JsonView& view, const Labels& labels, std::string_view kind) {
  if (!view.is_string()) {
    const long index = view.as_integer();
    if (index < 0 || index >= labels.size()) {
      view.fail(
          fmt::format("expected a {} from 0 to {}, found {}", kind, labels.size() - 1, index));
    }
    return {static_cast<int>(index)};
  }
  const std::string name = view.as_string();
  if (name == "*") {
    std::vector<int> all(static_cast<std::size_t>(labels.size()));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
    return all;
  }
  const std::optional<int> index = labels.find(name);
  if (!index) view.fail(fmt::format("there is no {} \"{}\"", kind, name));
  return {*index};
}

double read_probability(const JsonView& view) {
  const double value = view.as_double();
  if (value < 0.0 || value > 1.0) {
    view.fail(fmt::format("expected a probability, found {}", value));
  }
  return value;
}

void require_size(const JsonView& view, std::size_t size) {
  if (view.size() != size)
    view.fail(fmt::format("{} entries where {} are needed", view.size(), size));
}

class StructureReader {
 public:
  StructureReader(const JsonView& root, const Pomdp& model)
      : root_(root), model_(model), knowledge_(model.num_states(), model.num_actions()) {}

  TransitionKnowledge read() {
    root_.require_keys(kStructureKeys);
    const JsonView format = root_.at("format");
    if (format.as_string() != kStructureFormat) {
      format.fail(
          fmt::format("expected \"{}\", found \"{}\"", kStructureFormat, format.as_string()));
    }
    if (root_.has("transition")) read_table(root_.at("transition"));
    if (root_.has("entries")) each(root_.at("entries"), [&](const JsonView& v) { read_entry(v); });
    if (root_.has("tied")) each(root_.at("tied"), [&](const JsonView& v) { read_tie(v); });
    return std::move(knowledge_);
  }

 private:
  template <class Work>
  static void each(const JsonView& list, const Work& work) {
    for (std::size_t i = 0; i < list.size(); ++i) work(list.at(i));
  }

  void fix(const JsonView& where, int action, int state, int next, double value) {
    try {
      knowledge_.fix(model_, Action{action}, State{state}, State{next}, value);
    } catch (const InvalidArgument& error) {
      where.fail(error.what());
    }
  }

  void read_table(const JsonView& table) {
    require_size(table, static_cast<std::size_t>(model_.num_actions()));
    for (int a = 0; a < model_.num_actions(); ++a) {
      const JsonView matrix = table.at(static_cast<std::size_t>(a));
      require_size(matrix, static_cast<std::size_t>(model_.num_states()));
      for (int s = 0; s < model_.num_states(); ++s) {
        const JsonView row = matrix.at(static_cast<std::size_t>(s));
        require_size(row, static_cast<std::size_t>(model_.num_states()));
        for (int next = 0; next < model_.num_states(); ++next) {
          const JsonView entry = row.at(static_cast<std::size_t>(next));
          if (!entry.json().is_null()) fix(entry, a, s, next, read_probability(entry));
        }
      }
    }
  }

  // [action, state, next, value]
  void read_entry(const JsonView& entry) {
    require_size(entry, 4);
    const double value = read_probability(entry.at(3));
    for (const int a : read_choice(entry.at(0), model_.actions(), "action")) {
      for (const int s : read_choice(entry.at(1), model_.states(), "state")) {
        for (const int next : read_choice(entry.at(2), model_.states(), "state")) {
          fix(entry, a, s, next, value);
        }
      }
    }
  }

  // [[action, state], …]: these rows are all equal.
  void read_tie(const JsonView& rows) {
    std::vector<std::pair<int, int>> equal;
    each(rows, [&](const JsonView& row) {
      require_size(row, 2);
      for (const int a : read_choice(row.at(0), model_.actions(), "action")) {
        for (const int s : read_choice(row.at(1), model_.states(), "state")) {
          equal.emplace_back(a, s);
        }
      }
    });
    if (equal.size() < 2) rows.fail("at least two rows [action, state] are needed");
    for (const auto& [a, s] : equal) {
      knowledge_.tie(Action{equal.front().first}, State{equal.front().second}, Action{a}, State{s});
    }
  }

  const JsonView& root_;
  const Pomdp& model_;
  TransitionKnowledge knowledge_;
};

}  // namespace

TransitionKnowledge parse_structure(std::string_view text, const std::string& file,
                                    const Pomdp& model) {
  const nlohmann::ordered_json document = parse_json(text, file);
  const JsonView root(document, file);
  TransitionKnowledge knowledge = StructureReader(root, model).read();
  try {
    static_cast<void>(TransitionStructure(model, knowledge));
  } catch (const InvalidArgument& error) {
    root.fail(error.what());
  }
  return knowledge;
}

TransitionKnowledge read_structure(const std::string& name, const Pomdp& model) {
  if (!std::filesystem::exists(name)) {
    if (name == kSame) return same_for_all_actions(model.num_states(), model.num_actions());
    if (name == kZeros) {
      OAS_REQUIRE(model.has_transition(), "the model has no transition whose zeros could be taken");
      return zeros_of(model.transition());
    }
    detail::throw_invalid_argument(
        fmt::format("no structure '{}': neither a file, nor {} or {}", name, kZeros, kSame));
  }
  return parse_structure(read_text_file(name), name, model);
}

}  // namespace oas

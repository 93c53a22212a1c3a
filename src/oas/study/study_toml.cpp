#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/problems/named.hpp"
#include "oas/study/caption.hpp"
#include "oas/study/detail/figure_toml.hpp"
#include "oas/study/detail/toml_fields.hpp"
#include "oas/study/instance.hpp"
#include "oas/study/kinds.hpp"
#include "oas/study/study.hpp"
#include "oas/study/summary.hpp"

namespace oas {

namespace {

constexpr std::int64_t kMaxUnits = 100'000;
constexpr std::size_t kMaxTasks = 10'000;
constexpr std::size_t kMaxAxis = 1000;
// Each task holds the text of its model, since its results depend on it.
constexpr std::size_t kMaxModelBytes = std::size_t{128} << 20;
// Beyond this neighbouring integers are one double, and readers of CSV lose the last digits.
constexpr std::int64_t kMaxSeed = std::int64_t{1} << 53;

// One setting with all values that it takes in a sweep, and where it stands in the file.
struct Axis {
  std::string name;
  std::vector<SettingValue> values;
  toml::source_position place;
};

class StudyReader : private detail::TomlFields {
 public:
  StudyReader(std::string_view text, const std::string& file, bool quick)
      : TomlFields(file), text_(text), quick_(quick) {}

  Study read() {
    const toml::table root = parse(text_);
    require_keys(root, "the study",
                 {"format", "name", "title", "question", "claim", "answer", "seed", "replications",
                  "defaults", "sweep", "figure", "agents", "models", "quick", "instead",
                  "expectation", "labels"});
    study_.quick = quick_;
    study_.file = file();
    study_.source = std::string(text_);
    read_head(root);
    read_quick(root);
    read_instead(root);
    read_agents(root);
    if (const toml::table* models = table_of(root, "models")) read_models(*models);
    read_sweeps(root);
    read_labels(root);
    study_.figures = detail::read_figures(root, file(), sweeps_, labels_);
    try {
      check_answer(study_);
      check_captions(study_);
    } catch (const InvalidArgument& error) {
      fail(root["answer"].node(), error.what());
    }
    return std::move(study_);
  }

 private:
  void read_head(const toml::table& root) {
    const std::string format = text_of(root, "format");
    if (format != "oas-study/1") {
      fail(root.get("format"),
           fmt::format("format is '{}'; this program reads oas-study/1", format));
    }
    study_.name = text_of(root, "name");
    if (!detail::is_name(study_.name)) {
      fail(root.get("name"), "name must be of letters, digits, '_', '-' and '.', at most 64");
    }
    study_.title = text_of(root, "title");
    study_.question = text_of(root, "question");
    study_.claim = text_of(root, "claim", "");
    study_.expectation = text_of(root, "expectation", "");
    study_.answer = text_of(root, "answer", "");
    study_.seed = static_cast<std::uint64_t>(integer_of(root, "seed", 1, 0, kMaxSeed));
    study_.replications = integer_of(root, "replications", 10, 1, kMaxUnits);
  }

  // The overrides are checked whether or not they are used.
  void read_quick(const toml::table& root) {
    const toml::table* quick = table_of(root, "quick");
    if (quick == nullptr) {
      if (quick_) fail(&root, "the study has no [quick] table, so there is no quick version");
      return;
    }
    require_keys(*quick, "[quick]", {"replications", "settings", "sweeps", "agents", "only"});
    const std::int64_t replications =
        integer_of(*quick, "replications", study_.replications, 1, kMaxUnits);
    if (quick_) study_.replications = replications;
    quick_settings_ = table_of(*quick, "settings");
    quick_sweeps_ = table_of(*quick, "sweeps");
    quick_agents_ = table_of(*quick, "agents");
    if (const toml::node* only = quick->get("only")) {
      for (std::string& name : list_of(*only, "only")) quick_only_.insert(std::move(name));
    }
  }

  // What whoever runs the study wants otherwise; other settings make it another study.
  void read_instead(const toml::table& root) {
    const toml::table* instead = table_of(root, "instead");
    if (instead == nullptr) return;
    require_keys(*instead, "[instead]", {"replications", "answer", "settings", "only"});
    study_.replications = integer_of(*instead, "replications", study_.replications, 1, kMaxUnits);
    study_.answer = text_of(*instead, "answer", study_.answer);
    instead_settings_ = table_of(*instead, "settings");
    if (const toml::node* only = instead->get("only")) {
      for (std::string& name : list_of(*only, "only")) instead_only_.insert(std::move(name));
    }
  }

  [[nodiscard]] bool left_out(const std::string& sweep) const {
    const bool of_quick = quick_ && !quick_only_.empty() && !quick_only_.contains(sweep);
    return of_quick || (!instead_only_.empty() && !instead_only_.contains(sweep));
  }

  void read_agent_tables(const toml::table& tables) {
    for (const auto& [label, node] : tables) {
      if (!detail::is_name(label.str())) fail(label.source().begin, "a bad name for an agent");
      if (!node.is_table()) fail(&node, fmt::format("agents.{} must be a table", label.str()));
      auto& [settings, place] = agents_[std::string(label.str())];
      place = node.source().begin;
      for (const auto& [key, value] : *node.as_table()) {
        settings.set(std::string(key.str()), scalar_of(value, key.str()));
      }
    }
  }

  void read_agents(const toml::table& root) {
    if (const toml::table* tables = table_of(root, "agents")) read_agent_tables(*tables);
    if (quick_agents_ == nullptr) return;
    const auto full = agents_;
    read_agent_tables(*quick_agents_);
    if (!quick_) agents_ = full;
  }

  // [models.NAME]: what a model file says, in TOML; so a study holds all that its results depend
  // on.
  void read_models(const toml::table& tables) {
    for (const auto& [label, node] : tables) {
      const std::string name(label.str());
      if (!detail::is_name(name)) fail(label.source().begin, "a bad name for a model");
      if (!node.is_table()) fail(&node, fmt::format("models.{} must be a table", name));
      if (find_problem(name) != nullptr) fail(&node, "a named problem is called " + name);
      std::ostringstream text;
      text << toml::json_formatter(*node.as_table());
      TaskSettings settings;
      settings.set(kModelText, text.str());
      try {
        static_cast<void>(model_setting(settings, name));
      } catch (const InvalidArgument& error) {
        fail(&node, error.what());
      }
      models_[name] = text.str();
    }
  }

  [[nodiscard]] SettingValue value_of(const toml::node& node, const TaskSetting& info) const {
    switch (info.type) {
      case SettingType::integer:
        if (const auto value = node.value_exact<std::int64_t>()) return *value;
        break;
      case SettingType::number_or_text:
      case SettingType::number:
        if (const auto value = node.value<double>(); node.is_number() && std::isfinite(*value)) {
          return *value;
        }
        if (info.type == SettingType::number) break;
        [[fallthrough]];
      case SettingType::text:
        if (const auto value = node.value_exact<std::string>(); value && value->size() <= 64) {
          return *value;
        }
        break;
      case SettingType::list:
        return list_of(node, info.name);
    }
    constexpr std::array<const char*, 5> kWanted = {"an integer", "a finite number", "a short text",
                                                    "a finite number or a rule", "a list"};
    fail(&node, fmt::format("{} must be {}, or a list of such values", info.name,
                            kWanted[static_cast<std::size_t>(info.type)]));
  }

  // A list varies; a setting that is itself a list varies as a list of lists.
  [[nodiscard]] Axis axis_of(const toml::key& key, const toml::node& node,
                             const TaskSetting& info) const {
    Axis axis{std::string(key.str()), {}, key.source().begin};
    const toml::array* items = node.as_array();
    const bool nested = items != nullptr && !items->empty() && items->front().is_array();
    if (items == nullptr || (info.type == SettingType::list && !nested)) {
      axis.values.push_back(value_of(node, info));
      return axis;
    }
    if (items->empty() || items->size() > kMaxAxis) {
      fail(&node,
           fmt::format("{} has {} values; 1 to {} can be", key.str(), items->size(), kMaxAxis));
    }
    for (const toml::node& item : *items) axis.values.push_back(value_of(item, info));
    return axis;
  }

  // Adds the settings of a table, replacing those that are there. TaskSettings that this kind does
  // not know are errors in a sweep of its own; in [defaults] they may be meant for other kinds.
  void merge(const toml::table& table, const TaskKind& kind, bool own, std::vector<Axis>& axes) {
    for (const auto& [key, node] : table) {
      if (own && (key.str() == "name" || key.str() == "kind")) continue;
      const auto known = std::ranges::find(kind.settings, key.str(), &TaskSetting::name);
      if (known == kind.settings.end()) {
        if (!own && known_to_any(key.str())) continue;
        std::vector<std::string_view> names;
        for (const TaskSetting& info : kind.settings) names.push_back(info.name);
        fail(key.source().begin, fmt::format("unknown setting '{}' for kind '{}'; known are {}",
                                             key.str(), kind.name, fmt::join(names, ", ")));
      }
      Axis axis = axis_of(key, node, *known);
      const auto old = std::find_if(axes.begin(), axes.end(),
                                    [&](const Axis& a) { return a.name == axis.name; });
      if (old == axes.end()) {
        axes.push_back(std::move(axis));
      } else {
        old->values = std::move(axis.values);
      }
    }
  }

  static bool known_to_any(std::string_view name) {
    const auto kinds = task_kinds();
    return std::any_of(kinds.begin(), kinds.end(), [&](const TaskKind& kind) {
      return std::any_of(kind.settings.begin(), kind.settings.end(),
                         [&](const TaskSetting& info) { return info.name == name; });
    });
  }

  void read_sweeps(const toml::table& root) {
    const toml::node* node = root.get("sweep");
    if (node == nullptr || !node->is_array() || node->as_array()->empty()) {
      fail(node == nullptr ? &root : node, "a study needs at least one [[sweep]]");
    }
    const toml::table* defaults = table_of(root, "defaults");
    for (const toml::node& item : *node->as_array()) {
      if (!item.is_table()) fail(&item, "sweep must be a list of tables [[sweep]]");
      const toml::table& sweep = *item.as_table();
      const std::string name = text_of(sweep, "name");
      if (!detail::is_name(name)) fail(sweep.get("name"), "a bad name for a sweep");
      if (!sweeps_.insert(name).second) fail(sweep.get("name"), "a second sweep of this name");
      const TaskKind& kind = kind_of(sweep);
      std::vector<Axis> axes;
      if (defaults != nullptr) merge(*defaults, kind, false, axes);
      merge(sweep, kind, true, axes);
      note_values(axes);
      if (quick_) merge_quick(name, kind, axes);
      if (instead_settings_ != nullptr) merge(*instead_settings_, kind, false, axes);
      note_values(axes);
      if (!left_out(name)) expand(name, kind, std::move(axes), sweep);
    }
    for (const std::string& name : quick_only_) {
      if (!sweeps_.contains(name)) fail(root["quick"]["only"].node(), "no sweep " + name);
    }
    for (const std::string& name : instead_only_) {
      if (!sweeps_.contains(name)) fail(root["instead"]["only"].node(), "no sweep " + name);
    }
    if (quick_sweeps_ == nullptr) return;
    for (const auto& [name, table] : *quick_sweeps_) {
      if (!sweeps_.contains(std::string(name.str()))) {
        fail(name.source().begin, fmt::format("no sweep is called '{}'", name.str()));
      }
    }
  }

  void merge_quick(const std::string& name, const TaskKind& kind, std::vector<Axis>& axes) {
    if (quick_settings_ != nullptr) merge(*quick_settings_, kind, false, axes);
    if (quick_sweeps_ == nullptr) return;
    if (const toml::table* own = table_of(*quick_sweeps_, name)) merge(*own, kind, true, axes);
  }

  // What settings hold, quick or not: of these labels may speak.
  void note_values(const std::vector<Axis>& axes) {
    for (const Axis& axis : axes) {
      for (const SettingValue& value : axis.values) {
        const auto* list = std::get_if<std::vector<std::string>>(&value);
        if (list != nullptr) values_.insert(list->begin(), list->end());
        if (list == nullptr) values_.insert(to_text(value));
      }
    }
  }

  // A table [agents.NAME] is called by its agent and NAME, unless [labels.agent] says otherwise.
  void read_labels(const toml::table& root) {
    for (const auto& [name, table] : agents_) {
      const std::string agent = table.first.text("agent", name);
      if (agent != name) labels_["agent"][name] = fmt::format("{} ({})", agent, name);
    }
    const toml::table* tables = table_of(root, "labels");
    if (tables == nullptr) return;
    for (const auto& [column, node] : *tables) {
      if (!node.is_table()) fail(&node, fmt::format("labels.{} must be a table", column.str()));
      std::set<std::string> taken;
      for (const auto& [value, words] : *node.as_table()) {
        const std::string name(value.str());
        if (!values_.contains(name)) {
          fail(value.source().begin, fmt::format("no task has the value '{}'", name));
        }
        std::string label = text_of(*node.as_table(), name);
        if (label.empty() || !taken.insert(label).second) {
          fail(&words, fmt::format("the label '{}' is empty, or another's", label));
        }
        labels_[std::string(column.str())][name] = std::move(label);
      }
    }
  }

  void expand(const std::string& sweep, const TaskKind& kind, std::vector<Axis> axes,
              const toml::table& table) {
    // In the order of the file, whatever the order of the parser's map.
    std::stable_sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) {
      return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
    });
    std::vector<std::size_t> at(axes.size(), 0);
    while (true) {
      Task task{sweep, sweep, std::string(kind.name), {}, {}, study_.seed};
      for (std::size_t i = 0; i < axes.size(); ++i) {
        const SettingValue& value = axes[i].values[at[i]];
        task.settings.set(axes[i].name, value);
        if (axes[i].values.size() > 1) task.name += "/" + axes[i].name + "=" + to_text(value);
      }
      add(std::move(task), kind, table);
      std::size_t i = axes.size();
      while (i > 0 && ++at[i - 1] == axes[i - 1].values.size()) at[--i] = 0;
      if (i == 0) return;
    }
  }

  void add(Task task, const TaskKind& kind, const toml::table& table) {
    if (kind.has_agent) {
      const std::string label = task.settings.text("agent", "");
      const auto found = agents_.find(label);
      if (found != agents_.end()) task.agent = found->second.first;
      if (!task.agent.has("agent")) task.agent.set("agent", label);
    }
    const auto own = models_.find(task.settings.text("model", ""));
    if (own != models_.end()) {
      model_bytes_ += own->second.size();
      if (model_bytes_ > kMaxModelBytes) {
        fail(&table,
             fmt::format("the models of all tasks take more than {} bytes; model {} takes {}",
                         kMaxModelBytes, own->first, own->second.size()));
      }
      task.settings.set(kModelText, own->second);
    }
    try {
      kind.check(task);
    } catch (const InvalidArgument& error) {
      fail(&table, fmt::format("task {}: {}", task.name, error.what()));
    }
    if (!names_.insert(task.name).second) fail(&table, "two tasks are called " + task.name);
    study_.tasks.push_back(std::move(task));
    if (study_.tasks.size() > kMaxTasks || study_.num_units() > kMaxUnits) {
      fail(&table,
           fmt::format("more than {} tasks, or {} tasks times replications", kMaxTasks, kMaxUnits));
    }
  }

  std::string_view text_;
  bool quick_;
  Study study_;
  const toml::table* quick_settings_ = nullptr;
  const toml::table* quick_sweeps_ = nullptr;
  const toml::table* quick_agents_ = nullptr;
  const toml::table* instead_settings_ = nullptr;
  std::set<std::string> quick_only_;
  std::set<std::string> instead_only_;
  std::map<std::string, std::pair<TaskSettings, toml::source_position>> agents_;
  std::map<std::string, std::string> models_;
  std::size_t model_bytes_ = 0;  // of all tasks
  std::set<std::string> sweeps_;
  std::set<std::string> names_;
  std::set<std::string> values_;
  detail::Labels labels_;
};

}  // namespace

Study parse_study(std::string_view text, const std::string& file, bool quick) {
  return StudyReader(text, file, quick).read();
}

}  // namespace oas

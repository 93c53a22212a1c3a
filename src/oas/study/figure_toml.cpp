#include "oas/study/detail/figure_toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "oas/study/detail/toml_fields.hpp"
#include "oas/study/kinds.hpp"
#include "oas/study/result_table.hpp"

namespace oas::detail {

namespace {

class FigureReader : private TomlFields {
 public:
  FigureReader(const std::string& file, const std::set<std::string>& sweeps, const Labels& labels)
      : TomlFields(file), sweeps_(sweeps), labels_(labels) {}

  [[nodiscard]] std::vector<FigureSpec> read(const toml::table& root) const {
    const toml::node* node = root.get("figure");
    if (node == nullptr) return {};
    if (!node->is_array()) fail(node, "figure must be a list of tables [[figure]]");
    std::vector<FigureSpec> figures;
    std::set<std::string> names;
    for (const toml::node& item : *node->as_array()) {
      if (!item.is_table()) fail(&item, "figure must be a list of tables [[figure]]");
      FigureSpec figure = figure_of(*item.as_table());
      if (!is_name(figure.name) || !names.insert(figure.name).second) {
        fail(&item, fmt::format("a bad or second figure name '{}'", figure.name));
      }
      figures.push_back(std::move(figure));
    }
    return figures;
  }

 private:
  [[nodiscard]] FigureSpec figure_of(const toml::table& table) const {
    require_keys(table, "[[figure]]",
                 {"name", "title", "caption", "kind", "sweep", "x", "y", "series", "panel", "where",
                  "last", "log", "panel_label", "x_label", "y_label", "predicted", "fit_decades",
                  "interval", "paired"});
    FigureSpec figure;
    figure.name = text_of(table, "name");
    figure.title = text_of(table, "title");
    figure.caption = text_of(table, "caption", "");
    figure.kind = kind_of(table).name;
    figure.sweep = text_of(table, "sweep", "");
    if (!figure.sweep.empty() && !sweeps_.contains(figure.sweep)) {
      fail(table.get("sweep"), fmt::format("no sweep is called '{}'", figure.sweep));
    }
    figure.x = column_of(table, "x", std::nullopt);
    figure.y = column_of(table, "y", std::nullopt);
    figure.series = column_of(table, "series", std::nullopt);
    figure.panel = column_of(table, "panel", "");
    if (const auto found = labels_.find(figure.series); found != labels_.end()) {
      figure.labels = found->second;
    }
    if (const toml::table* where = table_of(table, "where")) {
      for (const auto& [key, value] : *where) {
        check_column(table, key.str(), key.source().begin);
        figure.where[std::string(key.str())] = texts_of(value, key.str());
      }
    }
    figure.last = flag_of(table, "last", false);
    figure.panel_label = text_of(table, "panel_label", figure.panel);
    figure.x_label = text_of(table, "x_label", figure.x);
    figure.y_label = text_of(table, "y_label", figure.y);
    figure.predicted = number_of(table, "predicted");
    figure.fit_decades = number_of(table, "fit_decades");
    read_drawing(table, figure);
    figure.paired = text_of(table, "paired", "");
    return figure;
  }

  void read_drawing(const toml::table& table, FigureSpec& figure) const {
    const std::string log = text_of(table, "log", "xy");
    if (log != "" && log != "x" && log != "y" && log != "xy") {
      fail(table.get("log"), R"(log must be "", "x", "y" or "xy")");
    }
    figure.log_x = log.find('x') != std::string::npos;
    figure.log_y = log.find('y') != std::string::npos;
    const std::string interval = text_of(table, "interval", "student");
    if (interval != "student" && interval != "bootstrap") {
      fail(table.get("interval"), R"(interval must be "student" or "bootstrap")");
    }
    figure.bootstrap = interval == "bootstrap";
  }

  // One scalar or several.
  [[nodiscard]] std::vector<std::string> texts_of(const toml::node& node,
                                                  std::string_view key) const {
    if (!node.is_array()) return {to_text(scalar_of(node, key))};
    std::vector<std::string> texts;
    for (const toml::node& item : *node.as_array()) texts.push_back(to_text(scalar_of(item, key)));
    return texts;
  }

  [[nodiscard]] std::string column_of(const toml::table& table, std::string_view key,
                                      std::optional<std::string> fallback) const {
    std::string name = text_of(table, key, std::move(fallback));
    if (!name.empty()) check_column(table, name, table.get(key)->source().begin);
    return name;
  }

  void check_column(const toml::table& table, std::string_view name,
                    const toml::source_position& place) const {
    const TaskKind& kind = kind_of(table);
    const auto has = [&](const auto& columns) {
      return std::find(std::begin(columns), std::end(columns), name) != std::end(columns);
    };
    if (has(kind.columns) || has(kKeyColumns)) return;
    fail(place, fmt::format("kind '{}' has no column '{}'; there are {}, {}", kind.name, name,
                            fmt::join(kKeyColumns, ", "), fmt::join(kind.columns, ", ")));
  }

  const std::set<std::string>& sweeps_;
  const Labels& labels_;
};

}  // namespace

std::vector<FigureSpec> read_figures(const toml::table& root, const std::string& file,
                                     const std::set<std::string>& sweeps, const Labels& labels) {
  return FigureReader(file, sweeps, labels).read(root);
}

}  // namespace oas::detail

#include "oas/report/report_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "oas/core/markup.hpp"
#include "oas/core/version.hpp"
#include "oas/figures/html_page.hpp"
#include "oas/figures/page_cells.hpp"
#include "oas/planning/simplex_figure.hpp"
#include "oas/report/belief_figure.hpp"
#include "oas/report/plan_words.hpp"
#include "oas/report/residual_figure.hpp"
#include "oas/report/survival_figure.hpp"
#include "oas/report/transition_figure.hpp"

namespace oas {

namespace {

constexpr std::size_t kMostCurves = 6;
constexpr double kStrange = 4.0;  // standard deviations of a residual, for one of up to thousands

std::string paragraph(std::string_view words, std::string_view css = {}) {
  return css.empty() ? fmt::format("<p>{}</p>\n", escape_markup(words))
                     : fmt::format("<p class=\"{}\">{}</p>\n", css, escape_markup(words));
}

std::string figure(const std::string& svg, std::string_view caption) {
  return fmt::format(
      "<figure><div class=\"scroll\">{}</div>\n<figcaption>{}</figcaption></figure>\n", svg,
      escape_markup(caption));
}

std::string section(std::string_view id, std::string_view title, const std::string& body) {
  return fmt::format("<section id=\"{}\"><h2>{}</h2>\n{}</section>\n", id, escape_markup(title),
                     body);
}

std::string joined(const Labels& labels, const auto& indices) {
  std::vector<std::string> names;
  for (const auto index : indices) names.push_back(labels[index]);
  return fmt::format("{}", fmt::join(names, ", "));
}

class Page {
 public:
  explicit Page(const ReportContents& contents)
      : contents_(contents), model_(chain_of(contents.model)) {}

  [[nodiscard]] std::string text() const {
    std::string body = header() + "<main>\n" + forecast() + plan() + dynamics() + units() + fit() +
                       facts() + "</main>\n";
    return html_page(contents_.title, body);
  }

 private:
  [[nodiscard]] std::string header() const {
    const LogReview& review = contents_.review;
    std::string text = fmt::format("<header><p class=\"soft\">oas report</p>\n<h1>{}</h1>\n",
                                   escape_markup(contents_.title));
    text += paragraph(fmt::format(
        "{} rows of {} in {}; {} of them without a reading.", review.rows,
        review.units == 1 ? "one unit" : fmt::format("{} units", review.units), contents_.log,
        review.missing == 0 ? "none" : fmt::format("{}", review.missing)));
    if (!contents_.forecasts.empty()) text += paragraph(headline(), "answer");
    if (contents_.plan) {
      for (const std::string& answer : words_of(*contents_.plan).answer) {
        text += paragraph(answer, "answer");
      }
    }
    for (const std::string& warning : warnings()) text += paragraph(warning, "answer warning");
    return text + "</header>\n";
  }

  [[nodiscard]] std::vector<std::string> warnings() const {
    std::vector<std::string> result;
    if (contents_.estimate) result = for_people(contents_.estimate->warnings);
    if (contents_.review.impossible > 0) {
      result.push_back(
          fmt::format("{} rows have probability 0 under this model: the model or the "
                      "log is wrong.",
                      contents_.review.impossible));
    }
    return result;
  }

  [[nodiscard]] bool limits() const {
    return !contents_.forecasts.empty() && !contents_.forecasts.front().lower.states.empty();
  }
  [[nodiscard]] bool reaches() const { return !contents_.question.reach.empty(); }
  [[nodiscard]] std::string reached() const {
    return joined(model_.states(), contents_.question.reach);
  }

  // "0.86 (0.78 to 0.92)"
  [[nodiscard]] std::string share(const UnitForecast& unit) const {
    const double middle = 1.0 - unit.middle.survival.back();
    if (!limits()) return fmt::format("{:.2f}", middle);
    return fmt::format("{:.2f} ({:.2f} to {:.2f})", middle, 1.0 - unit.upper.survival.back(),
                       1.0 - unit.lower.survival.back());
  }

  // "21.4 (3.7 to never)"
  [[nodiscard]] std::string mean_steps(const UnitForecast& unit) const {
    constexpr const char* kFormat = "{:.1f}";
    const std::string middle = mean_steps_words(unit.middle, kFormat);
    if (!limits()) return middle;
    return fmt::format("{} ({} to {})", middle, steps_words(unit.lower.mean_steps, kFormat),
                       steps_words(unit.upper.mean_steps, kFormat));
  }

  [[nodiscard]] std::string headline() const {
    const UnitForecast& first = contents_.forecasts.front();
    const std::string under = joined(model_.actions(), contents_.question.schedule);
    if (!reaches()) {
      return fmt::format("Forecasts for {} steps under {}.", contents_.question.steps, under);
    }
    const auto there = std::count_if(contents_.forecasts.begin(), contents_.forecasts.end(),
                                     [](const UnitForecast& unit) { return unit.is_there(); });
    if (first.is_there()) return fmt::format("All units are probably in {} now.", reached());
    return fmt::format(
               "Under {}, unit {} is the most likely one to reach {} within {} steps: probability "
               "{}.",
               under, first.unit, reached(), contents_.question.steps, share(first)) +
           (there == 0 ? ""
                       : fmt::format(" {} {} probably there already.", there,
                                     there == 1 ? "unit is" : "units are"));
  }

  [[nodiscard]] std::string forecast() const {
    if (contents_.forecasts.empty()) return {};
    std::string text = "<div class=\"scroll\"><table class=\"sortable\"><thead><tr>" +
                       head_cell("unit", true) + head_cell("rows") +
                       head_cell("likeliest now", true) + head_cell("probability");
    if (reaches()) {
      text += head_cell(fmt::format("reaches {} within {}", reached(), contents_.question.steps)) +
              head_cell("mean steps");
    }
    text += "</tr></thead>\n<tbody>\n";
    for (const UnitForecast& unit : contents_.forecasts) text += forecast_row(unit);
    text += "</tbody></table></div>\n";
    if (reaches()) {
      const auto shown = std::min(kMostCurves, contents_.forecasts.size());
      text = figure(survival_svg(std::span(contents_.forecasts).first(shown), reached()),
                    fmt::format("Probability that {} has not been reached, for the units most at "
                                "risk{}.",
                                reached(),
                                limits() ? fmt::format("; bands hold the truth in {:g} % of cases, "
                                                       "as far as the dynamics are uncertain",
                                                       100.0 * contents_.confidence)
                                         : "")) +
             text;
    }
    return section("forecast", "What is to come", text);
  }

  [[nodiscard]] std::string forecast_row(const UnitForecast& unit) const {
    const auto belief = unit.belief(model_.num_states());
    const auto best = std::max_element(belief.begin(), belief.end());
    std::string text = "<tr>" + text_cell(unit.unit) + number_cell(static_cast<double>(unit.rows)) +
                       text_cell(model_.states()[static_cast<int>(best - belief.begin())]) +
                       fmt::format("<td data-value=\"{}\">{:.2f}</td>", *best, *best);
    if (reaches()) {
      text += fmt::format("<td data-value=\"{}\">{}</td>", 1.0 - unit.middle.survival.back(),
                          share(unit));
      const double mean = unit.middle.mean_steps;
      text += fmt::format("<td data-value=\"{}\">{}</td>",
                          std::isfinite(mean) ? fmt::format("{}", mean) : "", mean_steps(unit));
    }
    return text + "</tr>\n";
  }

  [[nodiscard]] std::string plan() const {
    if (!contents_.plan) return {};
    const Plan& plan = *contents_.plan;
    std::string text;
    for (const std::string& detail : words_of(plan).details) text += paragraph(detail);
    for (const std::string& warning : plan.warnings) text += paragraph(warning, "answer warning");
    double shown = 0.0;
    for (const VisitedBelief& visited : contents_.policy) shown += visited.share;
    text +=
        figure(policy_svg(plan.model, contents_.policy),
               fmt::format("What the plan does: for each action the beliefs at which it is taken "
                           "most often, {:.0f} % of the time together.",
                           100.0 * shown));
    const int states = plan.model.num_states();
    if (states == 2 || states == 3) {
      text += figure(policy_figure_svg(plan),
                     "The plan over all beliefs: regions of its actions, and its bias.");
    }
    return section("plan", "What to do", text);
  }

  [[nodiscard]] std::string dynamics() const {
    std::string text;
    for (int a = 0; a < model_.num_actions(); ++a) {
      const Action action{a};
      text += fmt::format("<h3>{}</h3>\n", escape_markup(model_.actions()[action]));
      text += paragraph(fmt::format("{} rows of the log.",
                                    contents_.review.rows_of_action[static_cast<std::size_t>(a)]),
                        "soft");
      text += "<div class=\"pair\">\n";
      text += figure(transition_matrix_svg(model_, contents_.estimate, action),
                     contents_.estimate
                         ? fmt::format("Probability of every next state, with its {:g} % interval.",
                                       100.0 * contents_.estimate->confidence)
                         : "Probability of every next state.");
      const std::string graph = state_graph_svg(model_, contents_.estimate, action);
      if (!graph.empty()) {
        text += figure(graph,
                       "The same as arrows; transitions below 0.01, and those below 0.05 "
                       "that may be impossible, are left out.");
      }
      text += "</div>\n";
    }
    return section("dynamics", "How it moves", text);
  }

  [[nodiscard]] std::string units() const {
    if (contents_.review.histories.empty()) return {};
    return section(
        "units", "What happened",
        figure(belief_history_svg(model_, contents_.review.histories),
               "Probability of every state along the rows of a unit, given all its rows; "
               "below it the actions, but for the commonest one."));
  }

  [[nodiscard]] std::string fit_of_readings() const {
    const std::vector<ReadingPlaces>& places = contents_.review.places;
    if (places.empty()) return {};
    std::string text;
    for (const ReadingPlaces& one : places) {
      const std::string words = misfit_words(one, places.size() * one.counts.size());
      if (!words.empty()) text += paragraph(words, "answer warning");
    }
    if (text.empty()) {
      text = paragraph(
          "The readings lie where the model lets expect them: all bars stay within "
          "their band.");
    }
    text += figure(
        reading_places_svg(places),
        "Where each reading fell within what the rows before let expect: far left, lower than "
        "nearly all that was predicted; far right, higher. Bars of one height (the line) where the "
        "model is right; all of them stay in the grey band in 95 of 100 logs then" +
            std::string(places.front().widening > 1.0
                            ? ", densities being known from labelled rows only."
                            : "."));
    return section("fit", "Does the model fit?", text);
  }

  [[nodiscard]] std::string fit() const {
    if (contents_.review.residuals.empty()) return fit_of_readings();
    const auto& residuals = contents_.review.residuals;
    const auto strange = std::count_if(residuals.begin(), residuals.end(), [](const auto& cell) {
      return std::abs(cell.score()) > kStrange;
    });
    std::string text =
        strange == 0
            ? paragraph("No observation is more or less frequent than the model lets expect.")
            : paragraph(fmt::format("{} of {} frequencies lie more than four standard deviations "
                                    "from what the model lets expect.",
                                    strange, residuals.size()),
                        "answer warning");
    text += figure(residual_svg(model_, residuals),
                   "How often each observation was seen under each action, against what the rows "
                   "before let expect, in standard deviations.");
    return section("fit", "Does the model fit?", text);
  }

  [[nodiscard]] std::string facts() const {
    const auto row = [](std::string_view name, std::string_view value) {
      return fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", escape_markup(name),
                         escape_markup(value));
    };
    const std::string model =
        std::visit([](const auto& any) { return any.brief(); }, contents_.model);
    std::string text =
        "<table class=\"facts\">\n" + row("model", model) + row("log", contents_.log);
    if (contents_.estimate) text += row("estimate", contents_.estimate->brief());
    if (contents_.plan) text += row("plan", words_of(*contents_.plan).fact);
    text += row("version", version());
    return section("facts", "How it was made", text + "</table>\n");
  }

  const ReportContents& contents_;
  const Pomdp& model_;
};

}  // namespace

std::string report_page(const ReportContents& contents) { return Page(contents).text(); }

}  // namespace oas

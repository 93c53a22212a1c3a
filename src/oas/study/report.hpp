#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oas/study/kinds.hpp"
#include "oas/study/result_store.hpp"
#include "oas/study/summary.hpp"

namespace oas {

/// What a report wrote.
struct Report {
  std::string page;  ///< path of report.html
  /// The answer in one sentence; empty where results are missing that it speaks of.
  std::string answer;
  std::int64_t tasks = 0;          ///< of the study
  std::int64_t missing = 0;        ///< those that are not finished
  std::vector<std::string> files;  ///< all files written
  /// Empty, or why there are no PNG and PDF files beside the SVG ones.
  std::string pictures_missing;
};

/// All rows of every kind as KIND.csv in the store's folder; returns the paths.
std::vector<std::string> write_csv(const ResultStore& store);

/// Writes, into the store's folder and from what is stored alone: the CSV files, points.csv and
/// curves.csv (the numbers in the figures), figures/NAME.svg, .png and .pdf, what a kind adds of
/// its own, and report.html, one page that holds everything and asks for nothing else. Throws as
/// the store and as AtomicFile do.
[[nodiscard]] Report write_report(const ResultStore& store);

/// Tasks that are not finished.
[[nodiscard]] std::int64_t missing_tasks(const ResultStore& store);

/// The study's answer (answer_text); nothing where an unfinished study has no data for some of its
/// numbers.
[[nodiscard]] std::string answer_so_far(const ResultStore& store,
                                        const std::vector<FigureData>& figures);

/// The page's text.
[[nodiscard]] std::string report_html(const ResultStore& store,
                                      const std::vector<FigureData>& figures,
                                      const std::vector<KindReport>& parts = {});

}  // namespace oas

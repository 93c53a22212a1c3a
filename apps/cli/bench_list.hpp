#pragma once

#include <string>
#include <vector>

#include "cli.hpp"
#include "oas/core/settings.hpp"
#include "oas/study/bench.hpp"

namespace oas::cli {

/// The study of the benchmark, and the list of its instances beside it.
struct BenchFiles {
  /// In that folder; empty: where studies are found.
  explicit BenchFiles(const std::string& folder);

  /// The list, of just these instances. Throws InvalidArgument where it is of others.
  [[nodiscard]] BenchList known_list() const;

  std::string study;
  std::string list;
  std::string text;
  std::vector<Task> instances;
};

/// What `oas bench list` was told.
struct BenchListArguments {
  Common common;
  bool again = false;
  double gap = 1e-5;
  std::string output;
  std::string files;

  template <class Fields>
  void visit(Fields& fields) {
    fields("again", again, "find the best policies again (minutes) instead of reading the list");
    fields("gap", gap, {kAboveZero},
           "precision of the best gains, as a part of the range of rewards");
  }
};

/// Prints the instances and what can be earned in them.
void show_bench_list(const BenchListArguments& options);

}  // namespace oas::cli

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "oas/model/pomdp.hpp"
#include "oas/model/state_split.hpp"

/// What the readers and writers of model files share.
namespace oas {

struct ModelReadOptions {
  /// Accepts the dialects found in public files (docs/reference/formats.md), each with a warning
  /// that names the line. Otherwise a file is read as its reference parser reads it.
  bool lenient = false;
  /// Largest table, in numbers: A·S·S transitions, A·S·O observations. Wildcards may write 5 times
  /// as many entries. A file that needs more is refused with an error that names the limit.
  std::size_t max_numbers = 50'000'000;
};

/// A model from a file, and what the reader had to say about it ("file:line: …").
struct ReadModel {
  Pomdp model;
  std::vector<std::string> warnings;
  StateSplit split = {};  ///< of POMDPX files with fully observed variables, else empty
};

/// The text of a model, and what the format could not carry over as it was.
struct WrittenModel {
  std::string text;
  std::vector<std::string> warnings;
};

}  // namespace oas

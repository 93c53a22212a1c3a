#pragma once

#include <string>

/// A study that takes milliseconds, for the tests of this folder.
namespace oas::test {

inline std::string small_study(const std::string& sweep_lines = "", int replications = 3) {
  return R"toml(format = "oas-study/1"
name = "small"
title = "A small study"
question = "Does it work?"
answer = "Slope {error.slope.median}, {error.count} curves."
seed = 7
replications = )toml" +
         std::to_string(replications) + R"toml(

[defaults]
candidates = 5
pairs = 2000
first_pairs = 100
per_decade = 2

[[sweep]]
name = "a"
kind = "estimation"
size = ["2x2x2", "3x2x4"]
iota = ["1/(10A)", 0.25]
)toml" + sweep_lines +
         R"toml(
[[figure]]
name = "error"
title = "Error"
kind = "estimation"
x = "pairs"
y = "error"
series = "size"
panel = "iota_rule"
predicted = -0.5

[quick]
replications = 1
[quick.settings]
size = "2x2x2"
)toml";
}

}  // namespace oas::test

#pragma once

#include <string>
#include <string_view>

#include "oas/formats/detail/faults.hpp"

/// The words of a .pomdp text. No allocation; a token is a view of the text.
namespace oas::detail {

enum class Word {
  end,
  integer,
  real,
  name,
  star,
  colon,
  plus,
  minus,
  bad,  // a byte that starts no word
  // reserved words
  discount,
  values,
  states,
  actions,
  observations,
  transition,   // T
  observation,  // O
  reward_spec,  // R
  uniform,
  identity,
  reward,
  cost,
  start,
  include,
  exclude,
  reset
};

struct Token {
  Word word = Word::end;
  std::string_view text;
  double number = 0.0;  // of integer and real; infinite when it is too large
  long line = 1;
  long column = 1;

  [[nodiscard]] bool is(Word w) const { return word == w; }
  [[nodiscard]] bool is_number() const { return word == Word::integer || word == Word::real; }
  [[nodiscard]] Place place() const { return {line, column}; }
};

/// Splits a text into tokens, one at a time. `point_first`: also takes .5 for a number.
class PomdpLexer {
 public:
  PomdpLexer(std::string_view text, bool point_first);

  [[nodiscard]] Token next();

  /// Whether the text is a name of the grammar and not reserved.
  [[nodiscard]] static bool is_name(std::string_view text);

 private:
  void skip_space();
  void read_number(Token& token);
  void read_name(Token& token);

  const char* at_;
  const char* end_;
  const char* line_start_;
  long line_ = 1;
  bool point_first_;
};

/// How a token is called in messages: "'abc'", "the end of the file".
[[nodiscard]] std::string found(const Token& token);
/// A name for messages: its first 40 characters.
[[nodiscard]] std::string shortened(std::string_view name);

}  // namespace oas::detail

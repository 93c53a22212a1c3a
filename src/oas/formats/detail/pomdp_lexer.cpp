#include "oas/formats/detail/pomdp_lexer.hpp"

#include <fmt/format.h>

#include <array>

#include "oas/core/number_text.hpp"

namespace oas::detail {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool continues_name(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '-'; }

struct Reserved {
  std::string_view text;
  Word word;
};

constexpr std::array<Reserved, 16> kReserved = {{{"O", Word::observation},
                                                 {"T", Word::transition},
                                                 {"R", Word::reward_spec},
                                                 {"discount", Word::discount},
                                                 {"values", Word::values},
                                                 {"states", Word::states},
                                                 {"actions", Word::actions},
                                                 {"observations", Word::observations},
                                                 {"uniform", Word::uniform},
                                                 {"identity", Word::identity},
                                                 {"reward", Word::reward},
                                                 {"cost", Word::cost},
                                                 {"start", Word::start},
                                                 {"include", Word::include},
                                                 {"exclude", Word::exclude},
                                                 {"reset", Word::reset}}};

Word word_of(std::string_view text) {
  for (const Reserved& reserved : kReserved) {
    if (reserved.text == text) return reserved.word;
  }
  return Word::name;
}

}  // namespace

PomdpLexer::PomdpLexer(std::string_view text, bool point_first)
    : at_(text.data()),
      end_(text.data() + text.size()),
      line_start_(text.data()),
      point_first_(point_first) {}

void PomdpLexer::skip_space() {
  for (; at_ < end_; ++at_) {
    const char c = *at_;
    if (c == '\n') {
      ++line_;
      line_start_ = at_ + 1;
    } else if (c == '#') {
      while (at_ + 1 < end_ && at_[1] != '\n') ++at_;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      return;
    }
  }
}

Token PomdpLexer::next() {
  skip_space();
  Token token;
  token.line = line_;
  token.column = at_ - line_start_ + 1;
  if (at_ == end_) return token;
  const char c = *at_;
  if (is_digit(c) || (c == '.' && point_first_)) {
    read_number(token);
    return token;
  }
  if (is_letter(c)) {
    read_name(token);
    return token;
  }
  token.word = c == ':'   ? Word::colon
               : c == '*' ? Word::star
               : c == '-' ? Word::minus
               : c == '+' ? Word::plus
                          : Word::bad;
  token.text = {at_, 1};
  ++at_;
  return token;
}

void PomdpLexer::read_number(Token& token) {
  const ScannedNumber number = scan_number(at_, end_, point_first_);
  if (number.end == at_) {  // a point without digits
    token.word = Word::bad;
    token.text = {at_, 1};
    ++at_;
    return;
  }
  token.word = number.is_integer ? Word::integer : Word::real;
  token.number = number.value;
  token.text = {at_, static_cast<std::size_t>(number.end - at_)};
  at_ = number.end;
}

void PomdpLexer::read_name(Token& token) {
  const char* begin = at_;
  while (at_ < end_ && continues_name(*at_)) ++at_;
  token.text = {begin, static_cast<std::size_t>(at_ - begin)};
  token.word = word_of(token.text);
}

bool PomdpLexer::is_name(std::string_view text) {
  if (text.empty() || !is_letter(text.front())) return false;
  for (const char c : text) {
    if (!continues_name(c)) return false;
  }
  return word_of(text) == Word::name;
}

std::string found(const Token& token) {
  if (token.is(Word::end)) return "the end of the file";
  if (token.is(Word::bad)) {
    const auto byte = static_cast<unsigned char>(token.text.front());
    if (byte < 0x20 || byte >= 0x7f) return fmt::format("the byte 0x{:02x}", byte);
  }
  return fmt::format("'{}'", shortened(token.text));
}

std::string shortened(std::string_view name) {
  constexpr std::size_t kLongest = 40;
  if (name.size() <= kLongest) return std::string(name);
  return fmt::format("{}…", name.substr(0, kLongest));
}

}  // namespace oas::detail

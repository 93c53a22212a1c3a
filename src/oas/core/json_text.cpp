#include "oas/core/json_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kMaxDepth = 64;
constexpr std::size_t kMaxKeys = 4096;

struct Position {
  long line = 1;
  long column = 1;
};

Position position_of(std::string_view text, std::size_t byte) {
  Position position;
  for (std::size_t i = 0; i < std::min(byte, text.size()); ++i) {
    if (text[i] == '\n') {
      ++position.line;
      position.column = 1;
    } else {
      ++position.column;
    }
  }
  return position;
}

// Walks over the text and remembers how far the parser has read, so that a callback knows where it
// is.
class ReadingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  ReadingIterator(const char* at, const char** read) : at_(at), read_(read) {}
  reference operator*() const { return *at_; }
  ReadingIterator& operator++() {
    *read_ = ++at_;
    return *this;
  }
  friend bool operator==(const ReadingIterator& a, const ReadingIterator& b) {
    return a.at_ == b.at_;
  }

 private:
  const char* at_;
  const char** read_;
};

// nlohmann's message without its prefix "[json.exception…] parse error at line …: ".
std::string plain_message(const Json::parse_error& error) {
  const std::string_view text = error.what();
  const auto start = text.find("syntax error");
  return std::string(start == std::string_view::npos ? text : text.substr(start));
}

// The number in nlohmann's "number overflow parsing '1e999'".
std::string_view quoted_in(std::string_view message) {
  const auto first = message.find('\'');
  const auto last = message.rfind('\'');
  return first < last ? message.substr(first + 1, last - first - 1) : std::string_view();
}

std::string shortened(std::string text) {
  constexpr std::size_t kLongest = 60;
  return text.size() > kLongest ? text.substr(0, kLongest) + "…" : text;
}

bool is_flat_array(const Json& value) {
  return value.is_array() && std::none_of(value.begin(), value.end(),
                                          [](const Json& item) { return item.is_structured(); });
}

std::string plain_dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void dump(const Json& value, int indent, std::string& out) {
  if (!value.is_structured() || value.empty()) {
    out += plain_dump(value);
    return;
  }
  if (is_flat_array(value)) {
    out += '[';
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (i > 0) out += ", ";
      out += plain_dump(value[i]);
    }
    out += ']';
    return;
  }
  const bool is_object = value.is_object();
  const std::string inner(static_cast<std::size_t>(indent) + 2, ' ');
  out += is_object ? "{\n" : "[\n";
  std::size_t written = 0;
  for (const auto& item : value.items()) {
    out += inner;
    if (is_object) out += plain_dump(Json(item.key())) + ": ";
    dump(item.value(), indent + 2, out);
    out += ++written < value.size() ? ",\n" : "\n";
  }
  out += std::string(static_cast<std::size_t>(indent), ' ');
  out += is_object ? '}' : ']';
}

}  // namespace

Json parse_json(std::string_view text, const std::string& file) {
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
    const Position position = position_of(text, zero);  // to the parser it would be the end
    throw ParseError(file, position.line, position.column, "a byte that is 0");
  }
  std::vector<std::set<std::string>> keys;
  const char* read = text.data();
  const auto fail_here = [&](std::string_view message) {
    const auto bytes = static_cast<std::size_t>(read - text.data());
    const Position position = position_of(text, bytes == 0 ? 0 : bytes - 1);
    throw ParseError(file, position.line, position.column, message);
  };
  const auto check_key = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > kMaxDepth) fail_here("nested more than 64 levels deep");
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key &&
        !keys.back().insert(parsed.get_ref<const std::string&>()).second) {
      fail_here(fmt::format("key {} is given twice", parsed.dump()));
    }
    if (!keys.empty() && keys.back().size() > kMaxKeys) {
      fail_here("more than 4096 keys in one object");
    }
    return true;
  };
  try {
    return Json::parse(ReadingIterator(text.data(), &read),
                       ReadingIterator(text.data() + text.size(), &read), check_key);
  } catch (const Json::parse_error& error) {
    const Position position = position_of(text, error.byte == 0 ? 0 : error.byte - 1);
    throw ParseError(file, position.line, position.column, plain_message(error));
  } catch (const Json::out_of_range& error) {
    const std::string_view number = quoted_in(error.what());
    const auto bytes = static_cast<std::size_t>(read - text.data());
    const Position position = position_of(text, text.substr(0, bytes).rfind(number));
    throw ParseError(file, position.line, position.column,
                     fmt::format("the number {} is too large", shortened(std::string(number))));
  }
}

std::string dump_json(const Json& value) {
  std::string out;
  dump(value, 0, out);
  out += '\n';
  return out;
}

JsonView::JsonView(const Json& root, std::string file)
    : JsonView(root, std::move(file), std::string("$")) {}

JsonView::JsonView(const Json& value, std::string file, std::string path)
    : value_(&value), file_(std::move(file)), path_(std::move(path)) {}

void JsonView::fail(std::string_view message) const {
  throw ParseError(file_, 0, 0, fmt::format("{}: {}", path_, message));
}

std::string JsonView::found() const {
  return shortened(value_->is_structured() ? std::string(value_->type_name())
                                           : plain_dump(*value_));
}

void JsonView::require_keys(std::span<const std::string_view> allowed) const {
  if (!value_->is_object()) fail(fmt::format("expected an object, found {}", found()));
  for (const auto& item : value_->items()) {
    if (std::find(allowed.begin(), allowed.end(), item.key()) == allowed.end()) {
      fail(fmt::format("unknown key \"{}\"; known are {}", item.key(), fmt::join(allowed, ", ")));
    }
  }
}

bool JsonView::has(std::string_view key) const {
  return value_->is_object() && value_->contains(key);
}

JsonView JsonView::at(std::string_view key) const {
  if (!value_->is_object()) fail(fmt::format("expected an object, found {}", found()));
  const auto item = value_->find(key);
  if (item == value_->end()) fail(fmt::format("key \"{}\" is missing", key));
  return {*item, file_, fmt::format("{}.{}", path_, key)};
}

JsonView JsonView::at(std::size_t index) const {
  if (index >= size()) fail(fmt::format("element {} is missing", index));
  return {(*value_)[index], file_, fmt::format("{}[{}]", path_, index)};
}

bool JsonView::is_string() const { return value_->is_string(); }
bool JsonView::is_array() const { return value_->is_array(); }
bool JsonView::is_number() const { return value_->is_number(); }

std::size_t JsonView::size() const {
  if (!value_->is_array()) fail(fmt::format("expected an array, found {}", found()));
  return value_->size();
}

std::string JsonView::as_string() const {
  if (!value_->is_string()) fail(fmt::format("expected a string, found {}", found()));
  return value_->get<std::string>();
}

double JsonView::as_double() const {
  if (!value_->is_number()) fail(fmt::format("expected a number, found {}", found()));
  const double number = value_->get<double>();
  if (!std::isfinite(number)) fail(fmt::format("expected a finite number, found {}", found()));
  return number;
}

long JsonView::as_integer() const {
  if (!value_->is_number_integer()) fail(fmt::format("expected an integer, found {}", found()));
  if (value_->is_number_unsigned() &&
      value_->get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<long>::max())) {
    fail(fmt::format("expected an integer below 2^63, found {}", found()));
  }
  return value_->get<long>();
}

bool JsonView::as_bool() const {
  if (!value_->is_boolean()) fail(fmt::format("expected true or false, found {}", found()));
  return value_->get<bool>();
}

std::vector<std::string> JsonView::as_strings() const {
  std::vector<std::string> strings(size());
  for (std::size_t i = 0; i < strings.size(); ++i) strings[i] = at(i).as_string();
  return strings;
}

std::vector<double> JsonView::as_array(std::span<const int> extents) const {
  std::vector<double> out;
  append_array(extents, out);
  return out;
}

void JsonView::append_array(std::span<const int> extents, std::vector<double>& out) const {
  const auto expected = static_cast<std::size_t>(extents.front());
  if (size() != expected) fail(fmt::format("{} entries where {} are needed", size(), expected));
  if (extents.size() > 1) {
    for (std::size_t i = 0; i < expected; ++i) at(i).append_array(extents.subspan(1), out);
    return;
  }
  for (std::size_t i = 0; i < expected; ++i) {
    const Json& item = (*value_)[i];
    // at(i) builds a path, which only a message needs.
    const bool plain = item.is_number() && std::isfinite(item.get<double>());
    out.push_back(plain ? item.get<double>() : at(i).as_double());
  }
}

}  // namespace oas

#include "oas/logs/detail/cells.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

#include "oas/core/contracts.hpp"
#include "oas/core/markup.hpp"
#include "oas/core/number_text.hpp"
#include "oas/logs/detail/dialect.hpp"

namespace oas::detail {

namespace {

// Behind the opening quote; a doubled quote is a quote.
std::string_view quoted_cell(const char*& position, std::string& scratch) {
  scratch.clear();
  const char* p = position + 1;
  for (; *p != '"' || p[1] == '"'; ++p) {
    OAS_REQUIRE(*p != '\n', "a quote is not closed on its line");
    if (*p == '"') ++p;
    scratch += *p;
  }
  ++p;
  OAS_REQUIRE(ends_cell(p), "text follows the closing quote of {}", shown(scratch));
  position = p;
  return scratch;
}

}  // namespace

std::string_view next_cell(const char*& position, std::string& scratch) {
  if (*position == '"') return quoted_cell(position, scratch);
  const char* const start = position;
  const char* p = start;
  while (*p != ',' && *p != '\n') ++p;
  if (*p == '\n' && p != start && p[-1] == '\r') --p;
  position = p;
  return {start, static_cast<std::size_t>(p - start)};
}

std::string shown(std::string_view value) {
  constexpr std::size_t kLongest = 60;
  return "'" + escape_line(value, kLongest) + "'";
}

void check_name_size(std::string_view name, std::string_view kind) {
  OAS_REQUIRE(name.size() <= kMostBytesOfName,
              "the name of a {} has {} bytes, more than the limit of {}: {}", kind, name.size(),
              kMostBytesOfName, shown(name));
}

LabelColumn::LabelColumn(const Labels& labels, std::string_view kind, bool may_be_empty,
                         bool names_only)
    : kind_(kind),
      may_be_empty_(may_be_empty),
      names_only_(names_only),
      size_(static_cast<std::uint32_t>(labels.size())) {
  const auto names = std::make_shared<Names>();
  names->list = labels.names();
  names->index.reserve(names->list.size());
  for (std::size_t i = 0; i < names->list.size(); ++i) {
    names->index.emplace(names->list[i], static_cast<std::int32_t>(i));
  }
  names_ = names;
}

std::int32_t LabelColumn::read_text(const char*& position, long line) {
  const std::string_view text = next_cell(position, scratch_);
  if (text.empty()) {
    OAS_REQUIRE(may_be_empty_, "the {} is empty", kind_);
    return -1;
  }
  const bool is_index = std::all_of(text.begin(), text.end(), is_digit);
  OAS_REQUIRE(!is_index || !names_only_,
              "{} {} is an index; where steps are in classes, {}s are given by name: {}", kind_,
              shown(text), kind_, known_names());
  const std::int32_t index = index_of(text, is_index);
  const Mode mode = is_index ? Mode::indices : Mode::names;
  if (mode != mode_) set_mode(mode, text, line);
  return index;
}

std::int32_t LabelColumn::index_of(std::string_view text, bool is_index) const {
  if (is_index) {
    std::uint32_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    OAS_REQUIRE(parsed.ec == std::errc() && value < size_,
                "{} {} is out of range; the model has {}, 0 to {}", kind_, shown(text), size_,
                size_ - 1);
    return static_cast<std::int32_t>(value);
  }
  OAS_REQUIRE(!names_->list.empty(),
              "{} {} is not an index from 0 to {}, and the model has no {} names", kind_,
              shown(text), size_ - 1, kind_);
  const auto found = names_->index.find(text);
  OAS_REQUIRE(found != names_->index.end(), "unknown {} {}; known are {}{}{}", kind_, shown(text),
              known_names(),
              has_classes(text) ? ". Those with @ are of classes of steps: see --step-classes" : "",
              may_be_empty_ ? missing_hint(text) : "");
  return found->second;
}

bool LabelColumn::has_classes(std::string_view text) const {
  const std::vector<std::string>& names = names_->list;
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return name.size() > text.size() && name.starts_with(text) && name[text.size()] == '@';
  });
}

void LabelColumn::set_mode(Mode mode, std::string_view text, long line) {
  OAS_REQUIRE(mode_ == Mode::unknown,
              "{} {} is {}, but line {}{} has {}; a column holds names or indices, not both", kind_,
              shown(text), mode == Mode::names ? "a name" : "an index", mode_line_, mode_file_,
              mode == Mode::names ? "an index" : "a name");
  mode_ = mode;
  mode_line_ = line;
}

std::string LabelColumn::known_names() const {
  constexpr std::size_t kMost = 8;
  const std::vector<std::string>& names = names_->list;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, names.size()); ++i) {
    text += (i > 0 ? ", " : "") + shown(names[i]);
  }
  return names.size() > kMost ? fmt::format("{}, … ({} in all)", text, names.size()) : text;
}

double NumberColumn::read_text(const char*& position) {
  const char* const start = position;
  const std::string_view text = next_cell(position, scratch_);
  if (text.empty() && may_be_empty_) return std::numeric_limits<double>::quiet_NaN();
  OAS_REQUIRE(!text.empty(), "the {} is empty", name_);
  double value = 0.0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  OAS_REQUIRE(parsed.ec == std::errc() && parsed.ptr == end, "{} {} is not a number{}", name_,
              shown(text), number_hint(text, may_be_empty_));
  check_range(value, text);
  if (text.data() == start) remember(text, value);
  return value;
}

void NumberColumn::check_range(double value, std::string_view text) const {
  if (range_ == Range::probability) {
    OAS_REQUIRE(value > 0.0 && value <= 1.0, "{} {} is not in (0, 1]", name_, shown(text));
    // Its fourth power enters error bars.
    constexpr double kLeast = 1e-30;
    OAS_REQUIRE(value >= kLeast,
                "{} {} is smaller than {:g}: rows are weighted by 1/{}, and such weights cannot be "
                "summed up",
                name_, shown(text), kLeast, name_);
  }
  OAS_REQUIRE(std::isfinite(value), "{} {} is not finite", name_, shown(text));
}

void NumberColumn::remember(std::string_view text, double value) {
  Entry& entry = recent_[oldest_];
  if (text.size() > sizeof entry.text) return;
  oldest_ = (oldest_ + 1) % recent_.size();
  std::array<unsigned char, sizeof entry.text> mask = {};
  std::fill_n(mask.begin(), text.size(), static_cast<unsigned char>(0xff));
  std::memcpy(entry.mask.data(), mask.data(), sizeof entry.mask);
  entry.text = {};
  std::memcpy(entry.text.data(), text.data(), text.size());
  entry.size = text.size();
  entry.value = value;
}

void RunColumn::start(std::string_view text) {
  OAS_REQUIRE(!text.empty(),
              "the run is empty; either every row has the name of its unit, or none has "
              "(--columns run= leaves the column out)");
  check_name_size(text, "run");
  if (together_ && !names_.add(text)) {
    throw RunComesBack(
        fmt::format("run {} comes back after run {} began", shown(text), shown(last_)));
  }
  last_ = text;
  first_ = false;
}

}  // namespace oas::detail

#include "oas/logs/detail/dialect.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/logs/csv_cell.hpp"
#include "oas/logs/detail/cells.hpp"
#include "oas/logs/detail/line_buffer.hpp"

namespace oas::detail {

namespace {

constexpr std::array<std::pair<char, std::string_view>, 3> kOtherSeparators = {
    {{';', "';'"}, {'\t', "tab"}, {'|', "'|'"}}};

char separator_of(std::string_view text) {
  if (text.empty()) return ',';
  if (text == "tab" || text == "\\t") return '\t';
  OAS_REQUIRE(text.size() == 1 && std::strchr("\"\r\n#", text.front()) == nullptr &&
                  std::isalnum(static_cast<unsigned char>(text.front())) == 0,
              "separator: {} is not one of ',', ';', tab or another single sign", shown(text));
  return text.front();
}

// "1,5", "-3,25e-2": a decimal comma and nothing else that is no part of a number.
bool has_decimal_comma(std::string_view cell) {
  return std::count(cell.begin(), cell.end(), ',') == 1 &&
         cell.find_first_not_of("0123456789,+-eE") == std::string_view::npos &&
         std::isdigit(static_cast<unsigned char>(cell.back())) != 0;
}

// Behind the cell that begins at `position`: its separator, or the end of the line.
std::size_t end_of_cell(std::string_view line, std::size_t position, char separator) {
  if (position < line.size() && line[position] == '"') {
    for (++position; position < line.size(); ++position) {
      if (line[position] != '"') continue;
      if (position + 1 >= line.size() || line[position + 1] != '"') break;
      ++position;
    }
  }
  return std::min(line.find(separator, std::min(position, line.size())), line.size());
}

class DialectSource : public ByteSource {
 public:
  DialectSource(std::unique_ptr<ByteSource> source, const std::string& name, Dialect dialect)
      : lines_(std::move(source), name), dialect_(std::move(dialect)) {}

  std::size_t read(char* out, std::size_t size) override {
    while (used_ == text_.size()) {
      text_.clear();
      used_ = 0;
      if (!lines_.fill(++line_)) return 0;
      translate();
    }
    const std::size_t count = std::min(size, text_.size() - used_);
    std::memcpy(out, text_.data() + used_, count);
    used_ += count;
    return count;
  }

 private:
  void translate() {
    const char* const start = lines_.begin();
    const auto* const end = static_cast<const char*>(
        std::memchr(start, '\n', static_cast<std::size_t>(lines_.end() - start)));
    const std::string_view line(start, static_cast<std::size_t>(end - start));
    if (header_ && line.starts_with('#')) {
      text_ += line;
    } else {
      dialect_.append_plain(line, header_, text_);
      header_ = false;
    }
    text_ += '\n';
    lines_.consume(end + 1);
  }

  LineBuffer lines_;
  Dialect dialect_;
  std::string text_;      // the last line, translated
  std::size_t used_ = 0;  // bytes of it
  long line_ = 0;         // its number
  bool header_ = true;    // it is still to come
};

}  // namespace

Dialect::Dialect(const LogOptions& options)
    : separator_(separator_of(options.separator)), decimal_comma_(options.decimal_comma) {
  for (std::string_view rest = options.missing; !rest.empty();) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    OAS_REQUIRE(end > 0, "missing: {} names an empty text; an empty cell is missing anyway",
                shown(options.missing));
    missing_.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

void Dialect::append_plain(std::string_view line, bool header, std::string& out) const {
  const bool returns = line.ends_with('\r');
  if (returns) line.remove_suffix(1);
  for (std::size_t position = 0;; ++position) {
    const std::size_t end = end_of_cell(line, position, separator_);
    append_cell(line.substr(position, end - position), header, out);
    if (end == line.size()) break;
    out += ',';
    position = end;
  }
  if (returns) out += '\r';
}

void Dialect::append_cell(std::string_view cell, bool header, std::string& out) const {
  if (cell.starts_with('"')) {
    const bool whole = cell.size() > 1 && cell.ends_with('"');
    const std::string_view inside = whole ? cell.substr(1, cell.size() - 2) : cell;
    if (!header && std::find(missing_.begin(), missing_.end(), inside) != missing_.end()) return;
    const bool number = decimal_comma_ && !header && whole && has_decimal_comma(inside);
    out += cell;
    if (number)
      std::replace(out.end() - static_cast<std::ptrdiff_t>(cell.size()), out.end(), ',', '.');
    return;
  }
  if (!header && std::find(missing_.begin(), missing_.end(), cell) != missing_.end()) return;
  if (decimal_comma_ && !header && has_decimal_comma(cell)) {
    std::replace_copy(cell.begin(), cell.end(), std::back_inserter(out), ',', '.');
    return;
  }
  out += cell.find(',') == std::string_view::npos ? std::string(cell) : csv_cell(cell);
}

std::unique_ptr<ByteSource> in_plain_csv(std::unique_ptr<ByteSource> source,
                                         const std::string& name, const Dialect& dialect) {
  if (dialect.plain()) return source;
  return std::make_unique<DialectSource>(std::move(source), name, dialect);
}

std::string separator_hint(const std::vector<std::string>& header) {
  if (header.size() != 1) return {};
  for (const auto& [sign, name] : kOtherSeparators) {
    if (header.front().find(sign) == std::string::npos) continue;
    return fmt::format(
        "the header {} has no comma; if {} separates the columns, say --separator {}",
        shown(header.front()), sign == '\t' ? "a tab" : name, name);
  }
  return {};
}

std::string missing_hint(std::string_view text) {
  constexpr std::array<std::string_view, 9> kUsual = {"na", "n/a", "nan",     "null", "none",
                                                      "-",  "?",   "missing", "nil"};
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (std::find(kUsual.begin(), kUsual.end(), lower) == kUsual.end()) return {};
  return fmt::format(". If it means that there is nothing, say --missing {}", text);
}

std::string number_hint(std::string_view text, bool may_be_empty) {
  if (has_decimal_comma(text)) return ". If its comma begins the decimals, say --decimal-comma";
  return may_be_empty ? missing_hint(text) : std::string();
}

}  // namespace oas::detail

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli.hpp"
#include "command.hpp"
#include "oas/core/files.hpp"
#include "oas/core/json_text.hpp"
#include "oas/core/markup.hpp"

namespace oas::cli {

namespace {

void write_all(std::FILE* out, const std::string& text) {
  if (CommandOutput* const captured = captured_output()) {
    captured->printed += text;
    return;
  }
  if (text.empty()) return;
  if (std::fwrite(text.data(), 1, text.size(), out) != text.size() || std::fflush(out) != 0) {
    throw IoError("standard output: write failed");
  }
}

}  // namespace

void print(const Common& common, const std::string& text) {
  if (!common.quiet && !common.json) write_all(common.printed(), escape_control(text));
}

void say(std::string_view text) noexcept {
  try {
    const std::string plain = escape_control(text);
    std::fwrite(plain.data(), 1, plain.size(), stderr);
  } catch (const std::exception&) {
    std::fputs("oas: out of memory\n", stderr);
  }
}

void print_json(const Common& common, const nlohmann::ordered_json& document) {
  write_all(common.printed(), dump_json(document));
}

void warn(const Common& common, const std::string& text) {
  if (CommandOutput* const captured = captured_output()) {
    captured->warnings.push_back(text);
  } else if (!common.quiet) {
    say(fmt::format("warning: {}\n", text));
  }
}

Table::Table(std::vector<std::string> header) { rows_.push_back(std::move(header)); }

void Table::add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

std::string Table::text(const std::string& indent) const {
  std::vector<std::size_t> width(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t c = 0; c < row.size(); ++c)
      width[c] = std::max(width[c], num_characters(row[c]));
  }
  std::string out;
  for (const auto& row : rows_) {
    out += indent + row[0] + std::string(width[0] - num_characters(row[0]), ' ');
    for (std::size_t c = 1; c < row.size(); ++c) {
      out += std::string(2 + width[c] - num_characters(row[c]), ' ') + row[c];
    }
    out += '\n';
  }
  return out;
}

std::string big_number(double value) {
  if (!(value < 1e12)) return fmt::format("{:.1e}", value);
  std::string digits = fmt::format("{:.0f}", value);
  for (auto i = static_cast<int>(digits.size()) - 3; i > 0; i -= 3) digits.insert(i, ",");
  return digits;
}

}  // namespace oas::cli

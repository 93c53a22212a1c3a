#include "oas/study/unit_bytes.hpp"

#include <cstdint>
#include <variant>

#include "oas/core/bytes.hpp"

namespace oas {

namespace {

Cell loaded_cell(ByteReader& in) {
  switch (in.get_integer(0, 3)) {
    case 0:
      return std::monostate{};
    case 1:
      return in.get<std::int64_t>();
    case 2:
      return in.get<double>();
    default:
      return in.get_text();
  }
}

}  // namespace

std::string unit_bytes(const UnitResult& result) {
  ByteWriter out;
  out.put(result.number);
  out.put(result.failed);
  out.put_text(result.message);
  out.put(result.seconds);
  out.put(static_cast<std::int64_t>(result.rows.size()));
  for (const ResultRow& row : result.rows) {
    out.put(static_cast<std::int64_t>(row.size()));
    for (const Cell& cell : row) {
      out.put(static_cast<std::int64_t>(cell.index()));
      if (const auto* whole = std::get_if<std::int64_t>(&cell)) out.put(*whole);
      if (const auto* number = std::get_if<double>(&cell)) out.put(*number);
      if (const auto* text = std::get_if<std::string>(&cell)) out.put_text(*text);
    }
  }
  return out.take();
}

UnitResult unit_of_bytes(std::string_view bytes) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  ByteReader in(bytes);
  UnitResult result;
  result.number = in.get<std::int64_t>();
  result.failed = in.get<bool>();
  result.message = in.get_text();
  result.seconds = in.get<double>();
  for (std::int64_t rows = in.get_integer(0, kMost); rows > 0; --rows) {
    ResultRow& row = result.rows.emplace_back();
    for (std::int64_t cells = in.get_integer(0, kMost); cells > 0; --cells) {
      row.push_back(loaded_cell(in));
    }
  }
  return result;
}

}  // namespace oas

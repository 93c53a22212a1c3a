#include "oas/journal/journal_record.hpp"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "oas/core/bytes.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/json_text.hpp"
#include "oas/journal/detail/segment.hpp"

namespace oas {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "oas-journal/1";
// Never 0: a stretch of zeros, as a power cut leaves, is the end of no record.
constexpr std::uint8_t kLastByte = 0xa5;

enum RowFlag : unsigned {
  kHasAction = 1,
  kHasPropensity = 2,
  kByOthers = 4,
  kHasObservation = 8,
  kHasReading = 16,
  kHasLikelihoods = 32,
  kAllFlags = 63,
};

// 7 bits a byte, the lowest first.
void put_number(ByteWriter& out, std::uint64_t value) {
  for (; value >= 128; value >>= 7) out.put(static_cast<std::uint8_t>(value | 128));
  out.put(static_cast<std::uint8_t>(value));
}

std::uint64_t get_number(ByteReader& in, std::uint64_t most) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 63; shift += 7) {
    const auto byte = in.get<std::uint8_t>();
    value |= static_cast<std::uint64_t>(byte & 127) << shift;
    if ((byte & 128) != 0) continue;
    OAS_REQUIRE(value <= most, "a number is {}, more than {}", value, most);
    return value;
  }
  throw InvalidArgument("a number does not end");
}

constexpr std::uint64_t kMostIndex = (std::uint64_t{1} << 31) - 1;
constexpr std::uint64_t kMostSteps = std::uint64_t{1} << 50;

void put_row(ByteWriter& out, const JournalRow& row) {
  const unsigned flags =
      (row.action >= 0 ? kHasAction : 0U) | (row.propensity ? kHasPropensity : 0U) |
      (row.by_others ? kByOthers : 0U) | (row.observation != kMissing ? kHasObservation : 0U) |
      (row.reading.empty() ? 0U : kHasReading) | (row.likelihoods.empty() ? 0U : kHasLikelihoods);
  out.put(static_cast<std::uint8_t>(flags));
  if (row.action >= 0) put_number(out, static_cast<std::uint64_t>(row.action.value()));
  if (row.propensity) out.put(*row.propensity);
  if (row.observation != kMissing) {
    put_number(out, static_cast<std::uint64_t>(row.observation.value()));
  }
  if (!row.reading.empty()) out.put_all(row.reading);
  if (!row.likelihoods.empty()) out.put_all(row.likelihoods);
}

double get_propensity(ByteReader& in) {
  const auto value = in.get<double>();
  OAS_REQUIRE(value > 0.0 && value <= 1.0, "a propensity is {}", value);
  return value;
}

JournalRow get_row(ByteReader& in) {
  const unsigned flags = in.get<std::uint8_t>();
  OAS_REQUIRE(flags <= kAllFlags, "a row has flags {}", flags);
  JournalRow row;
  if ((flags & kHasAction) != 0) row.action = Action{get_number(in, kMostIndex)};
  if ((flags & kHasPropensity) != 0) row.propensity = get_propensity(in);
  row.by_others = (flags & kByOthers) != 0;
  if ((flags & kHasObservation) != 0) row.observation = Observation{get_number(in, kMostIndex)};
  if ((flags & kHasReading) != 0) row.reading = in.get_all<double>();
  if ((flags & kHasLikelihoods) != 0) row.likelihoods = in.get_all<double>();
  return row;
}

bool has_text(JournalKind kind) {
  return kind == JournalKind::header || kind == JournalKind::begin || kind == JournalKind::plan;
}
bool has_run(JournalKind kind) {
  return kind != JournalKind::header && kind != JournalKind::plan && kind != JournalKind::change;
}
bool has_row(JournalKind kind) { return kind == JournalKind::observe || kind == JournalKind::step; }
bool has_choice(JournalKind kind) { return kind == JournalKind::act || kind == JournalKind::step; }

}  // namespace

std::string to_bytes(const JournalRecord& record) {
  ByteWriter out;
  out.put(record.kind);
  if (has_run(record.kind)) {
    put_number(out, record.run);
    put_number(out, static_cast<std::uint64_t>(record.step + 1));
  }
  if (has_row(record.kind)) put_row(out, record.row);
  if (has_choice(record.kind)) {
    put_number(out, static_cast<std::uint64_t>(record.choice.value()));
    out.put(record.choice_propensity);
  }
  if (has_text(record.kind)) out.put_text(record.text);
  out.put(kLastByte);
  return out.take();
}

JournalRecord parse_journal_record(std::string_view bytes) {
  ByteReader in(bytes);
  JournalRecord record;
  const auto kind = in.get<std::uint8_t>();
  OAS_REQUIRE(kind >= static_cast<std::uint8_t>(JournalKind::header) &&
                  kind <= static_cast<std::uint8_t>(JournalKind::change),
              "there is no record of kind {}", kind);
  record.kind = static_cast<JournalKind>(kind);
  if (has_run(record.kind)) {
    record.run = get_number(in, kMostSteps);
    record.step = static_cast<std::int64_t>(get_number(in, kMostSteps)) - 1;
  }
  if (has_row(record.kind)) record.row = get_row(in);
  if (has_choice(record.kind)) {
    record.choice = Action{get_number(in, kMostIndex)};
    record.choice_propensity = get_propensity(in);
  }
  if (has_text(record.kind)) record.text = in.get_text();
  OAS_REQUIRE(in.get<std::uint8_t>() == kLastByte && in.at_end(), "a record does not end");
  return record;
}

JournalRecord header_record(const JournalHeader& header) {
  const Json text = {{"format", kFormat},
                     {"model", header.model},
                     {"agent", header.agent},
                     {"timing", header.after ? "after" : "before"},
                     {"rows", header.reading_first ? "reading-first" : "action-first"},
                     {"states", header.num_states},
                     {"dimension", header.dimension},
                     {"segment", header.segment},
                     {"sequence", header.sequence}};
  JournalRecord record;
  record.kind = JournalKind::header;
  record.text = text.dump(-1, ' ', false, Json::error_handler_t::replace);
  return record;
}

JournalHeader journal_header(const JournalRecord& record) {
  OAS_REQUIRE(record.kind == JournalKind::header, "a journal's file begins with no header");
  const Json document = parse_json(record.text, "journal header");
  const JsonView view(document, "journal header");
  OAS_REQUIRE(view.at("format").as_string() == kFormat,
              "the journal is of format \"{}\"; known is {}", view.at("format").as_string(),
              kFormat);
  JournalHeader header;
  header.model = view.at("model").as_string();
  header.agent = view.at("agent").as_string();
  header.after = view.at("timing").as_string() == "after";
  header.reading_first = view.at("rows").as_string() == "reading-first";
  header.num_states = static_cast<int>(view.at("states").as_integer());
  header.dimension = static_cast<int>(view.at("dimension").as_integer());
  header.segment = static_cast<int>(view.at("segment").as_integer());
  header.sequence = static_cast<std::uint64_t>(view.at("sequence").as_integer());
  return header;
}

bool holds_journal(const std::string& path) { return detail::last_segment(path) > 0; }

}  // namespace oas

#include "oas/logs/detail/unit_rows.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include "oas/core/bytes.hpp"
#include "oas/core/contracts.hpp"

namespace oas::detail {

namespace {

void put_piece(const UnitPiece& piece, ByteWriter& out) {
  out.put_all(piece.rows.actions);
  out.put_all(piece.rows.observations);
  out.put_all(piece.rows.propensities);
  out.put_all(piece.rows.rewards);
  out.put_all(piece.rows.states);
  out.put_all(piece.readings);
  out.put_all(piece.likelihoods);
  out.put_all(piece.times);
  out.put_all(piece.lines);
}

void get_piece(ByteReader& in, UnitPiece& piece) {
  piece.rows.actions = in.get_all<Action>();
  piece.rows.observations = in.get_all<Observation>();
  piece.rows.propensities = in.get_all<double>();
  piece.rows.rewards = in.get_all<double>();
  piece.rows.states = in.get_all<State>();
  piece.readings = in.get_all<double>();
  piece.likelihoods = in.get_all<double>();
  piece.times = in.get_all<double>();
  piece.lines = in.get_all<long>();
}

[[noreturn]] void fail_spill(const char* doing) {
  throw IoError(fmt::format(
      "units are sorted apart in a temporary file, and {} it failed: {}. Sort the log by unit "
      "(sort -s), or give the folder for temporary files more room",
      doing, std::strerror(errno)));
}

// Row `row` of a column with any number of values per row.
template <class T>
void append_row(const std::vector<T>& from, std::size_t row, std::size_t rows, std::vector<T>& to) {
  if (from.empty()) return;
  const std::size_t width = from.size() / rows;
  const auto first = from.begin() + static_cast<std::ptrdiff_t>(row * width);
  to.insert(to.end(), first, first + static_cast<std::ptrdiff_t>(width));
}

}  // namespace

std::size_t UnitPiece::bytes() const {
  return rows.actions.size() * (sizeof(Action) + sizeof(Observation) + sizeof(long)) +
         rows.states.size() * sizeof(State) +
         (rows.propensities.size() + rows.rewards.size() + readings.size() + likelihoods.size() +
          times.size()) *
             sizeof(double);
}

std::size_t UnitRows::unit(std::string_view name) {
  if (last_unit_ < units_.size() && *units_[last_unit_].name == name) return last_unit_;
  const auto found = numbers_.find(name);
  if (found != numbers_.end()) return last_unit_ = found->second;
  name_bytes_ += name.size();
  OAS_REQUIRE(
      units_.size() < kMostUnits && name_bytes_ <= kMostBytesOfNames,
      "units that are mixed, or have times or known states, are sorted apart in memory, and "
      "there are more than {} of them, or their names take more than {} bytes; sort the log "
      "by unit and cut it into several files",
      kMostUnits, kMostBytesOfNames);
  const auto [added, is_new] = numbers_.emplace(std::string(name), units_.size());
  units_.emplace_back().name = &added->first;
  return last_unit_ = units_.size() - 1;
}

void UnitRows::add(std::size_t unit, const LogBlock& block, std::size_t row, long line,
                   const double* time) {
  Unit& to = units_[unit];
  const std::size_t rows = block.rows.size();
  const std::size_t before = to.rows.size();
  append_row(block.rows.actions, row, rows, to.rows.rows.actions);
  append_row(block.rows.observations, row, rows, to.rows.rows.observations);
  append_row(block.rows.propensities, row, rows, to.rows.rows.propensities);
  append_row(block.rows.rewards, row, rows, to.rows.rows.rewards);
  append_row(block.rows.states, row, rows, to.rows.rows.states);
  append_row(block.readings, row, rows, to.rows.readings);
  append_row(block.likelihoods, row, rows, to.rows.likelihoods);
  to.rows.lines.push_back(line);
  if (time != nullptr) {
    to.rows.times.push_back(*time);
    to.timed = true;
    to.last_time = *time;
  }
  bytes_ += to.rows.bytes() / (before + 1);  // all rows take the same
  if (bytes_ > memory_) spill();
}

const double* UnitRows::last_time(std::size_t unit) const {
  return units_[unit].timed ? &units_[unit].last_time : nullptr;
}

void UnitRows::spill() {
  if (!file_) file_.reset(std::tmpfile());
  if (!file_) fail_spill("opening");
  for (Unit& unit : units_) {
    if (unit.rows.size() == 0) continue;
    ByteWriter out;
    put_piece(unit.rows, out);
    const std::string bytes = out.take();
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) {
      fail_spill("writing");
    }
    unit.spilled.push_back({end_, bytes.size()});
    end_ += static_cast<long>(bytes.size());
    unit.rows.clear();
  }
  bytes_ = 0;
}

bool UnitRows::next_piece(std::size_t unit, UnitPiece& piece) {
  Unit& from = units_[unit];
  if (from.taken > from.spilled.size()) return false;
  if (from.taken++ == from.spilled.size()) {
    piece = std::exchange(from.rows, {});
    return piece.size() > 0;
  }
  const Spilled& spilled = from.spilled[from.taken - 1];
  std::string bytes(spilled.bytes, '\0');
  if (std::fseek(file_.get(), spilled.offset, SEEK_SET) != 0 ||
      std::fread(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) {
    fail_spill("reading");
  }
  ByteReader in(bytes);
  get_piece(in, piece);
  return true;
}

}  // namespace oas::detail

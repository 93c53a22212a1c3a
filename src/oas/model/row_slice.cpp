#include "oas/model/row_slice.hpp"

#include <algorithm>
#include <utility>

#include "oas/core/contracts.hpp"

namespace oas {

RowSlice::RowSlice(std::vector<std::shared_ptr<RowSource>> sources, std::int64_t first,
                   std::int64_t count)
    : sources_(std::move(sources)), first_(first), count_(count) {
  OAS_REQUIRE(!sources_.empty() && first >= 0 && count >= 1, "rows {} to {} of {} sources", first,
              first + count, sources_.size());
  rewind();
}

void RowSlice::use(Parallelism parallelism) {
  for (const auto& source : sources_) source->use(parallelism);
}

void RowSlice::rewind() {
  for (const auto& source : sources_) source->rewind();
  source_ = 0;
  place_ = 0;
}

bool RowSlice::next(RowBlock& block) {
  while (place_ < first_ + count_) {
    if (!sources_[source_]->next(block)) {
      if (source_ + 1 < sources_.size()) {
        ++source_;
        continue;
      }
      throw IoError(
          fmt::format("{}: ends {} rows too early; a log must not change while it is "
                      "estimated from",
                      name(), first_ + count_ - place_));
    }
    const auto rows = static_cast<std::int64_t>(block.size());
    const std::int64_t place = std::exchange(place_, place_ + rows);
    if (place_ <= first_) continue;
    skipped_ = static_cast<std::size_t>(std::max<std::int64_t>(0, first_ - place));
    const auto end = static_cast<std::size_t>(std::min(rows, first_ + count_ - place));
    block = part(block, skipped_, end - skipped_);
    return true;
  }
  return false;
}

RowBlock RowSlice::part(const RowBlock& block, std::size_t first, std::size_t count) {
  if (count == block.size()) return block;
  RowBlock rows = block.part(first, count);
  const auto from = std::lower_bound(block.run_starts.begin(), block.run_starts.end(), first);
  const auto until = std::lower_bound(from, block.run_starts.end(), first + count);
  runs_.assign(from, until);
  for (std::size_t& run : runs_) run -= first;
  rows.run_starts = runs_;
  if (!block.starts.empty()) {
    rows.starts = block.starts.subspan(static_cast<std::size_t>(from - block.run_starts.begin()),
                                       runs_.size());
  }
  return rows;
}

void RowSlice::fail(std::size_t row, const std::string& message) const {
  sources_[source_]->fail(skipped_ + row, message);
  throw InvalidArgument(message);  // the compiler does not see that nothing comes here
}

void RowSlice::fail_at(std::int64_t index, const std::string& message) {
  throw InvalidArgument(fmt::format("row {}: {}", first_ + index + 1, message));
}

}  // namespace oas

#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "oas/core/bytes.hpp"
#include "oas/core/contracts.hpp"

/// Sums over pairs in batches, for error bars: between 64 and 128 of about equal length, whatever
/// the number of rows and runs, in constant memory. Where a batch ends, and in which order its sums
/// are added, follows from run and position in the run alone.
namespace oas {

inline constexpr std::size_t kMaxBatches = 128;
inline constexpr std::int64_t kFirstBatchPlaces = 8;

/// The batches of one run: of 8 places for pairs each, in runs behind the first hundreds of 16 to
/// 64, doubled whenever there are 128 of them. A run may be cut at a border between batches: what
/// knows the places behind it (go_on()) can be appended to what knows those before.
template <class Sum>
class RunBatches {
 public:
  /// Run number `run` begins. Where there are many runs, batches of all become long anyway.
  void start(std::int64_t run) { level_ = first_level(run); }

  /// The first `places` places of that run are known elsewhere; a batch must end there.
  void go_on(std::int64_t run, std::int64_t places) {
    level_ = level_behind(run, places);
    OAS_REQUIRE(places % this->places() == 0, "no batch of run {} ends at place {}", run, places);
    skipped_ = static_cast<std::size_t>(places / this->places());
  }
  /// The least number of places, `places` or more, at which a batch of that run ends.
  [[nodiscard]] static std::int64_t border(std::int64_t run, std::int64_t places) {
    const std::int64_t width = kFirstBatchPlaces << level_behind(run, places);
    return (places + width - 1) / width * width;
  }

  /// Places of the next batch.
  [[nodiscard]] std::int64_t places() const { return kFirstBatchPlaces << level_; }
  [[nodiscard]] int level() const { return level_; }
  [[nodiscard]] std::vector<Sum>& sums() { return sums_; }
  [[nodiscard]] const std::vector<Sum>& sums() const { return sums_; }

  void close(Sum sum) {
    sums_.push_back(std::move(sum));
    if (skipped_ + sums_.size() == kMaxBatches) double_length();
  }

  /// What goes on where this ends.
  void append(RunBatches other) {
    std::size_t next = 0;
    while (level_ < other.level_) {
      if ((skipped_ + sums_.size()) % 2 == 1) {
        OAS_REQUIRE(next < other.seconds_.size(), "parts of a run do not fit to each other");
        sums_.push_back(std::move(other.seconds_[next++]));
      }
      double_length();
    }
    OAS_REQUIRE(level_ == other.level_ && next == other.seconds_.size() &&
                    skipped_ + sums_.size() == other.skipped_,
                "parts of a run do not fit to each other");
    std::move(other.sums_.begin(), other.sums_.end(), std::back_inserter(sums_));
  }

  void clear() {
    sums_.clear();
    seconds_.clear();
    level_ = 0;
    skipped_ = 0;
  }

  void save(ByteWriter& out) const {
    out.put(static_cast<std::int64_t>(level_));
    out.put(static_cast<std::int64_t>(skipped_));
    for (const std::vector<Sum>* sums : {&sums_, &seconds_}) {
      out.put(static_cast<std::int64_t>(sums->size()));
      for (const Sum& sum : *sums) sum.save(out);
    }
  }
  void load(ByteReader& in, const Sum& empty) {
    level_ = static_cast<int>(in.get_integer(0, 50));
    skipped_ = static_cast<std::size_t>(in.get_integer(0, kMaxBatches));
    for (std::vector<Sum>* sums : {&sums_, &seconds_}) {
      sums->assign(static_cast<std::size_t>(in.get_integer(0, kMaxBatches)), empty);
      for (Sum& sum : *sums) sum.load(in);
    }
  }

 private:
  static int first_level(std::int64_t run) {
    constexpr int kMostAtFirst = 3;
    const auto width = std::bit_width(static_cast<std::uint64_t>(run) / kMaxBatches);
    return std::min(kMostAtFirst, static_cast<int>(width));
  }
  static int level_behind(std::int64_t run, std::int64_t places) {
    constexpr auto kMost = static_cast<std::int64_t>(kMaxBatches) * kFirstBatchPlaces;
    int level = first_level(run);
    while (places >= kMost << level) ++level;
    return level;
  }

  // Adds every second batch to the one before it, of which the first may be known elsewhere.
  void double_length() {
    const std::size_t alone = skipped_ % 2;
    if (alone == 1) seconds_.push_back(std::move(sums_.front()));
    std::size_t kept = 0;
    for (std::size_t i = alone; i + 1 < sums_.size(); i += 2) {
      sums_[i].add(sums_[i + 1]);
      if (i != kept) sums_[kept] = std::move(sums_[i]);
      ++kept;
    }
    sums_.erase(sums_.begin() + static_cast<std::ptrdiff_t>(kept), sums_.end());
    skipped_ = (skipped_ + 1) / 2;
    ++level_;
  }

  std::vector<Sum> sums_;
  int level_ = 0;
  std::size_t skipped_ = 0;   // batches before these that are known elsewhere
  std::vector<Sum> seconds_;  // to be added to the last of those; one for each of some levels
};

/// The batches of runs one after the other. The border before a batch has a strength: within a run
/// the number of times that its place can be halved; before run r that of r, plus the logarithm of
/// the length of the run before. Batches of level l are what lies between borders of strength l or
/// more; the level is the least one at which there are fewer than 128. Sums are added level by
/// level, from left to right, and only once nothing that is still to come, on either side, can get
/// between: so a part that begins with any run can be appended to what came before it, and the
/// result is the same to the bit as if all rows had come to one place.
template <class Sum>
class BatchSeries {
 public:
  /// The first run of this part, counted from 0.
  explicit BatchSeries(std::int64_t first_run = 0) : first_run_(first_run), next_run_(first_run) {}

  [[nodiscard]] std::int64_t first_run() const { return first_run_; }
  [[nodiscard]] std::int64_t next_run() const { return next_run_; }

  /// The next run, whole, with so many places for pairs; the last sum may be that of a shorter
  /// batch.
  void append(RunBatches<Sum>& run, std::int64_t places) {
    for (std::size_t i = 0; i < run.sums().size(); ++i) {
      const int strength = i > 0 ? run.level() + std::countr_zero(i) : before_next_run();
      if (entries_.empty()) begins_ = next_run_ == first_run_;
      entries_.push_back({std::move(run.sums()[i]), strength});
    }
    run.clear();
    const auto cells = static_cast<std::uint64_t>(places + kFirstBatchPlaces - 1) /
                       static_cast<std::uint64_t>(kFirstBatchPlaces);
    last_log_ = static_cast<int>(std::bit_width(std::max<std::uint64_t>(cells, 1))) - 1;
    ++next_run_;
    if (entries_.size() > room_) tidy(false);
  }

  /// The part that follows. Throws InvalidArgument when it does not begin with the next run.
  void append(BatchSeries other) {
    OAS_REQUIRE(other.first_run_ == next_run_,
                "runs from {} on cannot follow {}: parts must be made for the run they begin with",
                other.first_run_, next_run_);
    if (other.next_run_ == other.first_run_) return;
    if (next_run_ == first_run_) {
      *this = std::move(other);
      return;
    }
    if (other.begins_ && !other.entries_.empty()) {
      other.entries_.front().strength = before_next_run();
    }
    if (entries_.empty()) begins_ = false;
    std::move(other.entries_.begin(), other.entries_.end(), std::back_inserter(entries_));
    level_ = std::max(level_, other.level_);
    last_log_ = other.last_log_;
    next_run_ = other.next_run_;
    if (entries_.size() > room_) tidy(false);
  }

  /// All batches, in order; nothing can follow.
  [[nodiscard]] std::vector<Sum> finish() {
    tidy(true);
    std::vector<Sum> sums;
    for (Entry& entry : entries_) sums.push_back(std::move(entry.sum));
    *this = BatchSeries();
    return sums;
  }

  void save(ByteWriter& out) const {
    for (const std::int64_t value : {first_run_, next_run_}) out.put(value);
    for (const int value : {last_log_, level_}) out.put(static_cast<std::int64_t>(value));
    out.put(begins_);
    out.put(static_cast<std::int64_t>(entries_.size()));
    for (const Entry& entry : entries_) {
      out.put(static_cast<std::int64_t>(entry.strength));
      entry.sum.save(out);
    }
  }
  void load(ByteReader& in, const Sum& empty) {
    constexpr std::int64_t kMost = std::int64_t{1} << 60;
    first_run_ = in.get_integer(0, kMost);
    next_run_ = in.get_integer(first_run_, kMost);
    last_log_ = static_cast<int>(in.get_integer(0, 64));
    level_ = static_cast<int>(in.get_integer(0, kStart));
    begins_ = in.get<bool>();
    entries_.assign(static_cast<std::size_t>(in.get_integer(0, 1 << 20)), {empty, 0});
    for (Entry& entry : entries_) {
      entry.strength = static_cast<int>(in.get_integer(0, kStart));
      entry.sum.load(in);
    }
  }

 private:
  static constexpr std::size_t kMostEntries = 4 * kMaxBatches;
  static constexpr int kStart = 1000;  // stronger than any border

  struct Entry {
    Sum sum;
    int strength;  // of the border before it
  };

  // Of a part's own first border only the least strength is known.
  [[nodiscard]] int before_next_run() const {
    if (next_run_ == 0) return kStart;
    const int halvings = std::countr_zero(static_cast<std::uint64_t>(next_run_));
    return next_run_ == first_run_ ? halvings : last_log_ + halvings;
  }

  [[nodiscard]] std::size_t borders() const {
    return static_cast<std::size_t>(
        std::count_if(entries_.begin() + 1, entries_.end(),
                      [&](const Entry& entry) { return entry.strength >= level_; }));
  }

  // Raises the level as far as there are too many borders and adds what can be added; `ended`:
  // nothing comes before or behind.
  void tidy(bool ended) {
    if (entries_.empty()) return;
    while (borders() >= kMaxBatches) ++level_;
    for (int strength = 0; strength < level_; ++strength) add_across(strength, ended);
    room_ = std::max(kMostEntries, 2 * entries_.size());
  }

  // Adds what borders of this strength separate to what is before it, from left to right, where
  // both sides are complete: there is a stronger border before it, and one as strong behind it.
  void add_across(int strength, bool ended) {
    std::size_t last = entries_.size();  // behind it nothing is complete
    if (!ended) {
      last = 0;
      for (std::size_t i = 1; i < entries_.size(); ++i) {
        if (entries_[i].strength >= strength) last = i;
      }
    }
    bool stronger = ended || first_run_ == 0 || entries_.front().strength > strength;
    std::size_t kept = 0;
    for (std::size_t i = 1; i < entries_.size(); ++i) {
      if (entries_[i].strength == strength && stronger && i < last) {
        entries_[kept].sum.add(entries_[i].sum);
        continue;
      }
      stronger = stronger || entries_[i].strength > strength;
      if (++kept != i) entries_[kept] = std::move(entries_[i]);
    }
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(kept) + 1, entries_.end());
  }

  std::int64_t first_run_;
  std::int64_t next_run_;
  int last_log_ = 0;  // of the length of the last run, in batches of 8 places
  int level_ = 0;
  bool begins_ = false;  // the first entry begins with the first run
  std::vector<Entry> entries_;
  std::size_t room_ = kMostEntries;  // entries that may wait to be added up
};

}  // namespace oas

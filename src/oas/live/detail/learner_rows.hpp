#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "oas/core/bytes.hpp"
#include "oas/counts/forgetting.hpp"
#include "oas/live/detail/learner_row.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/row_source.hpp"

namespace oas::detail {

/// Where the rows of a learner are kept.
struct RowStorage {
  /// Shows every row since the first again, in the order of the journal, until it is told false.
  using Again = std::function<void(const std::function<bool(const LearnerRow&)>& receive)>;

  std::size_t memory = SIZE_MAX;  ///< bytes of rows, as many more while a plan is made counted in
  std::string folder;             ///< for a file without a name
  Again again;                    ///< none: rows are kept in memory, however many
};

class LearnerRowSource;

/// The rows that likelihood goes over many times, run by run: 1 to 4 bytes each, and 8 S more for
/// one that brings likelihoods. When they are too many for the memory they are dropped, and read
/// again whenever a plan is made: once from the journal, into a mapped file that has no name, in
/// which the rows of a run stand together. What is read is the same in both.
///
/// With a half-life a row weighs 2^(-age/half_life), its age being the number of rows of all runs
/// that came after it, to within a 128th of the half-life; LearnerRowSource gives the weights. It
/// takes a byte more, and 24 more for every 64 rows, and for every pause of four half-lives. Those
/// whose weight is next to nothing (Forgetting::reach()) are dropped.
class LearnerRows {
 public:
  /// `half_life`: in rows; 0: rows do not fade.
  LearnerRows(const Pomdp& sensors, RowStorage storage, double half_life = 0.0);

  void add(const LearnerRow& row);
  /// Of the rows that count, in memory or not.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] bool in_memory() const { return in_memory_; }
  /// Some rows bring likelihoods; then all are read with some.
  [[nodiscard]] bool bring_likelihoods() const { return vectors_ > 0; }

  /// Drops what is too old to count by now. What is left follows from the rows that were added,
  /// whenever it was called before.
  void drop_old();
  /// All rows, run by run. Add none while it lives. Throws IoError where there is no room for the
  /// file.
  [[nodiscard]] std::unique_ptr<LearnerRowSource> read() const;
  /// As if nothing had been added.
  void clear();

  void save(ByteWriter& out) const;
  /// Throws InvalidArgument; may be loaded again then, or cleared.
  void load(ByteReader& in);

 private:
  friend class LearnerRowSource;

  static constexpr std::size_t kMostBytes = sizeof(std::uint32_t) + 1;  // of a row

  // When a row came. Of those behind it, up to the next mark, the delay is known: in ticks since.
  struct Mark {
    std::int64_t number = 0;   // among all that were ever added
    std::int64_t row = 0;      // rows before it in its run
    std::int64_t vectors = 0;  // of these, those that bring likelihoods
  };
  struct Run {
    SeenRow first;
    bool ended = false;
    bool unknown = false;  // its rows go on after some that were forgotten
    std::int64_t rows = 0;
    std::int64_t vectors = 0;         // rows that bring likelihoods
    std::vector<Mark> marks;          // with a half-life: of its first row, and of later ones
    std::int64_t last = 0;            // number of the last row
    std::int64_t dropped = 0;         // rows before those that are left, since all were forgotten
    std::string codes;                // of its rows, width_ bytes each: code, lowest first; delay
    std::vector<double> likelihoods;  // S for each row that brings them
  };
  using Runs = std::map<std::uint64_t, Run>;

  void append(Run& run, const SeenRow& row);
  void forget();
  void drop_where_too_many();
  void drop_front(Run& run, std::size_t marks);
  std::uint8_t mark(Run& run) const;
  void check_marks(const Run& run) const;
  // A row of the table of rows; where the next one goes.
  char* put(const SeenRow& row, std::uint8_t delay, char* out) const;
  [[nodiscard]] std::uint32_t code(const SeenRow& row) const;
  [[nodiscard]] std::int64_t ticks(std::int64_t rows) const { return (rows + tick_ / 2) / tick_; }
  [[nodiscard]] std::size_t code_width() const { return width_ - (fading_.active() ? 1 : 0); }
  [[nodiscard]] int symbols() const { return sensors_.num_observations() + 1; }
  [[nodiscard]] std::size_t states() const {
    return static_cast<std::size_t>(sensors_.num_states());
  }
  [[nodiscard]] RunStart start_of(const Run& run) const;

  Pomdp sensors_;
  RowStorage storage_;
  Forgetting fading_;
  std::int64_t tick_;  // rows of all runs between which ages are not told apart
  std::size_t width_;  // bytes of a row
  Runs runs_;          // that have rows, or go on
  bool in_memory_ = true;
  std::int64_t rows_ = 0;       // that were ever added
  std::int64_t forgotten_ = 0;  // the first of these
  std::int64_t vectors_ = 0;    // of those that count
  std::size_t bytes_ = 0;
};

}  // namespace oas::detail

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "oas/core/bytes.hpp"
#include "oas/core/parallel.hpp"
#include "oas/model/row_block.hpp"

namespace oas {

/// Called now and then with the number of rows read since the last call; from any thread, one at a
/// time.
using RowsRead = std::function<void(std::int64_t rows)>;

struct RowPart;

/// Where runs may be cut: of a run, by its number, the least number of rows, `rows` or more, behind
/// which another part may go on. Empty: runs stay whole.
using RunCut = std::function<std::int64_t(std::int64_t run, std::int64_t rows)>;
/// The same for rows whose first run is run `first_run` of all.
[[nodiscard]] RunCut numbered_from(std::int64_t first_run, RunCut cut);

/// Rows that can be read block by block, and again from the first one: files, memory.
class RowSource {
 public:
  virtual ~RowSource() = default;

  /// How many threads next() may use; at first one. What it gives does not depend on it.
  virtual void use(Parallelism /*parallelism*/) {}

  /// The next rows, at least one, which live until the next call; false at the end.
  [[nodiscard]] virtual bool next(RowBlock& block) = 0;

  /// Back to the first row. Only where cannot_rewind() is empty.
  virtual void rewind() = 0;
  /// The name of what can be read only once, such as a pipe; empty: all can be read again.
  [[nodiscard]] virtual std::string cannot_rewind() const { return {}; }

  /// Where the rows of the last block come from, for messages; may be empty.
  [[nodiscard]] virtual std::string name() const { return {}; }
  /// Throws ParseError, or InvalidArgument where rows have no line, about row `row` of the last
  /// block.
  [[noreturn]] virtual void fail(std::size_t row, const std::string& message) const = 0;
  /// The same about row `index` of all, counted from 0. May read the rows again.
  [[noreturn]] virtual void fail_at(std::int64_t index, const std::string& message) = 0;

  /// Consecutive parts that together are this source and may be read at the same time, about as
  /// many as threads and ranks. Where rows are split is decided here and nowhere else. Empty: read
  /// as one. With a team all ranks call it and get the same, each with a source of its own.
  [[nodiscard]] virtual std::vector<RowPart> parts(Parallelism parallelism,
                                                   const RunCut& cut) const;

 protected:
  RowSource() = default;
  RowSource(const RowSource&) = default;
  RowSource& operator=(const RowSource&) = default;
};

/// Rows in memory, of any number of runs one after the other.
class StoredRows final : public RowSource {
 public:
  StoredRows() = default;
  StoredRows(const StoredRows& other) = default;
  StoredRows& operator=(const StoredRows& other) = default;
  StoredRows(StoredRows&& other) noexcept = default;
  StoredRows& operator=(StoredRows&& other) noexcept = default;
  ~StoredRows() override = default;

  /// The next row belongs to a new run.
  void start_run(RunStart start = {}) {
    new_run_ = true;
    next_start_ = std::move(start);
  }
  /// Copies the rows; run starts of the block count too. Columns must be those of the rows before,
  /// but for propensities: where some rows have none, none are kept. Throws InvalidArgument where
  /// they are not, and on a block that is not valid; nothing has changed then.
  void add(const RowBlock& block);
  void add(const StoredRows& other);

  /// All rows at once; lives as long as no row is added.
  [[nodiscard]] RowBlock all() const;
  [[nodiscard]] std::size_t size() const { return actions_.size(); }
  [[nodiscard]] std::size_t bytes() const;
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

  [[nodiscard]] bool next(RowBlock& block) override;
  void rewind() override { read_ = false; }
  [[noreturn]] void fail(std::size_t row, const std::string& message) const override;
  [[noreturn]] void fail_at(std::int64_t index, const std::string& message) override;

 private:
  std::vector<Action> actions_;
  std::vector<Observation> observations_;
  std::vector<double> propensities_;
  std::vector<double> readings_;
  std::vector<double> likelihoods_;
  std::vector<std::size_t> run_starts_;
  std::vector<RunStart> starts_;  // of these
  bool new_run_ = true;
  RunStart next_start_;
  bool mixed_ = false;  // some rows have no propensity
  bool read_ = false;
};

/// Some consecutive rows of a source.
struct RowPart {
  std::unique_ptr<RowSource> rows;
  std::int64_t first_run = 0;    ///< the number of its first run among all
  std::int64_t size = 0;         ///< about how much there is to read, against other parts
  std::int64_t rows_before = 0;  ///< above 0: that run began in the part before, with so many rows
  StoredRows before{};           ///< the last one of these
};

}  // namespace oas

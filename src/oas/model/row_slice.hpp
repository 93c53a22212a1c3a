#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "oas/model/row_source.hpp"

namespace oas {

/// Consecutive rows of some sources that are read one after the other: for those who keep a share
/// of a long log. A slice may begin and end within a run; then its first row starts none.
class RowSlice final : public RowSource {
 public:
  /// Rows first … first+count-1, counted from the first source's. All can be read again.
  RowSlice(std::vector<std::shared_ptr<RowSource>> sources, std::int64_t first, std::int64_t count);

  void use(Parallelism parallelism) override;
  /// Throws IoError when the sources end too early.
  [[nodiscard]] bool next(RowBlock& block) override;
  void rewind() override;
  [[nodiscard]] std::string name() const override { return sources_[source_]->name(); }
  [[noreturn]] void fail(std::size_t row, const std::string& message) const override;
  [[noreturn]] void fail_at(std::int64_t index, const std::string& message) override;

 private:
  [[nodiscard]] RowBlock part(const RowBlock& block, std::size_t first, std::size_t count);

  std::vector<std::shared_ptr<RowSource>> sources_;
  std::int64_t first_;
  std::int64_t count_;
  std::size_t source_ = 0;
  std::int64_t place_ = 0;         // of the next row of the sources
  std::size_t skipped_ = 0;        // rows of the last block before those of the slice
  std::vector<std::size_t> runs_;  // run starts of the last block
};

}  // namespace oas

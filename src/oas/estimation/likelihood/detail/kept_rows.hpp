#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "oas/core/team.hpp"
#include "oas/estimation/likelihood/transition_likelihood.hpp"
#include "oas/model/row_source.hpp"

namespace oas::detail {

/// Rows that a rank of a team keeps while it counts its share of a log, so that nobody need read
/// them again: packed as a likelihood keeps them, in pieces of at most a window, which are let go
/// one by one.
class KeptRows {
 public:
  struct Piece {
    TransitionLikelihood rows;
    bool goes_on;  ///< the first row is of a run that began before
  };

  /// Rows of the model of `like`, which has none, up to so many bytes; beyond, all are forgotten.
  KeptRows(TransitionLikelihood like, std::size_t limit) : like_(std::move(like)), limit_(limit) {}

  /// The next rows; `goes_on`: the first one does not start a run.
  void add(const TransitionLikelihood& rows, bool goes_on);
  /// Those of another one follow.
  void append(KeptRows more);
  /// An empty one with room for one of `parts` that follow.
  [[nodiscard]] KeptRows fresh(std::size_t parts) const;

  /// Whether none were forgotten.
  [[nodiscard]] bool all() const { return !forgot_; }
  [[nodiscard]] std::deque<Piece> take() { return std::exchange(pieces_, {}); }
  /// No rows, of the same model.
  [[nodiscard]] const TransitionLikelihood& like() const { return like_; }

 private:
  void add_piece(const Piece& piece);
  bool make_room(std::size_t bytes);

  TransitionLikelihood like_;
  std::size_t limit_;
  std::size_t bytes_ = 0;
  bool forgot_ = false;
  std::deque<Piece> pieces_;
};

/// A log that a team counts part by part, each rank its share of them, and then knows: the same on
/// all ranks but for `own`.
class CountedRows {
 public:
  /// `parts`: as RowSource::parts() gives them; without any, rank 0 counts one that is all. Ranks
  /// keep up to `most` bytes each, but those whose share is far larger than others not so many,
  /// since a rank's memory is to hold a share of the log.
  CountedRows(std::span<const RowPart> parts, const Team& team, const TransitionLikelihood& like,
              std::size_t most);

  /// The parts that a rank counts.
  [[nodiscard]] Stretch share(int rank) const { return shares_[static_cast<std::size_t>(rank)]; }
  KeptRows own;  ///< what this rank keeps

  /// On rank 0, for each rank in its order: the rows of its parts, and whether it keeps all.
  void add(std::span<const std::int64_t> rows, bool keeps);
  /// That, once it is known of all.
  void save(ByteWriter& out) const;
  void load(ByteReader& in);

  [[nodiscard]] std::int64_t num_rows() const;
  [[nodiscard]] std::span<const std::int64_t> rows_of_parts() const { return rows_; }
  /// [rank]: of all rows, those in its memory.
  [[nodiscard]] std::vector<Stretch> kept() const;

 private:
  std::vector<Stretch> shares_;     // [rank]
  std::vector<std::int64_t> rows_;  // [part]
  std::vector<char> keeps_;         // [rank]
};

/// Rows that ranks kept go to those who want them: rows wanted[rank] of all, all of them kept by
/// somebody, or none. All ranks call it. They are put into `to`, which is empty; true: the first of
/// them goes on in a run that began before.
bool hand_over(Team& team, KeptRows own, std::span<const Stretch> kept,
               std::span<const Stretch> wanted, TransitionLikelihood& to);

/// The rows that both have.
[[nodiscard]] Stretch overlap(Stretch a, Stretch b);

}  // namespace oas::detail

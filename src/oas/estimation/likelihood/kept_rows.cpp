#include "oas/estimation/likelihood/detail/kept_rows.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "oas/core/bytes.hpp"
#include "oas/estimation/likelihood/detail/likelihood_windows.hpp"

namespace oas::detail {

namespace {

constexpr double kLargestShare = 1.5;  // of fair ones
constexpr std::size_t kAlwaysKept = std::size_t{16} << 20;

bool goes_on_at(const KeptRows::Piece& piece, std::size_t row) {
  if (row == 0) return piece.goes_on;
  const auto starts = piece.rows.run_starts();
  return !std::binary_search(starts.begin(), starts.end(), row);
}

std::string packed(const KeptRows::Piece& piece, const TransitionLikelihood& like, Stretch rows) {
  TransitionLikelihood some = like;
  some.append(piece.rows, rows.first, rows.size(), false);
  ByteWriter out;
  out.put(goes_on_at(piece, rows.first));
  some.save(out);
  return out.take();
}

KeptRows::Piece unpacked(const TransitionLikelihood& like, const std::string& bytes) {
  ByteReader in(bytes);
  const bool goes_on = in.get<bool>();
  KeptRows::Piece piece{like, goes_on};
  piece.rows.load(in);
  return piece;
}

Stretch within(Stretch piece, Stretch rows) {
  const Stretch common = overlap(piece, rows);
  return {common.first - piece.first, common.end - piece.first};
}

// hand_over() as one rank goes through it. Nobody waits before it has sent all that others want.
class HandOver {
 public:
  HandOver(Team& team, std::span<const Stretch> kept, std::span<const Stretch> wanted,
           const TransitionLikelihood& like, TransitionLikelihood& to)
      : team_(team),
        me_(static_cast<std::size_t>(team.rank())),
        kept_(kept),
        wanted_(wanted),
        like_(like),
        to_(to) {}

  void send(std::deque<KeptRows::Piece> pieces) {
    for (std::size_t place = kept_[me_].first; !pieces.empty(); pieces.pop_front()) {
      KeptRows::Piece& piece = pieces.front();
      const Stretch rows{place, place + piece.rows.rows()};
      place = rows.end;
      for (std::size_t rank = 0; rank < wanted_.size(); ++rank) {
        const Stretch some = within(rows, wanted_[rank]);
        if (rank == me_ || some.size() == 0) continue;
        team_.send(static_cast<int>(rank), packed(piece, like_, some));
      }
      const Stretch own = within(rows, wanted_[me_]);
      if (own.size() > 0) own_.push_back({std::move(piece), own});
    }
  }
  void collect() {
    for (std::size_t rank = 0; rank < kept_.size(); ++rank) {
      if (rank != me_) receive(rank);
      for (; rank == me_ && !own_.empty(); own_.pop_front()) {
        add(own_.front().piece, own_.front().rows);
      }
    }
  }
  // A message is under way only while its sender looks after it.
  void wait_for_others() {
    for (std::size_t rank = 0; rank < wanted_.size(); ++rank) {
      if (rank == me_ || overlap(kept_[me_], wanted_[rank]).size() == 0) continue;
      static_cast<void>(team_.receive(static_cast<int>(rank)));
    }
  }
  [[nodiscard]] bool goes_on() const { return goes_on_; }

 private:
  struct Own {
    KeptRows::Piece piece;
    Stretch rows;  // of it
  };

  void receive(std::size_t rank) {
    const std::size_t rows = overlap(kept_[rank], wanted_[me_]).size();
    for (std::size_t done = 0; done < rows;) {
      const auto piece = unpacked(like_, team_.receive(static_cast<int>(rank)));
      add(piece, {0, piece.rows.rows()});
      done += piece.rows.rows();
    }
    if (rows > 0) team_.send(static_cast<int>(rank), {});
  }
  void add(const KeptRows::Piece& piece, Stretch rows) {
    const bool goes_on = goes_on_at(piece, rows.first);
    if (to_.rows() == 0) goes_on_ = goes_on;
    to_.append(piece.rows, rows.first, rows.size(), goes_on);
  }

  Team& team_;
  std::size_t me_;
  std::span<const Stretch> kept_;
  std::span<const Stretch> wanted_;
  const TransitionLikelihood& like_;
  TransitionLikelihood& to_;
  std::deque<Own> own_;  // what stays here
  bool goes_on_ = false;
};

}  // namespace

Stretch overlap(Stretch a, Stretch b) {
  const std::size_t first = std::max(a.first, b.first);
  return {first, std::max(first, std::min(a.end, b.end))};
}

bool KeptRows::make_room(std::size_t bytes) {
  bytes_ += bytes;
  forgot_ = forgot_ || bytes_ > limit_;
  if (forgot_) pieces_.clear();
  return !forgot_;
}

void KeptRows::add(const TransitionLikelihood& rows, bool goes_on) {
  if (rows.rows() == 0 || !make_room(rows.bytes())) return;
  if (pieces_.empty() || pieces_.back().rows.rows() + rows.rows() > kWindowRows) {
    pieces_.push_back({like_, goes_on});
  }
  pieces_.back().rows.append(rows, 0, rows.rows(), goes_on);
}

void KeptRows::append(KeptRows more) {
  forgot_ = forgot_ || more.forgot_;
  if (!make_room(more.bytes_)) return;
  for (Piece& piece : more.pieces_) {
    if (!pieces_.empty() && pieces_.back().rows.rows() + piece.rows.rows() <= kWindowRows) {
      pieces_.back().rows.append(piece.rows, 0, piece.rows.rows(), piece.goes_on);
    } else {
      pieces_.push_back(std::move(piece));
    }
  }
}

KeptRows KeptRows::fresh(std::size_t parts) const {
  return {like_, forgot_ ? 0 : (limit_ - bytes_) / parts};
}

CountedRows::CountedRows(std::span<const RowPart> parts, const Team& team,
                         const TransitionLikelihood& like, std::size_t most)
    : own(like, most) {
  std::vector<std::int64_t> sizes;
  for (const RowPart& part : parts) sizes.push_back(part.size);
  if (sizes.empty()) sizes.push_back(1);
  for (int rank = 0; rank < team.size(); ++rank) {
    shares_.push_back(parts.empty() ? Stretch{rank == 0 ? 0U : 1U, 1U}
                                    : share_of(sizes, rank, team.size()));
  }
  const auto sum = [&](Stretch some) {
    return std::accumulate(sizes.begin() + static_cast<std::ptrdiff_t>(some.first),
                           sizes.begin() + static_cast<std::ptrdiff_t>(some.end), 0.0);
  };
  const double share_of_all = sum(share(team.rank())) / sum({0, sizes.size()});
  if (share_of_all * team.size() > kLargestShare) own = {like, std::min(most, kAlwaysKept)};
}

void CountedRows::add(std::span<const std::int64_t> rows, bool keeps) {
  rows_.insert(rows_.end(), rows.begin(), rows.end());
  keeps_.push_back(keeps ? 1 : 0);
}

void CountedRows::save(ByteWriter& out) const {
  out.put_all(rows_);
  out.put_all(keeps_);
}

void CountedRows::load(ByteReader& in) {
  rows_ = in.get_all<std::int64_t>();
  keeps_ = in.get_all<char>();
}

std::int64_t CountedRows::num_rows() const {
  return std::accumulate(rows_.begin(), rows_.end(), std::int64_t{0});
}

std::vector<Stretch> CountedRows::kept() const {
  std::vector<std::size_t> before = {0};  // [part]
  for (const std::int64_t rows : rows_) {
    before.push_back(before.back() + static_cast<std::size_t>(rows));
  }
  std::vector<Stretch> kept(shares_.size());
  for (std::size_t rank = 0; rank < keeps_.size(); ++rank) {
    if (keeps_[rank] != 0) kept[rank] = {before[shares_[rank].first], before[shares_[rank].end]};
  }
  return kept;
}

bool hand_over(Team& team, KeptRows own, std::span<const Stretch> kept,
               std::span<const Stretch> wanted, TransitionLikelihood& to) {
  const Exchange exchange(team);
  HandOver work(team, kept, wanted, own.like(), to);
  work.send(own.take());
  work.collect();
  work.wait_for_others();
  return work.goes_on();
}

}  // namespace oas::detail

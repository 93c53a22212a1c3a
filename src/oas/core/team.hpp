#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <string_view>

/// Several processes, ranks 0 … size-1, that do one job together: each was started with the same
/// arguments and comes along the same way to the places where work is shared. Rank 0 leads: it
/// alone prints, writes and stores. The others do what it asks for, and end when it dismisses them.
/// What comes out does not depend on how many there are.
namespace oas {

/// What ends the work of a rank that is not needed any more. No error.
class Dismissed : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "dismissed"; }
};

/// The team as one of its ranks sees it. What carries the messages is a back end's business
/// (backends/mpi). For one thread at a time.
class Team {
 public:
  struct Message {
    int from = 0;
    std::string bytes;
  };

  virtual ~Team() = default;
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  [[nodiscard]] bool leads() const { return rank() == 0; }

  /// Returns at once. Messages of one rank to another arrive in their order.
  virtual void send(int to, std::string bytes) = 0;
  /// Waits for the next message of that rank, or of any.
  [[nodiscard]] virtual std::string receive(int from) = 0;
  [[nodiscard]] virtual Message receive_any() = 0;

  /// One line for people, from rank 0.
  virtual void tell(const std::string& line) = 0;

  /// The same bytes on all ranks: those that rank 0 has. All ranks call it.
  [[nodiscard]] std::string broadcast(std::string bytes);

  /// Rank 0: what all others get from their next order(). Not empty.
  void give_order(const std::string& order);
  /// The others wait for it. Throws Dismissed when there is none to come.
  [[nodiscard]] std::string order();
  /// Rank 0, once, at the end: there is none to come. No rank may be within an exchange.
  void dismiss();

  /// Whether this rank left an exchange by an exception: the others wait for its messages, and only
  /// the end of all processes helps.
  [[nodiscard]] bool broken() const { return broken_; }

 protected:
  Team() = default;

 private:
  friend class Exchange;
  bool broken_ = false;
};

/// While it lives, others wait for messages of this rank (see Team::broken).
class Exchange {
 public:
  explicit Exchange(Team& team) : team_(team), exceptions_(std::uncaught_exceptions()) {}
  ~Exchange() { team_.broken_ = team_.broken_ || std::uncaught_exceptions() > exceptions_; }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

 private:
  Team& team_;
  int exceptions_;
};

/// What `work` gives, or how it failed, as bytes.
[[nodiscard]] std::string answer_of(const Team& team, const std::function<std::string()>& work);
/// The bytes. Throws what `work` threw: InvalidArgument with the same text and, behind it, which
/// rank on which machine found it; for anything else, which is about one machine, IoError with the
/// rank in front.
[[nodiscard]] std::string result_of(std::string_view answer);

/// Each rank does its share of some work; on rank 0, `take` is given what came of it, in the order
/// of ranks. All ranks call it. Where shares fail, rank 0 throws what the first of them threw, once
/// all are done.
void gather(Team& team, const std::function<std::string()>& share,
            const std::function<void(const std::string& bytes)>& take);

/// Items first … end-1 of a list.
struct Stretch {
  std::size_t first = 0;
  std::size_t end = 0;

  [[nodiscard]] std::size_t size() const { return end - first; }
};

/// The items of rank `rank` of `ranks`, where items of these sizes are dealt out in their order, in
/// shares of about equal size; may be none.
[[nodiscard]] Stretch share_of(std::span<const std::int64_t> sizes, int rank, int ranks);

}  // namespace oas

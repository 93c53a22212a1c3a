#include "oas/core/team.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <new>
#include <stdexcept>
#include <utility>

#include "oas/core/bytes.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/interruption.hpp"

namespace oas {

namespace {

enum class Outcome : std::uint8_t { done, bad_input, failed };

std::string framed(Outcome outcome, std::string_view bytes) {
  std::string text(1, static_cast<char>(outcome));
  return text.append(bytes);
}

std::string place_of(const Team& team) {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  return fmt::format("rank {} on {}", team.rank(), host.data());
}

// A failure that is no matter of the input happened somewhere; a fault of the input was only found
// there, but machines may see different files.
std::string failed(const Team& team, std::string_view what) {
  return framed(Outcome::failed, fmt::format("{}: {}", place_of(team), what));
}
std::string found_wrong(const Team& team, std::string_view what) {
  return framed(Outcome::bad_input, fmt::format("{} (found by {})", what, place_of(team)));
}

}  // namespace

// Along a tree: rank r hears from r without its lowest bit.
std::string Team::broadcast(std::string bytes) {
  const Exchange exchange(*this);
  int bit = 1;
  for (; bit < size(); bit *= 2) {
    if ((rank() & bit) == 0) continue;
    bytes = receive(rank() - bit);
    break;
  }
  for (bit /= 2; bit > 0; bit /= 2) {
    if (rank() + bit < size()) send(rank() + bit, bytes);
  }
  return bytes;
}

void Team::give_order(const std::string& order) {
  OAS_ASSERT(leads() && !order.empty());
  static_cast<void>(broadcast(order));
}

std::string Team::order() {
  OAS_ASSERT(!leads());
  std::string order = broadcast({});
  if (order.empty()) throw Dismissed();
  return order;
}

void Team::dismiss() {
  OAS_ASSERT(leads());
  static_cast<void>(broadcast({}));
}

std::string answer_of(const Team& team, const std::function<std::string()>& work) {
  try {
    return framed(Outcome::done, work());
  } catch (const Interrupted&) {
    throw;
  } catch (const InvalidArgument& error) {
    return found_wrong(team, error.what());
  } catch (const std::bad_alloc&) {
    return failed(team, "there is not enough memory for this");
  } catch (const std::exception& error) {
    return failed(team, error.what());
  }
}

std::string result_of(std::string_view answer) {
  OAS_REQUIRE(!answer.empty(), "an answer of no bytes");
  std::string bytes(answer.substr(1));
  switch (static_cast<Outcome>(answer.front())) {
    case Outcome::done:
      return bytes;
    case Outcome::bad_input:
      throw InvalidArgument(bytes);
    case Outcome::failed:
      break;
  }
  throw IoError(bytes);
}

void gather(Team& team, const std::function<std::string()>& share,
            const std::function<void(const std::string& bytes)>& take) {
  std::exception_ptr failure;
  {
    const Exchange exchange(team);
    std::string answer = answer_of(team, share);
    if (!team.leads()) return team.send(0, std::move(answer));
    for (int rank = 0; rank < team.size(); ++rank) {
      if (rank > 0) answer = team.receive(rank);
      if (failure) continue;
      try {
        take(result_of(answer));
      } catch (...) {
        failure = std::current_exception();
      }
    }
  }
  if (failure) std::rethrow_exception(failure);
}

// An item belongs to the rank in whose share its middle lies.
Stretch share_of(std::span<const std::int64_t> sizes, int rank, int ranks) {
  double total = 0.0;
  for (const std::int64_t size : sizes) total += static_cast<double>(size) + 1.0;
  const auto owner = [&](double middle) {
    return std::min(ranks - 1, static_cast<int>(middle / total * ranks));
  };
  Stretch stretch;
  double before = 0.0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double size = static_cast<double>(sizes[i]) + 1.0;
    const int whose = owner(before + 0.5 * size);
    stretch.first += whose < rank ? 1 : 0;
    stretch.end += whose <= rank ? 1 : 0;
    before += size;
  }
  return stretch;
}

}  // namespace oas

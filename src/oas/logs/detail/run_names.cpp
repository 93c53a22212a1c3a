#include "oas/logs/detail/run_names.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "oas/core/contracts.hpp"

namespace oas::detail {

namespace {

constexpr std::size_t kFirstSlots = 64;

// Every bit of the result depends on every bit of x (the finaliser of SplitMix64).
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = mixed(0x9e3779b97f4a7c15U + text.size());
  while (!text.empty()) {
    std::uint64_t word = 0;
    const std::size_t size = std::min(text.size(), sizeof word);
    std::memcpy(&word, text.data(), size);
    hash = mixed(hash ^ mixed(word + 0x9e3779b97f4a7c15U));
    text.remove_prefix(size);
  }
  return hash != 0 ? hash : 1;  // 0 is a free slot
}

}  // namespace

std::optional<std::uint64_t> RunNames::number_of(std::string_view text) {
  if (text.empty() || text.size() > 18 || (text.size() > 1 && text.front() == '0')) return {};
  std::uint64_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return {};
    number = 10 * number + static_cast<std::uint64_t>(c - '0');
  }
  return number;
}

bool RunNames::count_up_to(std::uint64_t number) {
  if (!counts_up_ || hashes_ > 0 || number < first_) return false;
  last_ = number;
  return true;
}

bool RunNames::add(std::string_view name) {
  const std::optional<std::uint64_t> number = number_of(name);
  const std::uint64_t hash = hash_of(name);
  if (!number) return insert(hash);
  if (!counts_up_) {
    counts_up_ = true;
    first_ = last_ = *number;
    return true;
  }
  if (*number >= first_ && *number <= last_) return false;
  if (*number != last_ + 1) return insert(hash);
  if (holds(hash)) return false;  // it came before its turn
  last_ = *number;
  return true;
}

// Where a hash is, or the free slot for it.
std::size_t RunNames::slot_of(std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  while (slots_[slot] != 0 && slots_[slot] != hash) slot = (slot + 1) & mask;
  return slot;
}

bool RunNames::holds(std::uint64_t hash) const {
  return !slots_.empty() && slots_[slot_of(hash)] == hash;
}

bool RunNames::insert(std::uint64_t hash) {
  if (4 * (hashes_ + 1) > 3 * slots_.size()) grow();
  std::uint64_t& slot = slots_[slot_of(hash)];
  if (slot == hash) return false;
  OAS_REQUIRE(hashes_ < most_,
              "more than {} runs, whose names cannot all be remembered; number them 0, 1, 2, … in "
              "the order of the file, or cut the log into several files",
              most_);
  slot = hash;
  ++hashes_;
  return true;
}

void RunNames::grow() {
  std::vector<std::uint64_t> old = std::exchange(
      slots_, std::vector<std::uint64_t>(std::max(kFirstSlots, 2 * slots_.size()), 0));
  for (const std::uint64_t hash : old) {
    if (hash != 0) slots_[slot_of(hash)] = hash;
  }
}

}  // namespace oas::detail

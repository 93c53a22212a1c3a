#include <iterator>
#include <limits>

#include "oas/core/contracts.hpp"
#include "oas/planning/policies/alpha_policy.hpp"
#include "oas/planning/policies/detail/policy_words.hpp"

namespace oas {

namespace {

// One .alpha text, line by line.
class AlphaReader {
 public:
  AlphaReader(std::string_view text, const std::string& file, const PolicyReadOptions& options)
      : rest_(text), file_(file), options_(options) {}

  AlphaPolicy read() {
    while (next_filled_line()) {
      read_action();
      if (!next_filled_line()) fail("the file ends after an action; its vector is missing");
      read_vector();
    }
    if (policy_.actions.empty()) fail("no vector in the file");
    return std::move(policy_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw ParseError(file_, line_, 0, message);
  }

  bool next_filled_line() {
    while (!rest_.empty()) {
      words_ = detail::next_line(rest_);
      ++line_;
      if (words_.find_first_not_of(" \t\r") != std::string_view::npos) return true;
    }
    return false;
  }

  void read_action() {
    const std::string_view word = detail::next_word(words_);
    int action = 0;
    if (!detail::read_integer(word, action) || action < 0) {
      fail(fmt::format("found '{}', expected the number of an action", detail::cut_word(word)));
    }
    const std::string_view more = detail::next_word(words_);
    if (!more.empty()) {
      fail(fmt::format("found '{}' after action {}, expected the end of the line",
                       detail::cut_word(more), action));
    }
    policy_.actions.push_back(action);
    policy_.seen.push_back(0);
  }

  void read_vector() {
    const std::size_t before = policy_.alpha.size();
    while (true) {
      const std::string_view word = detail::next_word(words_);
      if (word.empty()) break;
      double value = 0.0;
      if (!detail::read_real(word, value)) {
        fail(fmt::format("found '{}', expected a number", detail::cut_word(word)));
      }
      if (policy_.alpha.size() >= options_.max_numbers) {
        fail(fmt::format("more than the limit of {} numbers", options_.max_numbers));
      }
      policy_.alpha.push_back(value);
    }
    const std::size_t count = policy_.alpha.size() - before;
    if (before == 0) policy_.vector_length = static_cast<int>(count);
    if (count != static_cast<std::size_t>(policy_.vector_length)) {
      fail(fmt::format("a vector of {} numbers where the first has {}", count,
                       policy_.vector_length));
    }
  }

  std::string_view rest_;
  const std::string& file_;
  const PolicyReadOptions& options_;
  std::string_view words_;
  long line_ = 0;
  AlphaPolicy policy_;
};

}  // namespace

AlphaPolicy parse_alpha(std::string_view text, const std::string& file,
                        const PolicyReadOptions& options) {
  return AlphaReader(text, file, options).read();
}

std::string alpha_to_text(const AlphaPolicy& policy) {
  policy.validate();
  OAS_REQUIRE(policy.num_seen == 1,
              "an .alpha file has one vector space; the policy has {} seen values, which only a "
              ".policy file can hold",
              policy.num_seen);
  std::string text;
  for (int k = 0; k < policy.num_vectors(); ++k) {
    fmt::format_to(std::back_inserter(text), "{}\n{}\n\n",
                   policy.actions[static_cast<std::size_t>(k)], fmt::join(policy.vector(k), " "));
  }
  return text;
}

}  // namespace oas

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oas/model/pomdp.hpp"
#include "oas/model/state_split.hpp"

/// Policies of other solvers given by α-vectors: pomdp-solve's .alpha and APPL's .policy files
/// (docs/reference/formats.md).
namespace oas {

struct PolicyReadOptions {
  /// Most numbers of a policy (sparse vectors are held in full). A file that needs more is refused
  /// with an error that names the limit.
  std::size_t max_numbers = 40'000'000;
};

/// At belief b the action of the vector with the largest α_k·b; ties go to the first. Where part of
/// the state is seen as it is (APPL's mixed observability), only vectors of the seen value compete
/// and b is the belief over the hidden part.
struct AlphaPolicy {
  int vector_length = 0;      ///< states, or hidden parts of states
  int num_seen = 1;           ///< values of the seen part; 1: nothing is seen
  std::vector<int> actions;   ///< [K]
  std::vector<int> seen;      ///< [K], the value that the vector is for
  std::vector<double> alpha;  ///< [K][vector_length]

  [[nodiscard]] int num_vectors() const { return static_cast<int>(actions.size()); }
  /// Throws InvalidArgument when there is none.
  [[nodiscard]] std::span<const double> vector(int k) const;
  /// Throws InvalidArgument naming the part and the value.
  void validate() const;
  /// One line for people.
  [[nodiscard]] std::string brief() const;

  friend bool operator==(const AlphaPolicy&, const AlphaPolicy&) = default;
};

/// Reads pomdp-solve's .alpha text: a line with the action, a line with the numbers, again and
/// again; blank lines mean nothing. Throws ParseError "file:line: …".
[[nodiscard]] AlphaPolicy parse_alpha(std::string_view text, const std::string& file,
                                      const PolicyReadOptions& options = {});
/// Shortest digits that read back to the same numbers. Throws InvalidArgument when a part of the
/// state is seen: the format has no place for it.
[[nodiscard]] std::string alpha_to_text(const AlphaPolicy& policy);

/// Reads APPL's .policy text (XML, dense and sparse vectors). Throws ParseError "file:line: …".
[[nodiscard]] AlphaPolicy parse_appl_policy(std::string_view text, const std::string& file,
                                            const PolicyReadOptions& options = {});
[[nodiscard]] std::string appl_policy_to_text(const AlphaPolicy& policy);

/// The policy as a function of beliefs over the states of one model. Cost S + K L at a belief, K
/// vectors of the seen value, L numbers each; no allocation. Before the first observation the seen
/// part may be open: then the likeliest value counts.
class AlphaActions {
 public:
  /// `split` says what is seen of each state of the model; needed when the policy has several seen
  /// values. Throws InvalidArgument when sizes do not fit, when a seen value that can occur has no
  /// vector, and when the model is of timing `before` and not the same in timing `after` on its
  /// states: the vectors are then not about its beliefs.
  AlphaActions(const AlphaPolicy& policy, const Pomdp& model, const StateSplit& split = {});

  /// Throws InvalidArgument unless the belief is over the model's states.
  [[nodiscard]] int operator()(std::span<const double> belief);

 private:
  struct Group {
    std::vector<int> states;    // with this seen value
    std::vector<int> hidden;    // of these states
    std::vector<int> actions;   // of the vectors
    std::vector<double> alpha;  // [vector][hidden]
  };

  std::size_t width_;
  std::size_t num_states_;
  std::vector<Group> groups_;   // by seen value
  std::vector<double> belief_;  // over the hidden part
};

}  // namespace oas

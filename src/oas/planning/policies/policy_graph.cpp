#include "oas/planning/policies/policy_graph.hpp"

#include <algorithm>
#include <iterator>

#include "oas/planning/policies/detail/policy_words.hpp"

namespace oas {

namespace {

// One .pg text. Ids are checked when all are known.
class GraphReader {
 public:
  GraphReader(std::string_view text, const std::string& file, const PolicyReadOptions& options)
      : rest_(text), file_(file), options_(options) {}

  PolicyGraph read() {
    while (!rest_.empty()) {
      words_ = detail::next_line(rest_);
      ++line_;
      if (words_.find_first_not_of(" \t\r") != std::string_view::npos) read_node();
    }
    if (ids_.empty()) fail("no node in the file");
    return in_order();
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw ParseError(file_, line_, 0, message);
  }

  int index(const char* what) {
    const std::string_view word = detail::next_word(words_);
    int value = 0;
    if (!detail::read_integer(word, value) || value < 0) {
      fail(fmt::format("found '{}', expected {}", detail::cut_word(word), what));
    }
    return value;
  }

  void read_node() {
    ids_.push_back(index("the number of a node"));
    lines_.push_back(line_);
    read_.actions.push_back(index("the number of an action"));
    const std::size_t before = read_.next.size();
    for (std::string_view word = detail::next_word(words_); !word.empty();
         word = detail::next_word(words_)) {
      int node = PolicyGraph::kNone;
      if (word != "X" && word != "-" && !detail::read_integer(word, node)) {
        fail(fmt::format("found '{}', expected the number of a node, X or -",
                         detail::cut_word(word)));
      }
      if (read_.next.size() >= options_.max_numbers) {
        fail(fmt::format("more than the limit of {} numbers", options_.max_numbers));
      }
      read_.next.push_back(std::max(node, PolicyGraph::kNone));
    }
    const auto count = static_cast<int>(read_.next.size() - before);
    if (before == 0) read_.num_observations = count;
    if (count == 0) fail("a node without next nodes; expected one for each observation");
    if (count != read_.num_observations) {
      fail(fmt::format("{} next nodes where the first line has {}", count, read_.num_observations));
    }
  }

  PolicyGraph in_order() {
    const auto n = ids_.size();
    const auto width = static_cast<std::size_t>(read_.num_observations);
    PolicyGraph graph = read_;
    std::vector<long> given(n, 0);
    for (std::size_t i = 0; i < n; ++i) {
      line_ = lines_[i];
      const auto id = static_cast<std::size_t>(ids_[i]);
      if (id >= n) fail(fmt::format("node {} where there are {} nodes, numbered from 0", id, n));
      if (given[id] != 0) fail(fmt::format("node {} was given in line {} already", id, given[id]));
      given[id] = line_;
      graph.actions[id] = read_.actions[i];
      for (std::size_t o = 0; o < width; ++o) {
        const int next = read_.next[i * width + o];
        if (next >= static_cast<int>(n)) {
          fail(fmt::format("next node {} where there are {} nodes, numbered from 0", next, n));
        }
        graph.next[id * width + o] = next;
      }
    }
    return graph;
  }

  std::string_view rest_;
  const std::string& file_;
  const PolicyReadOptions& options_;
  std::string_view words_;
  long line_ = 0;
  std::vector<int> ids_;
  std::vector<long> lines_;
  PolicyGraph read_;  // in the order of the lines
};

}  // namespace

void PolicyGraph::validate() const {
  OAS_REQUIRE(!actions.empty() && num_observations >= 1, "a graph of {} nodes and {} observations",
              actions.size(), num_observations);
  OAS_REQUIRE(next.size() == actions.size() * static_cast<std::size_t>(num_observations),
              "{} next nodes for {} nodes and {} observations", next.size(), actions.size(),
              num_observations);
  for (std::size_t i = 0; i < next.size(); ++i) {
    OAS_REQUIRE(next[i] >= kNone && next[i] < num_nodes(), "next node {} of {}", next[i],
                num_nodes());
  }
  OAS_REQUIRE(first.empty() || first.size() == static_cast<std::size_t>(num_observations),
              "first nodes after {} of {} readings", first.size(), num_observations);
  for (const int node : first) {
    OAS_REQUIRE(node >= kNone && node < num_nodes(), "first node {} of {}", node, num_nodes());
  }
  for (std::size_t n = 0; n < actions.size(); ++n) {
    OAS_REQUIRE(actions[n] >= 0, "node {} has action {}", n, actions[n]);
  }
}

void PolicyGraph::check_fits(const Pomdp& model) const {
  validate();
  OAS_REQUIRE(num_observations == model.num_observations(),
              "the policy graph is for {} observations, but the model has {}", num_observations,
              model.num_observations());
  for (std::size_t n = 0; n < actions.size(); ++n) {
    OAS_REQUIRE(actions[n] < model.num_actions(),
                "node {} of the policy graph has action {}, but the model has {} actions", n,
                actions[n], model.num_actions());
  }
}

std::string PolicyGraph::brief() const {
  return fmt::format("policy graph of {} node{}, {} observations", num_nodes(),
                     num_nodes() == 1 ? "" : "s", num_observations);
}

PolicyGraph parse_policy_graph(std::string_view text, const std::string& file,
                               const PolicyReadOptions& options) {
  return GraphReader(text, file, options).read();
}

std::string policy_graph_to_text(const PolicyGraph& graph) {
  graph.validate();
  std::string text;
  for (int n = 0; n < graph.num_nodes(); ++n) {
    fmt::format_to(std::back_inserter(text), "{} {} ", n,
                   graph.actions[static_cast<std::size_t>(n)]);
    for (int o = 0; o < graph.num_observations; ++o) {
      const int next = graph.next_node(n, Observation{o});
      text += next == PolicyGraph::kNone ? " X" : fmt::format(" {}", next);
    }
    text += '\n';
  }
  return text;
}

int start_node_by_vectors(const PolicyGraph& graph, const AlphaPolicy& vectors,
                          const Pomdp& model) {
  vectors.validate();
  OAS_REQUIRE(vectors.actions == graph.actions,
              "the vectors are not those of the graph: {} of them for {} nodes, or other actions",
              vectors.num_vectors(), graph.num_nodes());
  OAS_REQUIRE(vectors.num_seen == 1 && vectors.vector_length == model.num_states(),
              "vectors of {} numbers for {} states", vectors.vector_length, model.num_states());
  const VectorView start(model.start().data(), model.num_states());
  int best = 0;
  double value = 0.0;
  for (int k = 0; k < vectors.num_vectors(); ++k) {
    const double other = VectorView(vectors.vector(k).data(), vectors.vector_length).dot(start);
    if (k == 0 || other > value) {
      value = other;
      best = k;
    }
  }
  return best;
}

}  // namespace oas

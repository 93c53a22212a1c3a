#include <algorithm>
#include <iterator>
#include <pugixml.hpp>

#include "oas/core/contracts.hpp"
#include "oas/core/markup.hpp"
#include "oas/planning/policies/alpha_policy.hpp"
#include "oas/planning/policies/detail/policy_words.hpp"

namespace oas {

namespace {

// One APPL .policy text.
class ApplReader {
 public:
  ApplReader(std::string_view text, const std::string& file, const PolicyReadOptions& options)
      : text_(text), file_(file), options_(options) {}

  AlphaPolicy read() {
    const std::size_t zero = text_.find('\0');
    if (zero != std::string_view::npos) {
      fail(static_cast<std::ptrdiff_t>(zero), "not valid XML: a byte that is 0");
    }
    const auto result = document_.load_buffer(text_.data(), text_.size(),
                                              pugi::parse_default | pugi::parse_fragment);
    if (!result) fail(result.offset, fmt::format("not valid XML: {}", result.description()));
    if (const std::ptrdiff_t stray = stray_content<pugi::xml_node>(document_); stray >= 0) {
      fail(stray, "not valid XML: text or an element where none belongs");
    }
    const pugi::xml_node root = document_.document_element();
    if (std::string_view(root.name()) != "Policy") {
      fail(root, fmt::format("found <{}>, expected <Policy>", detail::cut_word(root.name())));
    }
    const std::string_view type = root.attribute("type").as_string("value");
    if (type != "value") {
      fail(root,
           fmt::format("a policy of type '{}'; only 'value' is known", detail::cut_word(type)));
    }
    read_vectors(only_child(root));
    return std::move(policy_);
  }

 private:
  [[noreturn]] void fail(std::ptrdiff_t offset, const std::string& message) const {
    const auto at = std::clamp<std::ptrdiff_t>(offset, 0, std::ssize(text_));
    throw ParseError(file_, 1 + std::count(text_.begin(), text_.begin() + at, '\n'), 0, message);
  }
  [[noreturn]] void fail(const pugi::xml_node& node, const std::string& message) const {
    fail(node.offset_debug(), message);
  }

  pugi::xml_node only_child(const pugi::xml_node& root) const {
    pugi::xml_node vectors;
    for (const pugi::xml_node& node : root.children()) {
      if (node.type() != pugi::node_element) continue;
      if (std::string_view(node.name()) != "AlphaVector" || vectors) {
        fail(node,
             fmt::format("found <{}>, expected one <AlphaVector>", detail::cut_word(node.name())));
      }
      vectors = node;
    }
    if (!vectors) fail(root, "no <AlphaVector> in <Policy>");
    return vectors;
  }

  // A whole number of at least `least`; `missing` stands for an attribute that is not there.
  int integer(const pugi::xml_node& node, const char* name, int least, int missing) const {
    const pugi::xml_attribute attribute = node.attribute(name);
    int value = missing;
    if (attribute && !detail::read_integer(attribute.value(), value)) value = least - 1;
    if (value < least) {
      fail(node, attribute
                     ? fmt::format("{}=\"{}\" in <{}>; it must be a number of at least {}", name,
                                   detail::cut_word(attribute.value()), node.name(), least)
                     : fmt::format("no {} in <{}>", name, node.name()));
    }
    return value;
  }

  void read_vectors(const pugi::xml_node& parent) {
    policy_.vector_length = integer(parent, "vectorLength", 1, 0);
    policy_.num_seen = integer(parent, "numObsValue", 1, 1);
    const double states = static_cast<double>(policy_.vector_length) * policy_.num_seen;
    if (states > static_cast<double>(options_.max_numbers)) {
      fail(parent, fmt::format("vectors for {:.0f} states, more than the limit of {} numbers",
                               states, options_.max_numbers));
    }
    for (const pugi::xml_node& node : parent.children()) {
      if (node.type() != pugi::node_element) continue;
      const std::string_view name = node.name();
      if (name != "Vector" && name != "SparseVector") {
        fail(node, fmt::format("found <{}>, expected <Vector> or <SparseVector>",
                               detail::cut_word(name)));
      }
      const auto width = static_cast<std::size_t>(policy_.vector_length);
      if (width > options_.max_numbers - std::min(policy_.alpha.size(), options_.max_numbers)) {
        fail(node, fmt::format("more than the limit of {} numbers", options_.max_numbers));
      }
      policy_.actions.push_back(integer(node, "action", 0, -1));
      policy_.seen.push_back(integer(node, "obsValue", 0, policy_.num_seen == 1 ? 0 : -1));
      if (policy_.seen.back() >= policy_.num_seen) {
        fail(node, fmt::format("obsValue=\"{}\" where numObsValue is {}", policy_.seen.back(),
                               policy_.num_seen));
      }
      name == "Vector" ? read_dense(node) : read_sparse(node);
    }
    if (policy_.actions.empty()) fail(parent, "no vector in <AlphaVector>");
    const int stated = integer(parent, "numVectors", 0, policy_.num_vectors());
    if (stated != policy_.num_vectors()) {
      fail(parent, fmt::format("numVectors=\"{}\", but there are {} vectors", stated,
                               policy_.num_vectors()));
    }
  }

  double number(const pugi::xml_node& node, std::string_view word) const {
    double value = 0.0;
    if (!detail::read_real(word, value)) {
      fail(node, fmt::format("found '{}' in <{}>, expected a number", detail::cut_word(word),
                             node.name()));
    }
    return value;
  }

  void read_dense(const pugi::xml_node& node) {
    std::string_view words = node.child_value();
    std::size_t count = 0;
    for (std::string_view word = detail::next_word(words); !word.empty();
         word = detail::next_word(words)) {
      if (++count > static_cast<std::size_t>(policy_.vector_length)) break;
      policy_.alpha.push_back(number(node, word));
    }
    if (count != static_cast<std::size_t>(policy_.vector_length)) {
      fail(node, fmt::format("a vector of {} numbers where vectorLength is {}",
                             count > static_cast<std::size_t>(policy_.vector_length)
                                 ? "more"
                                 : std::to_string(count),
                             policy_.vector_length));
    }
  }

  void read_sparse(const pugi::xml_node& node) {
    const std::size_t first = policy_.alpha.size();
    policy_.alpha.resize(first + static_cast<std::size_t>(policy_.vector_length), 0.0);
    for (const pugi::xml_node& entry : node.children()) {
      if (entry.type() != pugi::node_element) continue;
      std::string_view words = entry.child_value();
      int index = 0;
      const std::string_view word = detail::next_word(words);
      if (std::string_view(entry.name()) != "Entry" || !detail::read_integer(word, index) ||
          index < 0 || index >= policy_.vector_length) {
        fail(entry, fmt::format("found <{}> with '{}', expected <Entry> with an index below {}",
                                detail::cut_word(entry.name()), detail::cut_word(word),
                                policy_.vector_length));
      }
      policy_.alpha[first + static_cast<std::size_t>(index)] =
          number(entry, detail::next_word(words));
      if (!detail::next_word(words).empty()) fail(entry, "more than an index and a number");
    }
  }

  std::string_view text_;
  const std::string& file_;
  const PolicyReadOptions& options_;
  pugi::xml_document document_;
  AlphaPolicy policy_;
};

}  // namespace

AlphaPolicy parse_appl_policy(std::string_view text, const std::string& file,
                              const PolicyReadOptions& options) {
  return ApplReader(text, file, options).read();
}

std::string appl_policy_to_text(const AlphaPolicy& policy) {
  policy.validate();
  std::string text =
      "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n"
      "<Policy version=\"0.1\" type=\"value\" model=\"oas\">\n";
  auto out = std::back_inserter(text);
  fmt::format_to(out, "<AlphaVector vectorLength=\"{}\" numObsValue=\"{}\" numVectors=\"{}\">\n",
                 policy.vector_length, policy.num_seen, policy.num_vectors());
  for (int k = 0; k < policy.num_vectors(); ++k) {
    const auto i = static_cast<std::size_t>(k);
    // APPL reads word by word: the last number must not touch the tag.
    fmt::format_to(out, "<Vector action=\"{}\" obsValue=\"{}\">{} </Vector>\n", policy.actions[i],
                   policy.seen[i], fmt::join(policy.vector(k), " "));
  }
  return text + "</AlphaVector>\n</Policy>\n";
}

}  // namespace oas

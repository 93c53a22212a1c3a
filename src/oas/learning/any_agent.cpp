#include "oas/learning/any_agent.hpp"

#include <fmt/format.h>

#include <array>

#include "oas/core/fingerprint.hpp"
#include "oas/model/model_json.hpp"

namespace oas {

namespace {

constexpr const char* kStateFormat = "oas-agent/1";

// Worked out when it is needed: agents are made far more often than saved.
std::string model_text(const AgentIdentity& identity) {
  if (!identity.model) return {};
  return fmt::format("{:016x}", fingerprint(dump_json(model_to_json(*identity.model))));
}

void require_same(const JsonView& stored, const std::string& own) {
  if (stored.as_string() == own) return;
  stored.fail(
      fmt::format("was saved by another agent, or one that was made otherwise: '{}', and "
                  "this one has '{}'",
                  stored.as_string(), own));
}

}  // namespace

// Over the text, which is the same before and after it went through a file.
std::string checksum_of_state(const nlohmann::ordered_json& document) {
  nlohmann::ordered_json rest = document;
  rest.erase("checksum");
  return fmt::format("{:016x}", fingerprint(dump_json(rest)));
}

nlohmann::ordered_json AnyAgent::save() const {
  nlohmann::ordered_json document = {{"format", kStateFormat},
                                     {"agent", identity_.name},
                                     {"settings", identity_.settings},
                                     {"model", model_text(identity_)},
                                     {"state", held_->save()}};
  document["checksum"] = checksum_of_state(document);
  return document;
}

void AnyAgent::load(const JsonView& document) {
  constexpr std::array<std::string_view, 6> kKeys = {"format", "agent",    "settings",
                                                     "model",  "checksum", "state"};
  document.require_keys(kKeys);
  const JsonView format = document.at("format");
  if (format.as_string() != kStateFormat) {
    format.fail(fmt::format("expected \"{}\", found \"{}\"", kStateFormat, format.as_string()));
  }
  require_same(document.at("agent"), identity_.name);
  require_same(document.at("settings"), identity_.settings);
  require_same(document.at("model"), model_text(identity_));
  const JsonView checksum = document.at("checksum");
  if (checksum.as_string() != checksum_of_state(document.json())) {
    checksum.fail("the saved state was changed: it does not match its checksum");
  }
  held_->load(document.at("state"));
}

}  // namespace oas

#pragma once

#include <string>
#include <vector>

#include "cli.hpp"
#include "oas/core/settings.hpp"
#include "stop_signals.hpp"

namespace oas {
class LiveAgent;
}

/// `oas agent --http`: the calls of an agent over HTTP, in place of standard input.
namespace oas::cli {

struct HttpArguments {
  std::string address;
  std::string token_file;
  std::vector<std::string> hosts;
  std::vector<Setting> given;  ///< the limits

  [[nodiscard]] bool wanted() const { return !address.empty(); }
};

/// Declares --http and what belongs to it; where this build has no HTTP server the help says so.
void add_http_options(CLI::App& verb, HttpArguments& arguments, Common& common);

/// Throws InvalidArgument on options that say nothing without --http, on an address that needs a
/// token, and on any --http where this build has no server; to be called before any work.
void check_http_options(const HttpArguments& arguments, const Common& common);

/// Serves until `signals` come; says where it listens. Throws IoError when the address is taken.
void serve_agent(LiveAgent& agent, const HttpArguments& arguments, const Common& common,
                 StopSignals& signals);

}  // namespace oas::cli

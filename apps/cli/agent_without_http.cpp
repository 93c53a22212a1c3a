#include <CLI/CLI.hpp>

#include "agent_http.hpp"
#include "oas/core/contracts.hpp"

/// In place of agent_http.cpp where the server could not be built.
namespace oas::cli {

namespace {
constexpr const char* kWhy =
    "this oas was built without its HTTP server (OAS_BUILD_HTTP, which needs "
    "Boost.Beast)";
}

void add_http_options(CLI::App& verb, HttpArguments& arguments, Common& /*common*/) {
  verb.add_option("--http", arguments.address, std::string("Not available: ") + kWhy);
}

void check_http_options(const HttpArguments& arguments, const Common& /*common*/) {
  OAS_REQUIRE(!arguments.wanted(), "--http: {}", kWhy);
}

void serve_agent(LiveAgent& /*agent*/, const HttpArguments& /*arguments*/, const Common& /*common*/,
                 StopSignals& /*signals*/) {
  detail::throw_invalid_argument(std::string("--http: ") + kWhy);
}

}  // namespace oas::cli

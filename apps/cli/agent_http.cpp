#include "agent_http.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "command_files.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/live/live_agent.hpp"
#include "oas/server/http_server.hpp"
#include "oas/web/agent_routes.hpp"
#include "service_manager.hpp"
#include "setting_options.hpp"

namespace oas::cli {

namespace {

constexpr std::size_t kMostTokenBytes = std::size_t{1} << 20;
constexpr rlim_t kOtherFiles = 64;  // journal, snapshot, libraries

std::vector<SettingInfo> limits() {
  HttpOptions options;
  SettingFields fields;
  options.visit(fields);
  return fields.describe();
}

HttpOptions http_options(const HttpArguments& arguments) {
  HttpOptions options;
  SettingFields fields;
  options.visit(fields);
  fields.apply(arguments.given, "--http");
  options.address = arguments.address;
  options.hosts = arguments.hosts;
  options.open_paths = AgentRoutes::open_paths();
  if (!arguments.token_file.empty()) {
    const std::string& file = arguments.token_file;
    options.tokens = parse_tokens(read_text_file(file, kMostTokenBytes), file);
  }
  options.validate();
  return options;
}

void warn_of_readable_tokens(const HttpArguments& arguments, const Common& common) {
  struct stat info = {};
  if (arguments.token_file.empty() || stat(arguments.token_file.c_str(), &info) != 0) return;
  if ((info.st_mode & S_IROTH) == 0) return;
  warn(common, fmt::format("{}: every user of this machine can read the tokens (chmod o-r)",
                           arguments.token_file));
}

// Each connection is an open file, of which few are allowed unless a program asks for more.
void allow_connections(int connections, const Common& common) {
  rlimit limit = {};
  const auto wanted = static_cast<rlim_t>(connections) + kOtherFiles;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= wanted) return;
  warn(common, fmt::format("--http-connections {}: only {} files may be open here (ulimit -n)",
                           connections, limit.rlim_cur));
}

AgentCalls calls_of(LiveAgent& agent, const std::unique_ptr<HttpServer>& server) {
  return {[&agent](std::string_view call, std::string_view body) {
            LiveReply reply = agent.call(call, body);
            return HttpReply{reply.status, std::move(reply.body)};
          },
          [&] { return agent.metrics() + to_prometheus(server->counts()); }};
}

}  // namespace

void add_http_options(CLI::App& verb, HttpArguments& arguments, Common& common) {
  verb.add_option("--http", arguments.address,
                  "ADDR:PORT to serve HTTP on, instead of standard input; port 0: any");
  add_input(
      verb, "--token-file", arguments.token_file,
      "File with a token on each line; clients must send one of them; required beyond loopback "
      "addresses",
      common);
  verb.add_option("--http-host", arguments.hosts,
                  "Host name by which clients may call, besides IP addresses and localhost")
      ->allow_extra_args(false);
  for (const SettingInfo& each : limits()) add_setting(verb, each, arguments.given);
}

void check_http_options(const HttpArguments& arguments, const Common& common) {
  if (arguments.wanted()) {
    static_cast<void>(http_options(arguments));
    warn_of_readable_tokens(arguments, common);
    return;
  }
  const std::string why = "used only with --http";
  refuse_options(common, {"--token-file", "--http-host"}, why);
  OAS_REQUIRE(arguments.given.empty(), "{}: {}", arguments.given.front().name, why);
}

void serve_agent(LiveAgent& agent, const HttpArguments& arguments, const Common& common,
                 StopSignals& signals) {
  const HttpOptions options = http_options(arguments);
  allow_connections(options.connections, common);
  std::unique_ptr<HttpServer> server;
  const AgentRoutes routes(calls_of(agent, server));
  server = std::make_unique<HttpServer>(
      options, [&routes](const HttpRequest& request) { return routes(request); });
  signals.call([&server] {
    tell_service_manager("STOPPING=1");
    server->stop();
  });
  print(common, fmt::format("listening on http://{}\n", server->address()));
  if (common.json) print_json(common, {{"http", fmt::format("http://{}", server->address())}});
  tell_service_manager("READY=1");
  server->run();
}

}  // namespace oas::cli

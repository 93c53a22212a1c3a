// An agent for a real system: it acts, is told what was seen, and loses nothing when it ends.

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <oas/live/live_agent.hpp>
#include <oas/oas.hpp>
#include <string>

namespace {

nlohmann::json ask(oas::LiveAgent& agent, const nlohmann::json& request) {
  return nlohmann::json::parse(agent.answer(request.dump()));
}

}  // namespace

int main() {
  const oas::Pomdp machine = oas::machine_maintenance();
  oas::LiveOptions options;
  options.journal = "pumps";
  std::filesystem::remove_all(options.journal);  // begin anew
  nlohmann::json choice;
  for (int day = 0; day < 2; ++day) {  // the second day is another process, as it were
    oas::LiveAgent agent(machine, options);
    // Asked again, it says again which step is to come and which action was chosen for it.
    const int first = day == 0 ? 0 : choice["step"].get<int>();
    choice = ask(agent, {{"call", "act"}, {"unit", "pump-7"}, {"step", first}});
    for (int hour = 0; hour < 24; ++hour) {
      const int reading = hour % 3 == 0 ? 1 : 0;  // in place of your sensor
      choice = ask(agent, {{"call", "step"},
                           {"unit", "pump-7"},
                           {"step", choice["step"]},
                           {"observation", reading}});
    }
    fmt::print("step {}: {}\n", choice["step"].get<int>(), choice["action"].get<std::string>());
  }
  return choice["step"] == 48 ? 0 : 1;
}

#include "fuzz/command_doors.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/fingerprint.hpp"
#include "oas/core/json_text.hpp"
#include "oas/estimation/evidence.hpp"
#include "oas/learning/agents.hpp"
#include "oas/logs/log_reader.hpp"
#include "oas/model/model_json.hpp"

namespace oas::test {

namespace {

namespace fs = std::filesystem;

constexpr const char* kModel =
    R"({"format": "oas-model/1", "timing": "after", "states": ["up", "down"], "actions": 2,
"observations": ["low", "mid", "high"], "start": [0.5, 0.5],
"transition": [[[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5], [0.3, 0.7]]],
"observation": [[[0.8, 0.1, 0.1], [0.1, 0.2, 0.7]], [[0.7, 0.2, 0.1], [0.2, 0.3, 0.5]]],
"reward": [[0, 1], [1, 0]]})";

constexpr const char* kDensities =
    R"({"format": "oas-model/1", "timing": "after", "states": ["up", "down"], "actions": ["run"],
"observations": {"dimension": 1}, "transition": [[[0.9, 0.1], [0.2, 0.8]]],
"density": [[{"kind": "gaussian", "mean": 0, "sd": 1},
{"kind": "gaussian", "mean": 3, "sd": 1}]], "reward": [[1, 0]]})";

constexpr const char* kReadings =
    "# oas-log/1 timing=after\naction,observation\nrun,0.5\nrun,2.9\nrun,\nrun,1.5\n";

constexpr const char* kUnits =
    "# oas-log/1 timing=after\nunit,ts,action,observation,state\na,1,0,low,up\nb,1,1,mid,\n"
    "a,2,1,high,down\nb,3,0,low,down\na,3,0,mid,down\nb,4,0,low,\na,4,0,,up\n";

constexpr const char* kStudy =
    "format = \"oas-study/1\"\nname = \"small\"\ntitle = \"A small study\"\nquestion = \"Does it "
    "hold?\"\nanswer = \"Exponent {error.slope.median}.\"\nseed = 3\nreplications = 1\n\n"
    "[defaults]\ncandidates = 2\nfirst_pairs = 100\nper_decade = 1\npairs = 200\n\n[[sweep]]\n"
    "name = \"a\"\nkind = \"estimation\"\nsize = [\"2x2x2\"]\n\n[[figure]]\nname = \"error\"\n"
    "title = \"Error\"\nkind = \"estimation\"\nx = \"pairs\"\ny = \"error\"\nseries = \"size\"\n";

constexpr const char* kStructure =
    R"({"format": "oas-structure/1", "entries": [["*", "down", "up", 0.25]],
"transition": [[[null, null], [null, null]], [[null, 0], [null, null]]]})";

constexpr const char* kLogOptions =
    R"({"format": "oas-log-options/1", "columns": {"run": "unit", "time": "ts"}, "step": "1",
"gaps": "repeat", "interleaved": true})";

std::vector<std::string> words(std::string_view line) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    all.emplace_back(line.substr(at, end - at));
    at = end + 1;
  }
  return all;
}

constexpr const char* kUnitColumns = "--columns run=unit,time=ts --step 1 --gaps repeat";

std::vector<Door> all_doors() {
  std::vector<Door> all;
  const auto add = [&](std::string_view file, std::string_view line, Shape shape = Shape::text) {
    all.push_back({file, words(line), shape});
  };
  add("x.json", "convert x.json out.pomdp");
  add("x.json", "plan x.json --grid 3 --steps 64 --json");
  add("x.json", "plan x.json --horizon 2 --work 0.01 --json");
  add("x.json", "simulate x.json --steps 20 --policy uniform -o out.csv");
  add("x.json", "estimate x.json log.csv --json");
  add("x.json", "compare m.json x.json --json");
  add("x.json", "plan x.json --grid 3 --steps 64 --radius 0.1 --json");
  add("x.json", "evaluate x.json --policy constant:0 --policy uniform --json");
  add("x.json", "learn x.json --agent uniform --steps 20 --oracle-gap 0.1 --json");
  add("c.json", "discretise c.json --trials 3 -o out.json");
  add("c.json", "simulate c.json --steps 20 --policy uniform -o out.csv");
  add("c.json", "estimate c.json readings.csv --json");
  add("c.json", "filter c.json readings.csv -o out.csv");
  for (const std::string_view file : {"x.pomdp", "x.pomdpx"}) {
    add(file, fmt::format("convert {} out.json", file));
    add(file, fmt::format("convert {} out.json --lenient", file));
    add(file, fmt::format("plan {} --grid 3 --steps 64 --json", file));
  }
  for (const std::string_view line :
       {"estimate m.json x.csv --json", "estimate m.json x.csv --estimator oas-ml --json",
        "filter m.json x.csv -o out.csv", "score m.json x.csv --json",
        "diagnose m.json x.csv --replicates 199 --json", "report m.json x.csv -o out.html",
        "forecast m.json x.csv --actions 0 --steps 3 --json", "calibrate x.csv -o out.json"}) {
    add("x.csv", line);
  }
  for (const std::string_view line :
       {"estimate m.json u.csv --json", "filter m.json u.csv -o out.csv",
        "calibrate u.csv --same-for-all-actions -o out.json",
        "forecast m.json u.csv --actions 0 --steps 3 --json"}) {
    add("u.csv", fmt::format("{} {}", line, kUnitColumns));
  }
  add("r.csv", "filter densities.json r.csv -o out.csv");
  add("r.csv", "estimate densities.json r.csv --outliers missing --json");
  add("x.csv.gz", "filter m.json x.csv.gz -o out.csv", Shape::binary);
  add("x.csv.zst", "filter m.json x.csv.zst -o out.csv", Shape::binary);
  add("e.json", "compare m.json e.json --json");
  add("e.json", "forecast e.json log.csv --actions 0 --steps 3 --json");
  add("e.json", "report e.json log.csv -o out.html");
  add("e.json", "plan e.json --grid 3 --steps 64 --json");
  add("p.json", "evaluate m.json p.json --steps 64 --json");
  add("p.json", "simulate m.json --policy p.json --steps 20 -o out.csv");
  add("p.json", "convert p.json out.pg");
  add("point.json", "evaluate m.json point.json --steps 64 --json");
  add("horizon.json", "evaluate m.json horizon.json --steps 64 --json");
  add("horizon.json", "simulate m.json --policy horizon.json --steps 3 -o out.csv");
  for (const std::string_view file : {"x.alpha", "x.policy", "x.pg"}) {
    add(file, fmt::format("evaluate m.json {} --steps 64 --json", file));
  }
  add("draws.json", "forecast draws.json log.csv --actions 0 --steps 3 --json");
  add("draws.json", "plan draws.json --grid 3 --robust --json");
  add("draws.json", "evaluate draws.json --policy constant:0 --json");
  add("s.json", "estimate m.json log.csv --estimator oas-ml --structure s.json --json");
  add("o.json", "filter m.json units.csv --log-options o.json -o out.csv");
  add("studies/x.toml", "study list");
  add("r/results.sqlite", "study report r", Shape::pages);
  add("r/results.sqlite", "study repair r", Shape::pages);
  add("r/results.sqlite", "study replay r 0", Shape::pages);
  add("r/results.sqlite", "study run study.toml -o r", Shape::pages);
  for (const AgentInfo& info : agents()) add("agent", fmt::format("{}", info.name));
  for (const EstimatorInfo& info : estimators()) {
    add("evidence", fmt::format("{}", info.name), Shape::binary);
  }
  return all;
}

void run(const std::string& line) { static_cast<void>(cli::run_command(words(line))); }

void write(std::string_view name, std::string_view bytes) {
  std::ofstream(std::string(name), std::ios::binary) << bytes;
}

std::string read(std::string_view name) {
  std::ifstream file(std::string(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The sound files lie in a folder of this process, in memory where the system has such a place.
void make_files() {
  write("m.json", kModel);
  write("densities.json", kDensities);
  write("readings.csv", kReadings);
  write("units.csv", kUnits);
  write("study.toml", kStudy);
  fs::create_directory("studies");
  for (const char* name : {"log.csv", "x.csv.gz", "x.csv.zst"}) {
    run(fmt::format("simulate m.json --steps 40 --policy uniform --state -o {} -q", name));
  }
  run("convert m.json x.pomdp -q");
  run("convert m.json x.pomdpx -q");
  run("estimate m.json log.csv -o e.json -q");
  run("plan m.json --grid 3 --steps 64 -o p.json -q");
  run("plan m.json --planner point --steps 64 -o point.json -q");
  run("plan m.json --horizon 3 -o horizon.json -q");
  run("estimate m.json log.csv --estimator gibbs --draws 80 -o draws.json -q");
  for (const char* name : {"x.alpha", "x.policy", "x.pg"}) {
    run(fmt::format("convert point.json {} -q", name));
  }
  run("study run study.toml -o r -q");
}

AnyAgent agent_of(std::string_view name) { return make_agent(name, parse_model(kModel, "m.json")); }

Evidence evidence_of(std::string_view name) {
  return make_evidence(name, parse_model(kModel, "m.json"));
}

Trajectory few_rows() {
  Trajectory rows;
  for (const int i : {0, 1, 1, 0, 2, 1, 0, 0}) {
    rows.actions.emplace_back(i % 2);
    rows.observations.emplace_back(i);
    rows.propensities.push_back(0.5);
  }
  return rows;
}

std::string saved_agent(std::string_view name) {
  AnyAgent agent = agent_of(name);
  Rng rng({1, 0, Role::agent});
  for (int t = 0; t < 20; ++t) {
    static_cast<void>(agent.act(rng));
    if (agent.needs_hidden_state()) agent.reveal(State{0});
    agent.observe(Observation{t % 3});
  }
  return dump_json(agent.save());
}

std::string saved_evidence(std::string_view name) {
  Evidence evidence = evidence_of(name);
  evidence.add(few_rows());
  return evidence.save();
}

// Behind the checksum: what a forger would do.
void load_agent(std::string_view name, std::string_view text) {
  nlohmann::ordered_json document = parse_json(std::string(text), "agent");
  if (document.is_object()) document["checksum"] = checksum_of_state(document);
  AnyAgent agent = agent_of(name);
  agent.load(JsonView(document, "agent"));
  Rng rng({2, 0, Role::agent});
  for (int t = 0; t < 5; ++t) {
    static_cast<void>(agent.act(rng));
    if (agent.needs_hidden_state()) agent.reveal(State{0});
    agent.observe(Observation{t % 3});
  }
}

void load_evidence(std::string_view name, std::string_view bytes) {
  constexpr std::size_t kChecksum = sizeof(std::uint64_t);
  if (bytes.size() < kChecksum) return;
  std::string forged(bytes.substr(0, bytes.size() - kChecksum));
  const std::uint64_t checksum = fingerprint(forged);
  forged.append(reinterpret_cast<const char*>(&checksum), kChecksum);
  Evidence evidence = evidence_of(name);
  evidence.load(forged);
  evidence.add(few_rows());
  static_cast<void>(evidence.estimate(EstimateOptions::bare()));
}

void clean_up(const Door& door) {
  for (const char* name :
       {"out.json", "out.csv", "out.pomdp", "out.html", "out.html.svg", "out.pg"}) {
    fs::remove(name);
  }
  if (door.shape == Shape::pages) {
    fs::remove_all("r");
    fs::create_directory("r");
  }
}

void enter(const Door& door, std::string_view bytes) {
  if (door.file == "agent") return load_agent(door.words.front(), bytes);
  if (door.file == "evidence") return load_evidence(door.words.front(), bytes);
  clean_up(door);
  write(door.file, bytes);
  std::vector<std::string> line = door.words;
  line.insert(line.end(), {"--threads", "1"});
  static_cast<void>(cli::run_command(line));
}

// Entered once; all files are relative to it.
void enter_folder() {
  static const bool done = [] {
    const fs::path memory = fs::exists("/dev/shm") ? "/dev/shm" : fs::temp_directory_path();
    const fs::path folder = memory / fmt::format("oas-doors-{}", getpid());
    fs::create_directories(folder);
    fs::current_path(folder);
    make_files();
    return true;
  }();
  static_cast<void>(done);
}

std::string make_sound_file(const Door& door) {
  enter_folder();
  if (door.file == "agent") return saved_agent(door.words.front());
  if (door.file == "evidence") return saved_evidence(door.words.front());
  if (door.file == "x.json") return kModel;
  if (door.file == "c.json") return kDensities;
  if (door.file == "x.csv") return read("log.csv");
  if (door.file == "u.csv") return kUnits;
  if (door.file == "r.csv") return kReadings;
  if (door.file == "s.json") return kStructure;
  if (door.file == "o.json") return kLogOptions;
  if (door.file == "studies/x.toml") return kStudy;
  return read(door.file);
}

}  // namespace

std::span<const Door> doors() {
  static const std::vector<Door> all = all_doors();
  return all;
}

const std::string& sound_file(std::size_t door) {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> files;
    for (const Door& each : doors()) files.push_back(make_sound_file(each));
    return files;
  }();
  return all[door];
}

std::string open_door(std::size_t number, std::string_view bytes) {
  static_cast<void>(sound_file(number));
  const Door& door = doors()[number];
  try {
    enter(door, bytes);
  } catch (const InvalidArgument& refusal) {
    return refusal.what();
  } catch (const IoError& failure) {
    return failure.what();
  } catch (const fs::filesystem_error& failure) {
    return failure.what();
  }
  return {};
}

}  // namespace oas::test

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>
#include <mutex>

#include "bindings.hpp"
#include "command.hpp"
#include "models.hpp"
#include "oas/core/bytes.hpp"
#include "oas/core/interruption.hpp"
#include "oas/core/version.hpp"
#include "oas/study/kinds.hpp"
#include "oas/study/report.hpp"
#include "oas/study/result_store.hpp"
#include "work.hpp"

namespace oas::python {

namespace {

nb::bytes bytes_of(const std::string& bytes) { return nb::bytes(bytes.data(), bytes.size()); }

std::string saved(const UnitResult& result) {
  ByteWriter out;
  out.put(result.number);
  out.put(result.failed);
  out.put_text(result.message);
  out.put(result.seconds);
  out.put(static_cast<std::int64_t>(result.rows.size()));
  for (const ResultRow& row : result.rows) {
    out.put(static_cast<std::int64_t>(row.size()));
    for (const Cell& cell : row) {
      out.put(static_cast<std::int64_t>(cell.index()));
      if (const auto* whole = std::get_if<std::int64_t>(&cell)) out.put(*whole);
      if (const auto* number = std::get_if<double>(&cell)) out.put(*number);
      if (const auto* text = std::get_if<std::string>(&cell)) out.put_text(*text);
    }
  }
  return out.take();
}

Cell loaded_cell(ByteReader& in) {
  switch (in.get_integer(0, 3)) {
    case 0:
      return std::monostate{};
    case 1:
      return in.get<std::int64_t>();
    case 2:
      return in.get<double>();
    default:
      return in.get_text();
  }
}

UnitResult loaded_unit(std::string_view bytes) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  ByteReader in(bytes);
  UnitResult result;
  result.number = in.get<std::int64_t>();
  result.failed = in.get<bool>();
  result.message = in.get_text();
  result.seconds = in.get<double>();
  for (std::int64_t rows = in.get_integer(0, kMost); rows > 0; --rows) {
    ResultRow& row = result.rows.emplace_back();
    for (std::int64_t cells = in.get_integer(0, kMost); cells > 0; --cells) {
      row.push_back(loaded_cell(in));
    }
  }
  return result;
}

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// What the tasks of one study share in this process.
std::shared_ptr<SharedValues> values_of(const std::string& study) {
  static std::mutex mutex;
  static std::string of;
  static std::shared_ptr<SharedValues> values;
  const std::lock_guard lock(mutex);
  if (!values || of != study) {
    of = study;
    values = std::make_shared<SharedValues>();
  }
  return values;
}

// One unit of a study whose text is given; a failure is a result.
std::string run_unit(const std::string& text, const std::string& file, bool quick,
                     std::int64_t number) {
  const Study study = parse_study(text, file, quick);
  const Unit unit = study.unit(number);
  const Task& task = study.tasks[unit.task];
  TaskContext context;
  context.shared = values_of(study.hash());
  UnitResult result;
  result.number = number;
  const double start = clock_seconds();
  try {
    result.rows = find_task_kind(task.kind).run(task, unit.replication, context);
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    result.failed = true;
    result.message = error.what();
  }
  result.seconds = clock_seconds() - start;
  return saved(result);
}

// The results of a study whose units others run.
class StudyFarm {
 public:
  StudyFarm(const std::string& file, bool quick, const std::string& folder)
      : store_(ResultStore::open(folder, read_study(file, quick))) {
    session_.started = fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::gmtime(std::time(nullptr)));
    session_.version = version();
  }

  [[nodiscard]] const Study& study() const { return store_.study(); }

  // Units that are not there yet, longest first.
  [[nodiscard]] std::vector<std::int64_t> pending() const {
    const std::vector<std::int64_t> there = store_.finished();
    std::vector<double> costs;
    for (const Task& task : study().tasks) costs.push_back(find_task_kind(task.kind).cost(task));
    std::vector<std::int64_t> units;
    for (std::int64_t number = 0; number < study().num_units(); ++number) {
      if (!std::binary_search(there.begin(), there.end(), number)) units.push_back(number);
    }
    const auto cost = [&](std::int64_t number) { return costs[study().unit(number).task]; };
    std::stable_sort(units.begin(), units.end(),
                     [&](std::int64_t a, std::int64_t b) { return cost(a) > cost(b); });
    return units;
  }

  // Stores a unit, and the session of which it is; returns why it failed, else nothing.
  std::string record(std::string_view bytes, const std::string& machine, int threads) {
    const UnitResult result = loaded_unit(bytes);
    store_.record(result);
    session_.machine = machine;
    session_.threads = threads;
    session_.seconds = clock_seconds() - start_;
    session_.units += result.failed ? 0 : 1;
    store_.record(session_);
    if (!result.failed) return "";
    const Unit unit = study().unit(result.number);
    return fmt::format("task {} ({}, replication {}): {}", result.number,
                       study().tasks[unit.task].name, unit.replication, result.message);
  }

  [[nodiscard]] std::vector<std::string> write() const { return write_csv(store_); }

 private:
  ResultStore store_;
  Session session_;
  double start_ = clock_seconds();
};

void bind_farm(nb::module_& m) {
  m.def("_study_unit",
        [](const std::string& text, const std::string& file, bool quick, std::int64_t number) {
          return bytes_of(run_for(
              {"units"}, [&](const RowsRead&) { return run_unit(text, file, quick, number); }));
        });
  nb::class_<StudyFarm>(m, "_StudyFarm")
      .def(nb::init<const std::string&, bool, const std::string&>())
      .def_prop_ro("_name", [](const StudyFarm& self) { return self.study().name; })
      .def_prop_ro("_text", [](const StudyFarm& self) { return self.study().source; })
      .def_prop_ro("_total", [](const StudyFarm& self) { return self.study().num_units(); })
      .def("_pending", &StudyFarm::pending)
      .def("_record",
           [](StudyFarm& self, const nb::bytes& result, const std::string& machine, int threads) {
             return self.record({result.c_str(), result.size()}, machine, threads);
           })
      .def("_write", &StudyFarm::write);
}

}  // namespace

// Verbs of the command that are whole jobs with files as results: checks, comparisons, forecasts,
// reports, studies.
void bind_study(nb::module_& m) {
  m.def("_command", [](const std::vector<std::string>& words, const std::string& what) {
    const cli::CommandOutput output =
        run_for({what}, [&](const RowsRead&) { return cli::run_command(words); });
    warn(output.warnings);
    return output.printed;
  });
  bind_farm(m);
}

}  // namespace oas::python

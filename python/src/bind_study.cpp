#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>
#include <mutex>
#include <optional>

#include "bindings.hpp"
#include "command.hpp"
#include "guests.hpp"
#include "models.hpp"
#include "oas/core/interruption.hpp"
#include "oas/core/version.hpp"
#include "oas/study/kinds.hpp"
#include "oas/study/report.hpp"
#include "oas/study/result_store.hpp"
#include "oas/study/run_study.hpp"
#include "oas/study/unit_bytes.hpp"
#include "work.hpp"

namespace oas::python {

namespace {

nb::bytes bytes_of(const std::string& bytes) { return nb::bytes(bytes.data(), bytes.size()); }

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
std::string run_unit(const Study& study, std::int64_t number, const GuestEstimators& guests) {
  const Unit unit = study.unit(number);
  const Task& task = study.tasks[unit.task];
  TaskContext context;
  context.shared = values_of(study.hash());
  context.guests = guests;
  context.oracles = OracleCache::of_user();
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
  return unit_bytes(result);
}

// The results of a study whose units others run.
class StudyFarm {
 public:
  StudyFarm(const std::string& file, bool quick, const std::string& folder)
      : store_(ResultStore::open(folder, read_study(file, quick))) {
    session_.started = fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::gmtime(std::time(nullptr)));
    session_.version = version();
  }

  [[nodiscard]] const Study& study() const { return store().study(); }

  // Others may write to the folder from now on.
  void close() { store_.reset(); }

  // All units of a part here, on all threads.
  StudyRun run(const GuestEstimators& guests, int part, int parts) {
    StudyRunOptions options;
    options.guests = guests;
    options.oracles = OracleCache::of_user();
    options.parallelism = threads();
    if (parts > 1) options.units = units_of_part(study(), part, parts);
    return run_for({"tasks", study().num_units()}, [&](const RowsRead& progress) {
      options.stop = [flag = current_stop_flag()] { return flag != nullptr && flag->load(); };
      options.progress = [&](const StudyProgress&) { progress(1); };
      StudyRun result = run_study(store(), options);
      static_cast<void>(write_csv(store()));
      check_interrupted();
      return result;
    });
  }

  // Units that are not there yet, longest first.
  [[nodiscard]] std::vector<std::int64_t> pending() const {
    const std::vector<std::int64_t> there = store().finished();
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
    const UnitResult result = unit_of_bytes(bytes);
    store().record(result);
    session_.machine = machine;
    session_.threads = threads;
    session_.seconds = clock_seconds() - start_;
    session_.units += result.failed ? 0 : 1;
    store().record(session_);
    if (!result.failed) return "";
    const Unit unit = study().unit(result.number);
    return fmt::format("task {} ({}, replication {}): {}", result.number,
                       study().tasks[unit.task].name, unit.replication, result.message);
  }

  [[nodiscard]] std::vector<std::string> write() const { return write_csv(store()); }

 private:
  [[nodiscard]] const ResultStore& store() const {
    OAS_REQUIRE(store_.has_value(), "the results are closed");
    return *store_;
  }
  [[nodiscard]] ResultStore& store() {
    OAS_REQUIRE(store_.has_value(), "the results are closed");
    return *store_;
  }

  std::optional<ResultStore> store_;
  Session session_;
  double start_ = clock_seconds();
};

void bind_farm(nb::module_& m) {
  m.def("_study_unit", [](const std::string& text, const std::string& file, bool quick,
                          std::int64_t number, const nb::dict& functions) {
    const Study study = parse_study(text, file, quick);
    const Guests guests(functions);
    return bytes_of(guests.called_by([&] {
      return run_for({"units"},
                     [&](const RowsRead&) { return run_unit(study, number, guests.functions()); });
    }));
  });
  nb::class_<StudyFarm>(m, "_StudyFarm")
      .def(nb::init<const std::string&, bool, const std::string&>())
      .def_prop_ro("_name", [](const StudyFarm& self) { return self.study().name; })
      .def_prop_ro("_text", [](const StudyFarm& self) { return self.study().source; })
      .def_prop_ro("_total", [](const StudyFarm& self) { return self.study().num_units(); })
      .def_prop_ro("_guests", [](const StudyFarm& self) { return guest_names(self.study()); })
      .def("_run",
           [](StudyFarm& self, const nb::dict& functions, int part, int parts) {
             const Guests guests(functions);
             const StudyRun run =
                 guests.called_by([&] { return self.run(guests.functions(), part, parts); });
             return nb::make_tuple(run.finished, run.skipped, run.failed, run.remaining,
                                   run.first_failure);
           })
      .def("_close", &StudyFarm::close)
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

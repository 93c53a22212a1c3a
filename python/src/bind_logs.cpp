#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>

#include "arrays.hpp"
#include "bindings.hpp"
#include "docs.hpp"
#include "log.hpp"
#include "models.hpp"
#include "oas/core/contracts.hpp"
#include "settings.hpp"
#include "table_rows.hpp"
#include "work.hpp"

namespace oas::python {

namespace {

using Array = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;
using Dates = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Mask = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Column named(const std::string& part, const std::string& name, Cells cells, nb::object owner) {
  Column column;
  column.part = part;
  column.name = name;
  column.cells = std::move(cells);
  column.owners.push_back(std::move(owner));
  return column;
}

template <class Array>
auto span_of(const Array& array) {
  return std::span(array.data(), array.size());
}

// The numbers of an array where they are, whatever their type.
template <class... Numbers>
void look_at(const Array& array, SeriesOf<Numbers...>& series) {
  const auto found = [&]<class Number>(const Number* first) {
    if (array.dtype() != nb::dtype<Number>()) return false;
    series = Series<Number>{first, array.size(), array.stride(0)};
    return true;
  };
  const bool known = (found(static_cast<const Numbers*>(array.data())) || ...);
  OAS_REQUIRE(known, "an array of another type came through");
}

// Objects as texts, bytes too: None, NaN and whatever says that it is missing (pandas.NA) are.
TextCells texts_of(const std::string& name, const nb::list& cells, nb::handle is_missing) {
  TextCells texts;
  WordList words;
  for (nb::handle cell : cells) {
    if (nb::isinstance<nb::str>(cell)) {
      Py_ssize_t size = 0;
      const char* const text = PyUnicode_AsUTF8AndSize(cell.ptr(), &size);
      if (text == nullptr) {
        PyErr_Clear();
        throw InvalidArgument(fmt::format("column '{}', row {}: {} is not a text of Unicode", name,
                                          texts.codes.size(), nb::repr(cell).c_str()));
      }
      texts.codes.push_back(words.code({text, static_cast<std::size_t>(size)}));
    } else if (nb::isinstance<nb::bytes>(cell)) {
      const auto bytes = nb::borrow<nb::bytes>(cell);
      texts.codes.push_back(words.code({bytes.c_str(), bytes.size()}));
    } else if (cell.is_none() || nb::cast<bool>(is_missing(cell))) {
      texts.codes.push_back(-1);
    } else {
      OAS_REQUIRE(PySequence_Check(cell.ptr()) == 0 && PyMapping_Check(cell.ptr()) == 0,
                  "column '{}', row {}: {} is neither number nor text", name, texts.codes.size(),
                  nb::repr(cell).c_str());
      texts.codes.push_back(words.code(nb::str(cell).c_str()));
    }
  }
  texts.words = words.take();
  return texts;
}

// Objects that are all numbers or missing; false where one is something else.
bool numbers_of(const nb::list& cells, nb::handle is_missing, std::vector<double>& values) {
  for (nb::handle cell : cells) {
    if (cell.is_none()) {
      values.push_back(std::nan(""));
      continue;
    }
    if (nb::isinstance<nb::str>(cell)) return false;
    const double value = PyFloat_AsDouble(cell.ptr());
    if (value == -1.0 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      if (!nb::cast<bool>(is_missing(cell))) return false;
      values.push_back(std::nan(""));
      continue;
    }
    values.push_back(value);
  }
  return true;
}

Column objects_of(const std::string& part, const std::string& name, const nb::list& cells,
                  nb::handle is_missing) {
  Column column = named(part, name, RealCells{}, nb::none());
  std::vector<double> values;
  if (part != "run" && numbers_of(cells, is_missing, values)) {
    column.real_memory.push_back(std::move(values));
    column.cells = RealCells{Series(std::span<const double>(column.real_memory.front()))};
  } else {
    column.cells = texts_of(name, cells, is_missing);
  }
  return column;
}

std::vector<std::string> listed(const Columns& columns, std::string Column::*member) {
  std::vector<std::string> all;
  for (const Column& column : columns.all()) all.push_back(column.*member);
  return all;
}

void bind_columns(nb::module_& m) {
  nb::class_<Columns>(m, "_Columns")
      .def(nb::init<>())
      .def(
          "add_whole",
          [](Columns& self, const std::string& part, const std::string& name, nb::object values,
             nb::object missing) {
            WholeCells cells;
            look_at(nb::cast<Array>(values), cells.values);
            if (!missing.is_none()) cells.missing = span_of(nb::cast<Mask>(missing));
            Column column = named(part, name, cells, values);
            column.owners.push_back(missing);
            self.add(std::move(column));
          },
          nb::arg("part"), nb::arg("name"), nb::arg("values"), nb::arg("missing").none())
      .def("add_real",
           [](Columns& self, const std::string& part, const std::string& name, nb::object values) {
             RealCells cells;
             look_at(nb::cast<Array>(values), cells.values);
             self.add(named(part, name, cells, values));
           })
      .def(
          "add_dates",
          [](Columns& self, const std::string& part, const std::string& name, nb::object values,
             bool zoned) {
            self.add(named(part, name, DateCells{span_of(nb::cast<Dates>(values)), zoned}, values));
          })
      .def(
          "add_objects",
          [](Columns& self, const std::string& part, const std::string& name, const nb::list& cells,
             nb::handle is_missing) { self.add(objects_of(part, name, cells, is_missing)); })
      .def("add_arrow",
           [](Columns& self, const std::vector<std::string>& parts,
              const std::vector<std::string>& names, nb::handle stream) {
             std::vector<Column> columns = arrow_columns(stream, names);
             for (std::size_t i = 0; i < columns.size(); ++i) {
               columns[i].part = parts[i];
               self.add(std::move(columns[i]));
             }
           })
      .def("has_fractions",
           [](const Columns& self, const std::string& part) {
             const Column* const column = self.find(part);
             return column != nullptr && column->has_fractions();
           })
      .def("parts", [](const Columns& self) { return listed(self, &Column::part); })
      .def("names", [](const Columns& self) { return listed(self, &Column::name); })
      .def("__len__", &Columns::size);
  nb::class_<ColumnWriter>(m, "_ColumnWriter")
      .def(
          "__init__",
          [](ColumnWriter* self, const std::string& path, nb::handle model) {
            std::optional<AnyModel> known;
            if (!model.is_none()) known = any_model(model);
            new (self) ColumnWriter(path, known);
          },
          nb::arg("path"), nb::arg("model").none())
      .def("write",
           [](ColumnWriter& self, const Columns& columns) {
             run_work({"rows"}, [&](const RowsRead&) { self.write(columns); });
           })
      .def("commit", &ColumnWriter::commit);
}

nb::object whole_view(nb::handle self, const auto& column) {
  // Without rows all columns are empty, and those that every log has are arrays nonetheless.
  if (column.empty()) {
    const bool no_rows = nb::cast<const Log&>(self).size() == 0;
    return no_rows ? owned(std::vector<std::int32_t>{}) : nb::none();
  }
  const auto* const values = reinterpret_cast<const std::int32_t*>(column.data());  // NOLINT
  return view(std::span(values, column.size()), {column.size()}, self);
}

nb::object real_view(nb::handle self, const std::vector<double>& column, std::size_t rows) {
  if (column.empty()) return nb::none();
  const std::size_t width = column.size() / rows;
  const Shape shape = column.size() == rows ? Shape{rows} : Shape{rows, width};
  return view(std::span(column), shape, self);
}

template <class Member>
auto real_column(Member member) {
  return [member](nb::handle self) {
    const Log& log = nb::cast<const Log&>(self);
    return real_view(self, member(log), log.size());
  };
}

// NaN in the rows without a reading, which have room for one.
nb::object readings_of(nb::handle self) {
  const Log& log = nb::cast<const Log&>(self);
  const std::vector<Observation>& seen = log.block.rows.observations;
  if (log.block.readings.empty() || std::find(seen.begin(), seen.end(), kMissing) == seen.end()) {
    return real_view(self, log.block.readings, log.size());
  }
  std::vector<double> readings = log.block.readings;
  const std::size_t width = readings.size() / seen.size();
  for (std::size_t row = 0; row < seen.size(); ++row) {
    if (seen[row] != kMissing) continue;
    std::fill_n(readings.begin() + static_cast<std::ptrdiff_t>(row * width), width, std::nan(""));
  }
  return owned(std::move(readings), width == 1 ? Shape{seen.size()} : Shape{seen.size(), width});
}

std::string brief(const Log& log) {
  std::string text =
      fmt::format("Log({} rows, {} run{}", log.size(), log.runs(), log.runs() == 1 ? "" : "s");
  const LogBlock& block = log.block;
  if (!block.rows.propensities.empty()) text += ", propensities";
  if (!block.rows.rewards.empty()) text += ", rewards";
  if (!block.rows.states.empty()) text += ", states";
  if (!block.times.empty()) text += ", times";
  return text + ")";
}

void define_columns(nb::class_<Log>& log) {
  static const std::string times = std::string("[row], or None.\n") + docs::LogBlock::times;
  log.def_prop_ro(
         "actions",
         [](nb::handle self) {
           return whole_view(self, nb::cast<const Log&>(self).block.rows.actions);
         },
         "[row], int32.")
      .def_prop_ro(
          "observations",
          [](nb::handle self) -> nb::object {
            const Log& of = nb::cast<const Log&>(self);
            if (!std::holds_alternative<Pomdp>(*of.model)) return nb::none();
            return whole_view(self, of.block.rows.observations);
          },
          "[row], int32, -1 where one is missing; None where observations are real-valued.")
      .def_prop_ro(
          "states",
          [](nb::handle self) {
            return whole_view(self, nb::cast<const Log&>(self).block.rows.states);
          },
          "[row], the hidden states, -1 where unknown, or None.")
      .def_prop_ro("propensities", real_column([](const Log& l) -> const std::vector<double>& {
                     return l.block.rows.propensities;
                   }),
                   "[row], the probability with which the action was chosen, or None.")
      .def_prop_ro("rewards", real_column([](const Log& l) -> const std::vector<double>& {
                     return l.block.rows.rewards;
                   }),
                   "[row], or None.")
      .def_prop_ro("readings", readings_of,
                   "[row] or [row][component], NaN where one is missing, where observations are\n"
                   "real-valued, or None.")
      .def_prop_ro("likelihoods", real_column([](const Log& l) -> const std::vector<double>& {
                     return l.block.likelihoods;
                   }),
                   "[row][state], up to a factor per row, or None.")
      .def_prop_ro("times", real_column([](const Log& l) -> const std::vector<double>& {
                     return l.block.times;
                   }),
                   times.c_str());
}

}  // namespace

void bind_logs(nb::module_& m) {
  bind_columns(m);
  m.def("_arrow_names", arrow_names);
  static const std::string about =
      std::string(docs::Trajectory::self) +
      "\n\nOf one run after the other, in memory; labels are indices, and a column that is empty "
      "is\n"
      "None. `oas.read_log` makes one of tables and files, `oas.simulate` of a model.";
  auto log = nb::class_<Log>(m, "Log", about.c_str());
  define_columns(log);
  log.def_prop_ro(
         "runs", [](const Log& self) { return owned(self.run_of_rows()); },
         "[row], int64: the number of the row's run, from 0.")
      .def_prop_ro(
          "run_starts",
          [](const Log& self) {
            return owned(std::vector<std::int64_t>(self.block.run_starts.begin(),
                                                   self.block.run_starts.end()));
          },
          "[run]: its first row.")
      .def_prop_ro(
          "run_names",
          [](const Log& self) {
            std::vector<std::string> names = self.block.run_names;
            for (std::size_t run = names.size(); run < self.runs(); ++run) {
              names.push_back(fmt::format("{}", run));
            }
            return names;
          },
          "[run]: its name, where the rows gave one, else its number.")
      .def_prop_ro("num_runs", &Log::runs)
      .def_prop_ro(
          "model", [](const Log& self) { return *self.model; }, "The model whose labels these are.")
      .def("__len__", &Log::size)
      .def("__repr__", brief)
      .def(
          "save",
          [](const Log& self, nb::handle path) {
            const std::string file = path_of(path);
            run_work({"rows"}, [&](const RowsRead&) { self.write(file); });
          },
          nb::arg("path").none(), "Writes a log file: CSV; .gz and .zst are compressed.")
      .def("_save_for",
           [](const Log& self, const std::string& path, nb::handle model) {
             const Log relabelled = self.labelled_by(any_model(model));
             run_work({"rows"}, [&](const RowsRead&) { relabelled.write(path); });
           })
      .def(
          "to_dataframe",
          [](nb::handle self) {
            return nb::module_::import_("oas._frames").attr("log_frame")(self);
          },
          "A pandas.DataFrame with the names of actions, observations and states.")
      .def("_repr_html_",
           [](nb::handle self) { return nb::module_::import_("oas._html").attr("log_html")(self); })
      .def(
          "__eq__",
          [](const Log& self, nb::handle other) {
            return nb::isinstance<Log>(other) && nb::cast<const Log&>(other).has_rows_of(self);
          },
          nb::arg("other").none())
      .def("__copy__", [](const Log& self) { return self; })
      .def(
          "__deepcopy__", [](const Log& self, nb::handle) { return self; }, nb::arg("memo"))
      .def("__getstate__",
           [](const Log& self) {
             const std::string bytes = self.save();
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def(
          "__setstate__",
          [](Log& self, const nb::bytes& state) {
            new (&self) Log(Log::loaded({state.c_str(), state.size()}));
          },
          nb::arg("state"));
  log.attr("__hash__") = nb::none();

  m.def("_log_from_columns", [](nb::handle model, const Columns& columns) -> std::optional<Log> {
    auto shared = std::make_shared<const AnyModel>(any_model(model));
    Log made{shared, {}, false};
    bool in_order = false;
    run_work({"rows"}, [&](const RowsRead&) { in_order = read_columns(columns, made); });
    if (!in_order) return std::nullopt;
    return made;
  });
  m.def("_log_from_files", [](nb::handle model, const std::vector<std::string>& paths,
                              const nb::dict& keywords, bool complete) {
    std::vector<Setting> settings = settings_of(keywords);
    const LogOptions options = take_log_options(settings, true);
    OAS_REQUIRE(settings.empty(), "{}: the reader of logs does not use it",
                settings.empty() ? "" : settings.front().name);
    AnyModel with = any_model(model);
    if (!options.rows.empty()) with = with_rows(with, parse_rows(options.rows));
    auto shared = std::make_shared<const AnyModel>(std::move(with));
    return run_for({"rows"}, [&](const RowsRead& progress) {
      return read_log_files(shared, paths, options, progress,
                            complete ? LogRows::complete : LogRows::as_written);
    });
  });
}

}  // namespace oas::python

#include <exception>

#include "bindings.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/version.hpp"
#include "work.hpp"

namespace oas::python {

namespace {

// What lives in oas/_errors.py, where classes can have two parents; looked up once.
struct ErrorClasses {
  PyObject* error;
  PyObject* invalid_argument;
  PyObject* parse_error;
  PyObject* io_error;
  PyObject* in_python;  // a message as it is to be read there
};

PyObject* named(const nb::module_& errors, const char* name) {
  return nb::object(errors.attr(name)).release().ptr();  // lives as long as the process
}

const ErrorClasses& error_classes() {
  static const ErrorClasses classes = [] {
    const nb::module_ errors = nb::module_::import_("oas._errors");
    return ErrorClasses{named(errors, "Error"), named(errors, "InvalidArgument"),
                        named(errors, "ParseError"), named(errors, "IoError"),
                        named(errors, "in_python")};
  }();
  return classes;
}

void set_error(PyObject* kind, const std::exception& error) {
  const nb::object text = nb::handle(error_classes().in_python)(error.what());
  PyErr_SetObject(kind, text.ptr());
}

void set_parse_error(const ParseError& error) {
  const nb::object text = nb::handle(error_classes().in_python)(error.what());
  nb::object value = nb::handle(error_classes().parse_error)(text);
  value.attr("file") = error.file();
  value.attr("line") = error.line();
  value.attr("column") = error.column();
  PyErr_SetObject(error_classes().parse_error, value.ptr());
}

void translate(const std::exception_ptr& failure, void* /*payload*/) {
  try {
    std::rethrow_exception(failure);
  } catch (const ParseError& error) {
    set_parse_error(error);
  } catch (const InvalidArgument& error) {
    set_error(error_classes().invalid_argument, error);
  } catch (const IoError& error) {
    set_error(error_classes().io_error, error);
  }
}

}  // namespace

void bind_core(nb::module_& m) {
  nb::register_exception_translator(translate);
  m.attr("__version__") = version();
  m.def("set_threads", set_threads, nb::arg("threads"),
        "Threads that a call may use; 0: all cores. Results never depend on it.");
  m.def(
      "get_threads", [] { return threads().threads; }, "What set_threads() said; 0: all cores.");
}

}  // namespace oas::python

#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

/// The Python package's extension: one function per module, each in a file of its own, called by
/// module.cpp in this order. They only translate: arrays, names and exceptions; nothing is
/// computed here that the library does not compute.
namespace oas::python {

namespace nb = nanobind;

void bind_core(nb::module_& m);
void bind_model(nb::module_& m);
void bind_problems(nb::module_& m);
void bind_logs(nb::module_& m);
void bind_simulation(nb::module_& m);
void bind_environment(nb::module_& m);
void bind_estimation(nb::module_& m);
void bind_evidence(nb::module_& m);
void bind_belief(nb::module_& m);
void bind_planning(nb::module_& m);
void bind_learning(nb::module_& m);
void bind_live(nb::module_& m);
void bind_jobs(nb::module_& m);
void bind_study(nb::module_& m);
void bind_distributed(nb::module_& m);

}  // namespace oas::python

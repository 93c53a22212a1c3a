#include "bindings.hpp"

NB_MODULE(_oas, m) {
  m.doc() = "The library oas as a Python extension; the package oas is made of it.";
  oas::python::bind_core(m);
  oas::python::bind_model(m);
  oas::python::bind_problems(m);
  oas::python::bind_logs(m);
  oas::python::bind_simulation(m);
  oas::python::bind_environment(m);
  oas::python::bind_estimation(m);
  oas::python::bind_evidence(m);
  oas::python::bind_belief(m);
  oas::python::bind_planning(m);
  oas::python::bind_learning(m);
  oas::python::bind_live(m);
  oas::python::bind_jobs(m);
  oas::python::bind_study(m);
  oas::python::bind_distributed(m);
}

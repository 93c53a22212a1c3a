#include "guests.hpp"

#include <fmt/format.h>

#include <memory>
#include <mutex>
#include <stdexcept>

#include "arrays.hpp"
#include "oas/core/contracts.hpp"

namespace oas::python {

namespace {

// Something of Python that may be let go by a thread without the GIL.
template <class Thing>
std::shared_ptr<Thing> held(Thing* thing) {
  return {thing, [](const Thing* kept) {
            const nb::gil_scoped_acquire acquired;
            delete kept;  // NOLINT: the deleter of a shared pointer
          }};
}

template <class Index>
nb::object column(const std::vector<Index>& indices) {
  std::vector<std::int32_t> values;
  values.reserve(indices.size());
  for (const Index index : indices) values.push_back(index.value());
  return owned(std::move(values));
}

TransitionModel answer(const std::string& name, const nb::object& function, const Pomdp& model,
                       const Trajectory& rows) {
  nb::dict columns;
  columns["action"] = column(rows.actions);
  columns["observation"] = column(rows.observations);
  columns["propensity"] = owned(std::vector<double>(rows.propensities));
  Table found = table_of(function(model, columns), name);
  const auto s = static_cast<std::size_t>(model.num_states());
  const auto a = static_cast<std::size_t>(model.num_actions());
  require_shape(found, {a, s, s}, name, "[A][S][S]");
  return {model.num_states(), model.num_actions(), std::move(found.values), name};
}

}  // namespace

Guests::Guests(const nb::dict& functions) : ended_(held(new AgentFailure)) {  // NOLINT: held
  const auto turn = std::make_shared<std::mutex>();
  for (const auto [key, given] : functions) {
    const auto name = nb::cast<std::string>(key);
    const auto function = held(new nb::object(nb::borrow(given)));  // NOLINT: held
    functions_[name] = [=, ended = ended_](const Pomdp& model, const Trajectory& rows) {
      const std::lock_guard alone(*turn);
      const nb::gil_scoped_acquire acquired;
      try {
        return answer(name, *function, model, rows);
      } catch (const nb::python_error& error) {
        if (!error.matches(PyExc_Exception)) ended->keep(name, error);
        throw std::runtime_error(fmt::format("{} raised {}: {}", name,
                                             nb::type_name(error.type()).c_str(),
                                             nb::str(error.value()).c_str()));
      }
    };
  }
}

void Guests::raise_if_kept() const {
  if (!ended_->happened()) return;
  const nb::object raised = nb::borrow(ended_->told()[1]);
  PyErr_SetObject(raised.type().ptr(), raised.ptr());
  throw nb::python_error();
}

}  // namespace oas::python

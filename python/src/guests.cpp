#include "guests.hpp"

#include <fmt/format.h>

#include <memory>
#include <mutex>
#include <stdexcept>

#include "arrays.hpp"
#include "oas/core/contracts.hpp"

namespace oas::python {

namespace {

// A function that may be let go by a thread without the GIL.
std::shared_ptr<const nb::object> held(nb::handle function) {
  return {new nb::object(nb::borrow(function)), [](const nb::object* object) {
            const nb::gil_scoped_acquire acquired;
            delete object;  // NOLINT: the deleter of a shared pointer
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

GuestEstimators guests_of(const nb::dict& functions) {
  const auto turn = std::make_shared<std::mutex>();
  GuestEstimators guests;
  for (const auto [key, function] : functions) {
    const auto name = nb::cast<std::string>(key);
    guests[name] = [=, function = held(function)](const Pomdp& model, const Trajectory& rows) {
      const std::lock_guard alone(*turn);
      const nb::gil_scoped_acquire acquired;
      try {
        return answer(name, *function, model, rows);
      } catch (const nb::python_error& error) {
        throw std::runtime_error(fmt::format("{} raised {}: {}", name,
                                             nb::type_name(error.type()).c_str(),
                                             nb::str(error.value()).c_str()));
      }
    };
  }
  return guests;
}

}  // namespace oas::python

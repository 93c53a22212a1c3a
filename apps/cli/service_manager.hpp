#pragma once

#include <string_view>

namespace oas::cli {

/// Tells the service manager that started this process, if one asked to be told (NOTIFY_SOCKET of
/// systemd): "READY=1", "STOPPING=1". Whoever did not ask, or does not listen, is told nothing.
void tell_service_manager(std::string_view state);

}  // namespace oas::cli

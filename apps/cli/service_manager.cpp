#include "service_manager.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>

namespace oas::cli {

void tell_service_manager(std::string_view state) {
  const char* const given = std::getenv("NOTIFY_SOCKET");
  const std::string_view name = given == nullptr ? "" : given;
  sockaddr_un address = {};
  if (name.size() < 2 || name.size() >= sizeof(address.sun_path)) return;
  if (name.front() != '/' && name.front() != '@') return;
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path, name.size());
  if (name.front() == '@') address.sun_path[0] = '\0';  // a name that is no file
  const int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  static_cast<void>(sendto(descriptor, state.data(), state.size(), MSG_NOSIGNAL,
                           reinterpret_cast<const sockaddr*>(&address), size));
  close(descriptor);
}

}  // namespace oas::cli

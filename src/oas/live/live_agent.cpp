#include "oas/live/live_agent.hpp"

#include <utility>

#include "oas/live/detail/live_service.hpp"

namespace oas {

class LiveAgent::Impl : public detail::LiveService {
 public:
  using LiveService::LiveService;
};

LiveAgent::LiveAgent(AnyModel model, LiveOptions options)
    : impl_(std::make_unique<Impl>(std::move(model), std::move(options))) {}

LiveAgent::~LiveAgent() = default;

LiveReply LiveAgent::call(std::string_view call, std::string_view body) {
  return impl_->call(call, body);
}

std::string LiveAgent::answer(std::string_view line) { return impl_->call({}, line).body; }

std::string LiveAgent::metrics() const { return impl_->metrics(); }

std::vector<LiveWarning> LiveAgent::warnings() const { return impl_->warnings(); }

const std::vector<std::string>& LiveAgent::notes() const { return impl_->notes(); }

}  // namespace oas

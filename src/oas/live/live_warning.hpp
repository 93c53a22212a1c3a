#pragma once

#include <string>

namespace oas {

/// Something that whoever runs a live agent should know, as long as it is so.
struct LiveWarning {
  std::string about;  ///< which: "journal", "change", "action repair", …; the same while it stands
  std::string text;   ///< one sentence with figures, which may change while it stands

  friend bool operator==(const LiveWarning&, const LiveWarning&) = default;
};

}  // namespace oas

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/mutations.hpp"

namespace oas::test {

/// One verb that reads one kind of file; or a saved state that the library loads.
struct Door {
  std::string_view file;  ///< the name under which the verb finds the file
  std::vector<std::string> words;
  Shape shape = Shape::text;
};

/// All of them: every kind of file with every verb that reads it.
[[nodiscard]] std::span<const Door> doors();

/// A sound file for that door.
[[nodiscard]] const std::string& sound_file(std::size_t door);

/// The verb on these bytes, in a folder of its own. What a stranger's file may do happens: nothing,
/// or InvalidArgument, IoError or a failure of the file system, whose message is returned. Anything
/// else, a failed invariant for instance, goes on to the caller. Throws std::bad_alloc where there
/// is not enough memory.
std::string open_door(std::size_t door, std::string_view bytes);

}  // namespace oas::test

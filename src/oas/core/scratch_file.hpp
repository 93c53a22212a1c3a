#pragma once

#include <cstddef>
#include <string>

namespace oas {

/// Memory that is a file without a name: the system may write it out and read it again, and it is
/// gone with this object, however the process ends. Its room is taken at once, so that a disk that
/// fills up later does no harm.
class ScratchFile {
 public:
  /// In that folder. Throws IoError where there is no room, naming the folder.
  ScratchFile(const std::string& folder, std::size_t bytes);
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  [[nodiscard]] char* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  char* data_ = nullptr;
  std::size_t size_;
};

}  // namespace oas

#pragma once

#include <sys/types.h>

#include <string>

namespace oas {

/// The sole right to write to the journal in a folder, for as long as this lives; a process that
/// ends, however it ends, gives it back.
class JournalLock {
 public:
  /// Makes the folder where it is missing. Throws InvalidArgument naming the process that has the
  /// right, IoError where the folder cannot be made or written.
  explicit JournalLock(const std::string& folder);
  ~JournalLock();
  JournalLock(const JournalLock&) = delete;
  JournalLock& operator=(const JournalLock&) = delete;

 private:
  int descriptor_ = -1;
  pid_t process_ = 0;
};

}  // namespace oas

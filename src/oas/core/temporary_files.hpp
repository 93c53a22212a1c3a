#pragma once

#include <string>

/// Which temporary files there are, so that a program that a signal ends leaves none behind.
namespace oas {

/// The name of a temporary file, in a table of fixed size as long as this lives. A name that is too
/// long, or one too many, is not noted: its file stays behind after a signal. For any thread.
class TemporaryName {
 public:
  TemporaryName() = default;
  explicit TemporaryName(const std::string& path);
  ~TemporaryName();
  TemporaryName(TemporaryName&& other) noexcept;
  TemporaryName& operator=(TemporaryName&& other) noexcept;

 private:
  int slot_ = -1;  // none
};

/// From now on the signals by which people and systems end programs (SIGINT, SIGTERM, SIGHUP,
/// SIGQUIT, SIGPIPE, SIGALRM, SIGXCPU and others) remove the files in that table before they end
/// the program as they would have; a signal that is ignored (nohup) stays so. A file that may not
/// grow further (SIGXFSZ) becomes an error of writing, like a full disk. For programs: the library
/// itself leaves signals alone.
void remove_temporary_files_on_signals();

/// From now on a program whose memory runs out where no exception may pass (JSON documents allocate
/// in their destructor) removes the files in that table, writes `message`, which must live as long
/// as the program, to standard error and ends with `code`; it would abort. Other reasons for
/// std::terminate abort as before. For programs.
void end_orderly_without_memory(const char* message, int code);

}  // namespace oas

#include "oas/core/files.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <new>
#include <string>

#include "oas/core/contracts.hpp"
#include "oas/core/temporary_files.hpp"
#include "support/temporary_directory.hpp"

namespace oas {
namespace {

using test::slurp;
using test::spill;
using test::TemporaryDirectory;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using testing::ThrowsMessage;

const std::string kBinary("line\r\n\0\xff end", 13);

TEST(AtomicFile, AppearsOnlyWithCommit) {
  const TemporaryDirectory folder;
  AtomicFile file(folder.file("out"));
  file.write("one ");
  file.write("");
  file.write(kBinary);
  EXPECT_FALSE(std::filesystem::exists(folder.file("out")));
  file.commit();
  EXPECT_EQ(slurp(folder.file("out")), "one " + kBinary);
  EXPECT_THAT(folder.entries(), ElementsAre("out"));
}

TEST(AtomicFile, LeavesNothingWithoutCommit) {
  const TemporaryDirectory folder;
  { AtomicFile(folder.file("out")).write("half"); }
  EXPECT_THAT(folder.entries(), IsEmpty());
}

TEST(AtomicFile, LeavesNothingWhenAnExceptionPasses) {
  const TemporaryDirectory folder;
  EXPECT_THROW(
      {
        AtomicFile file(folder.file("out"));
        file.write("half");
        throw std::runtime_error("elsewhere");
      },
      std::runtime_error);
  EXPECT_THAT(folder.entries(), IsEmpty());
}

TEST(AtomicFile, OldFileStaysUntilCommit) {
  const TemporaryDirectory folder;
  spill(folder.file("out"), "old");
  { AtomicFile(folder.file("out")).write("new, never finished"); }
  EXPECT_EQ(slurp(folder.file("out")), "old");
  AtomicFile file(folder.file("out"));
  file.write("new");
  EXPECT_EQ(slurp(folder.file("out")), "old");
  file.commit();
  EXPECT_EQ(slurp(folder.file("out")), "new");
  EXPECT_THAT(folder.entries(), ElementsAre("out"));
}

TEST(AtomicFile, TwoWritersOfOneNameDoNotMix) {
  const TemporaryDirectory folder;
  AtomicFile first(folder.file("out"));
  AtomicFile second(folder.file("out"));
  first.write("first");
  second.write("second");
  second.commit();
  first.commit();
  EXPECT_EQ(slurp(folder.file("out")), "first");
  EXPECT_THAT(folder.entries(), ElementsAre("out"));
}

TEST(AtomicFile, HasThePermissionsOfAnOrdinaryFile) {
  const TemporaryDirectory folder;
  const mode_t old = umask(027);
  write_text_file(folder.file("out"), "x");
  umask(old);
  struct stat info = {};
  ASSERT_EQ(stat(folder.file("out").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0640U);
  const mode_t now = umask(old);
  umask(now);
  EXPECT_EQ(now, old) << "the mask of the process is as before";
}

TEST(AtomicFile, FullDiskIsAnIoError) {
  EXPECT_THAT([] { write_text_file("/dev/full", "x"); },
              ThrowsMessage<IoError>(AllOf(StartsWith("/dev/full: write failed"),
                                           HasSubstr("No space left on device"))));
  const std::string large(1 << 20, 'x');  // more than any buffer: fails in write()
  EXPECT_THAT(
      [&] {
        AtomicFile file("/dev/full");
        file.write(large);
      },
      ThrowsMessage<IoError>(StartsWith("/dev/full: write failed")));
}

TEST(AtomicFile, DevicesAreWrittenDirectly) {
  EXPECT_NO_THROW(write_text_file("/dev/null", "x"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(AtomicFile, SymbolicLinksStayAndTheirTargetsAreReplaced) {
  const TemporaryDirectory folder;
  std::filesystem::create_directory(folder.file("real"));
  std::filesystem::create_symlink("real/target", folder.file("first"));
  std::filesystem::create_symlink(folder.file("first"), folder.file("second"));
  write_text_file(folder.file("second"), "new");  // the target does not exist yet
  EXPECT_EQ(slurp(folder.file("real/target")), "new");
  { AtomicFile(folder.file("second")).write("never finished"); }
  EXPECT_EQ(slurp(folder.file("real/target")), "new");
  write_text_file(folder.file("first"), "newer");
  EXPECT_EQ(slurp(folder.file("second")), "newer");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("first")));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("second")));
  EXPECT_THAT(folder.entries(), ElementsAre("first", "real", "second"));
}

// A wrong name, or a system that has run out of something.
TEST(CannotOpen, SaysWhoseFaultItIs) {
  EXPECT_THAT([] { throw_cannot_open("x", ENOENT); },
              ThrowsMessage<InvalidArgument>(StartsWith("x: No such file")));
  for (const int error : {ENOMEM, EMFILE, ENFILE, ENOSPC, EIO}) {
    EXPECT_THAT([&] { throw_cannot_open("x", error); }, ThrowsMessage<IoError>(StartsWith("x: ")));
  }
}

// What an exception that leaves a destructor does to a program.
TEST(NoMemory, WhereNothingMayFailEndsTheProgramInOrder) {
  const auto end = [](const auto& exception) {
    end_orderly_without_memory("no memory\n", 7);
    const auto fail = [&] { throw exception; };
    [&]() noexcept { fail(); }();
  };
  EXPECT_EXIT(end(std::bad_alloc()), testing::ExitedWithCode(7), "^no memory\n$");
  EXPECT_DEATH(end(IoError("other")), "other");
}

TEST(AtomicFile, SignalsLeaveNothingBehind) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGALRM, SIGXCPU, SIGUSR1}) {
    const TemporaryDirectory folder;
    const pid_t child = fork();
    if (child == 0) {
      remove_temporary_files_on_signals();
      AtomicFile done(folder.file("done"));
      done.commit();
      AtomicFile half(folder.file("half"));
      half.write("half");
      raise(number);
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), number);
    EXPECT_THAT(folder.entries(), ElementsAre("done"));
  }
}

TEST(AtomicFile, IgnoredSignalsStayIgnored) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGHUP, SIG_IGN);
    remove_temporary_files_on_signals();
    raise(SIGHUP);
    _exit(7);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(AtomicFile, StandardOutputIsNoFile) {
  for (const std::string path : {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
    EXPECT_TRUE(is_standard_output(path));
    EXPECT_TRUE(is_written_directly(path));
    testing::internal::CaptureStdout();
    std::fputs("before ", stdout);
    std::fflush(stdout);
    write_text_file(path, "text");
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "before text");
  }
  EXPECT_FALSE(std::filesystem::exists("-"));
  EXPECT_FALSE(is_written_directly("./-"));
}

// What /dev/stdout is when the shell redirects it: an open regular file.
TEST(AtomicFile, OpenDescriptorsAreWrittenDirectly) {
  const TemporaryDirectory folder;
  std::FILE* open = std::fopen(folder.file("out").c_str(), "wb");
  ASSERT_NE(open, nullptr);
  std::fputs("before ", open);
  std::fflush(open);
  write_text_file(fmt::format("/dev/fd/{}", fileno(open)), "through ");
  write_text_file(fmt::format("/proc/self/fd/{}", fileno(open)), "again");
  std::fclose(open);
  EXPECT_EQ(slurp(folder.file("out")), "before through again");
  EXPECT_THROW(write_text_file("/dev/fd/987", "x"), InvalidArgument);
  EXPECT_THAT(folder.entries(), ElementsAre("out"));
}

// A folder of ordinary files that happens to lie under /dev.
TEST(AtomicFile, SharedMemoryFolderIsOrdinary) {
  if (access("/dev/shm", W_OK) != 0) GTEST_SKIP() << "no /dev/shm here";
  const std::string path = fmt::format("/dev/shm/oas-test-{}", getpid());
  spill(path, "old");
  { AtomicFile(path).write("never finished"); }
  const std::string left = slurp(path);
  std::filesystem::remove(path);
  EXPECT_EQ(left, "old");
}

TEST(AtomicFile, MissingFolderIsWrongInput) {
  const TemporaryDirectory folder;
  const std::string path = folder.file("no such folder/out");
  EXPECT_THAT([&] { AtomicFile{path}; },
              ThrowsMessage<InvalidArgument>(AllOf(StartsWith(path + ": cannot be written"),
                                                   HasSubstr("No such file or directory"))));
}

TEST(AtomicFile, FolderAndEmptyNameAreWrongInput) {
  const TemporaryDirectory folder;
  EXPECT_THAT([&] { AtomicFile{folder.path().string()}; },
              ThrowsMessage<InvalidArgument>(EndsWith("is a folder, not a file")));
  EXPECT_THAT([] { AtomicFile{""}; },
              ThrowsMessage<InvalidArgument>(HasSubstr("name of the output file is empty")));
}

// The target became a folder meanwhile: rename fails, and the work must not be lost.
TEST(AtomicFile, AFailedRenameKeepsTheWorkAndSaysWhere) {
  const TemporaryDirectory folder;
  AtomicFile file(folder.file("out"));
  file.write("x");
  std::filesystem::create_directory(folder.file("out"));
  EXPECT_THAT(
      [&] { file.commit(); },
      ThrowsMessage<IoError>(HasSubstr("what was made for it is in " + folder.file("out."))));
  ASSERT_EQ(folder.entries().size(), 2U);
  EXPECT_EQ(slurp(folder.file(folder.entries()[1])), "x");
}

TEST(AtomicFile, KeepsThePermissionsOfTheFileThatItReplaces) {
  const TemporaryDirectory folder;
  const std::string path = folder.file("secret");
  for (const mode_t mode : {0600, 0640, 0444, 0666}) {
    spill(path, "old");
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    write_text_file(path, "new");
    struct stat info = {};
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, mode);
    std::filesystem::remove(path);
  }
}

// Another user's file in a folder like /tmp: said before the work, not after it.
TEST(AtomicFile, WhatCannotBeReplacedIsRefusedAtOnce) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const TemporaryDirectory folder;
  spill(folder.file("theirs"), "old");
  const uid_t nobody = 65534;
  ASSERT_EQ(chown(folder.file("theirs").c_str(), 1, 1), 0);
  ASSERT_EQ(chmod(folder.path().c_str(), 01777), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (setuid(nobody) != 0) _exit(3);
    try {
      AtomicFile file(folder.file("theirs"));
      _exit(1);
    } catch (const InvalidArgument& error) {
      const bool said = std::string_view(error.what()).find("another user") != std::string::npos;
      _exit(said ? 0 : 2);
    }
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_THAT(folder.entries(), ElementsAre("theirs"));
}

TEST(AtomicFile, TemporaryFilesOfOneTargetHaveTheirOwnNames) {
  const TemporaryDirectory folder;
  const TemporaryFile one(folder.file("out.png"), ".png");
  const TemporaryFile two(folder.file("out.png"), ".png");
  EXPECT_NE(one.name(), two.name());
  EXPECT_THAT(one.name(), EndsWith(".png"));
}

TEST(AtomicFile, KnowsItsPath) {
  const TemporaryDirectory folder;
  EXPECT_EQ(AtomicFile(folder.file("out")).path(), folder.file("out"));
}

TEST(ReadTextFile, ReadsAllBytes) {
  const TemporaryDirectory folder;
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += kBinary;  // several blocks
  spill(folder.file("in"), text);
  EXPECT_EQ(read_text_file(folder.file("in")), text);
  spill(folder.file("empty"), "");
  EXPECT_EQ(read_text_file(folder.file("empty")), "");
}

TEST(ReadTextFile, WhatWasWrittenReadsBack) {
  const TemporaryDirectory folder;
  write_text_file(folder.file("x"), kBinary);
  EXPECT_EQ(read_text_file(folder.file("x")), kBinary);
}

TEST(ReadTextFile, ErrorsNameTheFile) {
  const TemporaryDirectory folder;
  const std::string missing = folder.file("missing");
  EXPECT_THAT([&] { (void)read_text_file(missing); },
              ThrowsMessage<InvalidArgument>(missing + ": No such file or directory"));
  EXPECT_THAT([&] { (void)read_text_file(folder.path().string()); },
              ThrowsMessage<InvalidArgument>(EndsWith("is a folder, not a file")));
}

TEST(ReadTextFile, KeepsToTheLimit) {
  const TemporaryDirectory folder;
  spill(folder.file("ten"), "0123456789");
  EXPECT_EQ(read_text_file(folder.file("ten"), 10), "0123456789");
  EXPECT_THAT([&] { (void)read_text_file(folder.file("ten"), 9); },
              ThrowsMessage<InvalidArgument>(EndsWith("larger than the limit of 9 bytes")));
  EXPECT_THAT([] { (void)read_text_file("/dev/zero", 1000); },
              ThrowsMessage<InvalidArgument>(HasSubstr("limit of 1000 bytes")));
}

}  // namespace
}  // namespace oas

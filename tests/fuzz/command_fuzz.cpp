#include <random>
#include <string>
#include <string_view>

#include "fuzz/command_doors.hpp"
#include "fuzz/fuzz_target.hpp"

/// Every kind of file through every verb of the command that reads it. The first byte chooses the
/// door, the rest is the file. libFuzzer's limits on memory and time are what an input may take.
namespace {

using namespace oas::test;  // NOLINT(google-build-using-namespace)

constexpr std::size_t kMost = 1 << 16;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  static_cast<void>(open_door(data[0] % doors().size(), bytes.substr(1)));
  return 0;
}

// Changes that know what the file is made of; now and then another door, with a sound file.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned int seed) {
  std::mt19937_64 chance(seed);
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.size() < 2 || chance() % 8 == 0) {
    const std::size_t any = chance() % doors().size();
    bytes = std::string(1, static_cast<char>(any)) + sound_file(any);
  }
  const std::size_t door = static_cast<unsigned char>(bytes[0]) % doors().size();
  bytes = bytes[0] + mutated(bytes.substr(1), sound_file(door), doors()[door].shape,
                             std::min(kMost, max_size - 1), chance);
  return bytes.copy(reinterpret_cast<char*>(data), max_size);
}

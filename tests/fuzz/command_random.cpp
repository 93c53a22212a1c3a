#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "fuzz/command_doors.hpp"

/// Random files through all doors of the command, without a fuzzer's lead: of any build, in any
/// compiler. Each may take 10 s of processor time and 1 GB; an input that takes more, or that ends
/// otherwise than it may, lies in the file `input` then.
///   command_random INPUTS SEED FOLDER      so many inputs; 0: until it is stopped
///   command_random FILE                    one that was kept
namespace {

using namespace oas::test;  // NOLINT(google-build-using-namespace)

constexpr std::size_t kMostBytes = 1 << 20;
constexpr int kSeconds = 10;
constexpr rlim_t kMemory = rlim_t{1} << 30;

void limit_memory() {
#ifndef OAS_SANITIZED  // a sanitizer reserves terabytes
  const rlimit limit = {kMemory, kMemory};
  setrlimit(RLIMIT_AS, &limit);
#endif
}

// SIGVTALRM ends the program when it is over.
void give_time(int seconds) {
  const itimerval time = {{0, 0}, {seconds, 0}};
  setitimer(ITIMER_VIRTUAL, &time, nullptr);
}

// Mostly changes of a sound file, else changes of what was made before.
std::string next_input(std::size_t door, std::string& last, std::mt19937_64& chance) {
  const std::string& sound = sound_file(door);
  const bool from_last = !last.empty() && chance() % 3 == 0;
  last = mutated(from_last ? last : sound, sound, doors()[door].shape, kMostBytes, chance);
  return last;
}

// A door that refuses its own sound file would only ever show how that is refused.
bool all_doors_open() {
  bool all = true;
  for (std::size_t door = 0; door < doors().size(); ++door) {
    const std::string refusal = open_door(door, sound_file(door));
    if (refusal.empty()) continue;
    std::printf("door %zu refuses a sound file: %s\n", door, refusal.c_str());
    all = false;
  }
  return all;
}

int attack(long inputs, unsigned long seed, const std::string& folder) {
  std::mt19937_64 chance(seed);
  std::vector<std::string> last(doors().size());
  std::vector<double> longest(doors().size(), 0.0);
  if (!all_doors_open()) return 1;
  limit_memory();
  for (long i = 0; inputs == 0 || i < inputs; ++i) {
    const std::size_t door = chance() % doors().size();
    const std::string bytes = next_input(door, last[door], chance);
    std::ofstream(folder + "/input", std::ios::binary) << static_cast<char>(door) << bytes;
    give_time(kSeconds);
    const std::clock_t start = std::clock();
    static_cast<void>(open_door(door, bytes));
    give_time(0);
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    if (seconds > std::max(2.0, longest[door])) {
      longest[door] = seconds;
      const std::string name = folder + "/slow-" + std::to_string(door);
      std::ofstream(name, std::ios::binary) << static_cast<char>(door) << bytes;
      const std::string file(doors()[door].file);
      std::printf("door %zu (%s): %.1f s\n", door, file.c_str(), seconds);
    }
    if (i % 1000 == 999) std::printf("%ld inputs\n", i + 1);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2) {
    std::ifstream file(argv[1], std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    if (!bytes.empty()) {
      static_cast<void>(open_door(static_cast<unsigned char>(bytes[0]), bytes.substr(1)));
    }
    return bytes.empty() ? 2 : 0;
  }
  if (argc != 4) {
    std::fprintf(stderr, "usage: command_random INPUTS SEED FOLDER, or FILE\n");
    return 2;
  }
  return attack(std::atol(argv[1]), std::strtoul(argv[2], nullptr, 10), argv[3]);
}

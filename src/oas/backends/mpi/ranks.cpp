#include "oas/backends/ranks.hpp"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <list>
#include <utility>
#include <vector>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

constexpr int kSize = 1;  // tags
constexpr int kBytes = 2;
constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // counts of MPI are ints

void require(int code, const char* doing) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw IoError(fmt::format("MPI: {}: {}", doing, text.data()));
}

// Without such a variable nobody has started this process together with others, and MPI_Init would
// only cost time.
bool started_by_mpi() {
  constexpr std::array kVariables = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE"};
  return std::any_of(kVariables.begin(), kVariables.end(),
                     [](const char* name) { return std::getenv(name) != nullptr; });
}

class MpiTeam final : public Team {
 public:
  explicit MpiTeam(void (*say)(const std::string&)) : tell_(say) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  }
  ~MpiTeam() override {
    while (!sending_.empty()) {
      forget_what_arrived();
      if (!sending_.empty()) usleep(kFirstWait);
    }
    MPI_Finalize();
  }
  MpiTeam(const MpiTeam&) = delete;
  MpiTeam& operator=(const MpiTeam&) = delete;

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }

  void send(int to, std::string bytes) override {
    forget_what_arrived();
    Sending& message = sending_.emplace_back();
    message.bytes = std::move(bytes);
    message.size = message.bytes.size();
    MPI_Request* request = &message.requests.emplace_back();
    require(MPI_Isend(&message.size, 1, MPI_UINT64_T, to, kSize, MPI_COMM_WORLD, request), "send");
    for (std::size_t first = 0; first < message.size; first += kMostAtOnce) {
      const std::size_t count = std::min(kMostAtOnce, message.bytes.size() - first);
      request = &message.requests.emplace_back();
      require(MPI_Isend(message.bytes.data() + first, static_cast<int>(count), MPI_BYTE, to, kBytes,
                        MPI_COMM_WORLD, request),
              "send");
    }
  }

  [[nodiscard]] std::string receive(int from) override { return next(from).bytes; }
  [[nodiscard]] Message receive_any() override { return next(MPI_ANY_SOURCE); }

  void tell(const std::string& line) override {
    if (leads()) tell_(line);
  }

 private:
  static constexpr useconds_t kFirstWait = 20;  // µs

  // The bytes live until they were sent.
  struct Sending {
    std::string bytes;
    std::uint64_t size = 0;
    std::list<MPI_Request> requests;
  };

  void forget_what_arrived() {
    sending_.remove_if([](Sending& message) {
      message.requests.remove_if([](MPI_Request& request) {
        int done = 0;
        require(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "send");
        return done != 0;
      });
      return message.requests.empty();
    });
  }

  // MPI itself waits at full speed, which takes cores from ranks and threads that have work. This
  // looks again after a thirtieth of the time waited so far: neither looking nor being late costs
  // more than a few per cent.
  MPI_Status wait_for(int from, int tag) {
    constexpr useconds_t kLongestWait = 20'000;
    MPI_Status status;
    useconds_t waited = 0;
    for (int tries = 0;; ++tries) {
      int there = 0;
      require(MPI_Iprobe(from, tag, MPI_COMM_WORLD, &there, &status), "receive");
      if (there != 0) return status;
      constexpr int kAtFullSpeed = 200;
      if (tries < kAtFullSpeed) continue;
      forget_what_arrived();
      const useconds_t wait = std::clamp(waited / 32, kFirstWait, kLongestWait);
      usleep(wait);
      waited = std::min<useconds_t>(waited + wait, 32 * kLongestWait);
    }
  }

  Message next(int from) {
    Message message;
    message.from = wait_for(from, kSize).MPI_SOURCE;
    std::uint64_t size = 0;
    require(
        MPI_Recv(&size, 1, MPI_UINT64_T, message.from, kSize, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
        "receive");
    message.bytes.resize(size);
    for (std::size_t first = 0; first < size; first += kMostAtOnce) {
      static_cast<void>(wait_for(message.from, kBytes));
      const std::size_t count = std::min(kMostAtOnce, message.bytes.size() - first);
      require(MPI_Recv(message.bytes.data() + first, static_cast<int>(count), MPI_BYTE,
                       message.from, kBytes, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
              "receive");
    }
    return message;
  }

  void (*tell_)(const std::string&);
  int rank_ = 0;
  int size_ = 1;
  std::list<Sending> sending_;
};

}  // namespace

std::string mpi_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string version(text.data(), static_cast<std::size_t>(length));
  std::string name = version.substr(0, std::min(version.find(','), version.find('\n')));
  const std::size_t mark = name.find(" v");
  if (mark != std::string::npos) name.erase(mark + 1, 1);
  return name;
}

std::unique_ptr<Team> join_ranks(void (*tell)(const std::string& line)) {
  if (!started_by_mpi()) return nullptr;
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
  auto team = std::make_unique<MpiTeam>(tell);
  OAS_REQUIRE(provided >= MPI_THREAD_SERIALIZED, "this MPI does not allow threads");
  if (team->size() > 1) return team;
  return nullptr;
}

void abort_ranks(int code) {
  MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

}  // namespace oas

// Makes the n-th call of a kind fail, in any program that is started with this library in
// LD_PRELOAD: no memory, a full disk, an unreadable file, no more threads. fault_attack.py drives
// it; SQLite and the compression libraries meet the same faults, since they call the same
// functions.
//
//   OAS_FAULT="KIND N once" or "KIND N on"   that call alone, or it and all after it
//   OAS_FAULT_COUNTS=FILE                    how often each kind was called, in the order of Kind,
//                                            then how many blocks of memory were not given back
//
// Calls are counted from the start of main(): what fails before has no one to tell.

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace {

enum Kind { memory, map, open_file, read_file, write_file, sync_file, replace, look, thread, lock };
constexpr std::array kNames = {"memory", "map",     "open", "read",   "write",
                               "sync",   "replace", "look", "thread", "lock"};

std::atomic<bool> armed = false;
int failing = -1;  // none
std::uint64_t first_failure = 0;
bool goes_on = false;
// One more than there are kinds: blocks of memory.
std::array<std::atomic<std::uint64_t>, kNames.size() + 1> own_counts = {};
std::atomic<std::uint64_t>* counts = own_counts.data();

void* taken(void* block) {
  if (block != nullptr) ++counts[kNames.size()];
  return block;
}

// Whether this call is one that fails.
bool fails(Kind kind) {
  if (!armed) return false;
  const std::uint64_t number = ++counts[kind];
  if (kind != failing) return false;
  return goes_on ? number >= first_failure : number == first_failure;
}

// The function of that name which this library stands before.
template <class Function>
Function* next(Function*& known, const char* name) {
  if (known == nullptr) known = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  return known;
}

// What dlsym itself takes while malloc is being looked up; never freed.
alignas(16) std::array<char, 1 << 14> early_memory;
std::size_t early_used = 0;
thread_local bool is_looking_up = false;

bool is_early(const void* pointer) {
  const auto* byte = static_cast<const char*>(pointer);
  return byte >= early_memory.data() && byte < early_memory.data() + early_memory.size();
}

void* take_early(std::size_t size) {
  constexpr std::size_t kAlign = 16;
  void* const place = early_memory.data() + early_used;
  early_used += (size + kAlign - 1) / kAlign * kAlign;
  if (early_used > early_memory.size()) _exit(99);
  return place;
}

template <class Function>
Function* next_allocator(Function*& known, const char* name) {
  if (known == nullptr) {
    is_looking_up = true;
    next(known, name);
    is_looking_up = false;
  }
  return known;
}

void* no_memory() {
  errno = ENOMEM;
  return nullptr;
}

template <class Result>
Result failure(int error, Result result) {
  errno = error;
  return result;
}

void map_counts(const char* path) {
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void* const place = mmap(nullptr, sizeof own_counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (place == MAP_FAILED) return;
  counts = static_cast<std::atomic<std::uint64_t>*>(place);
  counts[kNames.size()] = own_counts[kNames.size()].load();
}

void arm() {
  unsetenv("LD_PRELOAD");  // programs that this one starts are no part of it
  if (const char* path = getenv("OAS_FAULT_COUNTS")) map_counts(path);
  if (const char* fault = getenv("OAS_FAULT")) {
    std::array<char, 16> kind = {};
    std::array<char, 8> mode = {};
    unsigned long long number = 0;
    if (sscanf(fault, "%15s %llu %7s", kind.data(), &number, mode.data()) != 3) _exit(98);
    const auto* found = std::find_if(kNames.begin(), kNames.end(), [&](const char* name) {
      return strcmp(name, kind.data()) == 0;
    });
    if (found == kNames.end()) _exit(98);
    failing = static_cast<int>(found - kNames.begin());
    first_failure = number;
    goes_on = strcmp(mode.data(), "on") == 0;
  }
  armed = true;
}

using Main = int(int, char**, char**);
Main* real_main = nullptr;

int main_with_faults(int argc, char** argv, char** environment) {
  arm();
  return real_main(argc, argv, environment);
}

}  // namespace

// The name NAME, which fails as its kind; what it does otherwise is `real`.
#define FAULTY(RESULT, NAME, PARAMETERS, ARGUMENTS, KIND, FAILURE) \
  extern "C" RESULT NAME PARAMETERS {                              \
    static RESULT(*known) PARAMETERS = nullptr;                    \
    if (fails(KIND)) return FAILURE;                               \
    return next(known, #NAME) ARGUMENTS;                           \
  }

using Start = int(Main*, int, char**, void (*)(), void (*)(), void (*)(), void*);

extern "C" int __libc_start_main(Main* main, int argc, char** argv, void (*init)(), void (*fini)(),
                                 void (*rtld_fini)(), void* stack_end) {
  static Start* known = nullptr;
  real_main = main;
  return next(known, "__libc_start_main")(main_with_faults, argc, argv, init, fini, rtld_fini,
                                          stack_end);
}

// What ends at once gives nothing back, and need not.
extern "C" [[noreturn]] void _exit(int code) {
  static void (*known)(int) = nullptr;
  counts[kNames.size()] = 0;
  next(known, "_exit")(code);
  __builtin_unreachable();
}

// Memory. Looking a function up may itself allocate.

extern "C" void* malloc(std::size_t size) {
  static void* (*known)(std::size_t) = nullptr;
  if (is_looking_up) return take_early(size);
  if (fails(memory)) return no_memory();
  return taken(next_allocator(known, "malloc")(size));
}

extern "C" void* calloc(std::size_t count, std::size_t size) {
  static void* (*known)(std::size_t, std::size_t) = nullptr;
  if (is_looking_up) return take_early(count * size);  // of zeros, never used before
  if (fails(memory)) return no_memory();
  return taken(next_allocator(known, "calloc")(count, size));
}

extern "C" void* realloc(void* pointer, std::size_t size) {
  static void* (*known)(void*, std::size_t) = nullptr;
  if (fails(memory)) return no_memory();
  if (pointer == nullptr) return taken(next_allocator(known, "realloc")(pointer, size));
  if (!is_early(pointer)) return next_allocator(known, "realloc")(pointer, size);
  void* const place = malloc(size);
  const auto rest = static_cast<std::size_t>(early_memory.end() - static_cast<char*>(pointer));
  if (place != nullptr) memcpy(place, pointer, std::min(size, rest));
  return place;
}

extern "C" void free(void* pointer) {
  static void (*known)(void*) = nullptr;
  if (pointer == nullptr || is_early(pointer)) return;
  --counts[kNames.size()];
  next_allocator(known, "free")(pointer);
}

extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) {
  static void* (*known)(std::size_t, std::size_t) = nullptr;
  if (fails(memory)) return no_memory();
  return taken(next_allocator(known, "aligned_alloc")(alignment, size));
}

extern "C" int posix_memalign(void** place, std::size_t alignment, std::size_t size) {
  *place = aligned_alloc(alignment, size);
  return *place == nullptr ? ENOMEM : 0;
}

FAULTY(void*, mmap,
       (void* place, std::size_t size, int protection, int flags, int file, off_t offset),
       (place, size, protection, flags, file, offset), map, failure(ENOMEM, MAP_FAILED))
FAULTY(void*, mmap64,
       (void* place, std::size_t size, int protection, int flags, int file, off64_t offset),
       (place, size, protection, flags, file, offset), map, failure(ENOMEM, MAP_FAILED))

// Files. The C library's streams do not come by read() and write(), so they are named, too.

#define FAULTY_OPEN(NAME)                                 \
  extern "C" int NAME(const char* path, int flags, ...) { \
    static int (*known)(const char*, int, ...) = nullptr; \
    va_list more;                                         \
    va_start(more, flags);                                \
    const mode_t mode = va_arg(more, mode_t);             \
    va_end(more);                                         \
    if (fails(open_file)) return failure(EMFILE, -1);     \
    return next(known, #NAME)(path, flags, mode);         \
  }
FAULTY_OPEN(open)
FAULTY_OPEN(open64)
FAULTY(FILE*, fopen, (const char* path, const char* mode), (path, mode), open_file,
       failure<FILE*>(EMFILE, nullptr))
FAULTY(FILE*, fopen64, (const char* path, const char* mode), (path, mode), open_file,
       failure<FILE*>(EMFILE, nullptr))
FAULTY(FILE*, fdopen, (int file, const char* mode), (file, mode), open_file,
       failure<FILE*>(ENOMEM, nullptr))
FAULTY(FILE*, tmpfile, (), (), open_file, failure<FILE*>(EMFILE, nullptr))
FAULTY(FILE*, tmpfile64, (), (), open_file, failure<FILE*>(EMFILE, nullptr))
FAULTY(DIR*, opendir, (const char* path), (path), open_file, failure<DIR*>(EMFILE, nullptr))
FAULTY(int, mkdir, (const char* path, mode_t mode), (path, mode), open_file, failure(ENOSPC, -1))

FAULTY(ssize_t, read, (int file, void* bytes, std::size_t size), (file, bytes, size), read_file,
       failure<ssize_t>(EIO, -1))
FAULTY(ssize_t, pread, (int file, void* bytes, std::size_t size, off_t at), (file, bytes, size, at),
       read_file, failure<ssize_t>(EIO, -1))
FAULTY(ssize_t, pread64, (int file, void* bytes, std::size_t size, off64_t at),
       (file, bytes, size, at), read_file, failure<ssize_t>(EIO, -1))

// As a stream that could not read on: it must say so itself, hence the closed descriptor.
extern "C" std::size_t fread(void* bytes, std::size_t size, std::size_t count, FILE* file) {
  static std::size_t (*known)(void*, std::size_t, std::size_t, FILE*) = nullptr;
  if (fails(read_file)) close(fileno(file));
  return next(known, "fread")(bytes, size, count, file);
}

FAULTY(ssize_t, write, (int file, const void* bytes, std::size_t size), (file, bytes, size),
       write_file, failure<ssize_t>(ENOSPC, -1))
FAULTY(ssize_t, writev, (int file, const iovec* parts, int count), (file, parts, count), write_file,
       failure<ssize_t>(ENOSPC, -1))
FAULTY(ssize_t, pwrite, (int file, const void* bytes, std::size_t size, off_t at),
       (file, bytes, size, at), write_file, failure<ssize_t>(ENOSPC, -1))
FAULTY(ssize_t, pwrite64, (int file, const void* bytes, std::size_t size, off64_t at),
       (file, bytes, size, at), write_file, failure<ssize_t>(ENOSPC, -1))
FAULTY(int, ftruncate, (int file, off_t size), (file, size), write_file, failure(ENOSPC, -1))
FAULTY(int, ftruncate64, (int file, off64_t size), (file, size), write_file, failure(ENOSPC, -1))

// Messages come through: what is judged is what they say.
extern "C" std::size_t fwrite(const void* bytes, std::size_t size, std::size_t count, FILE* file) {
  static std::size_t (*known)(const void*, std::size_t, std::size_t, FILE*) = nullptr;
  if (file != stderr && fails(write_file)) return failure<std::size_t>(ENOSPC, 0);
  return next(known, "fwrite")(bytes, size, count, file);
}
extern "C" int fflush(FILE* file) {
  static int (*known)(FILE*) = nullptr;
  if (file != stderr && fails(write_file)) return failure(ENOSPC, EOF);
  return next(known, "fflush")(file);
}
extern "C" int fclose(FILE* file) {
  static int (*known)(FILE*) = nullptr;
  const bool failed = fails(write_file);
  const int result = next(known, "fclose")(file);
  return failed ? failure(ENOSPC, EOF) : result;
}

FAULTY(int, fsync, (int file), (file), sync_file, failure(EIO, -1))
FAULTY(int, fdatasync, (int file), (file), sync_file, failure(EIO, -1))

FAULTY(int, rename, (const char* from, const char* to), (from, to), replace, failure(EACCES, -1))
FAULTY(int, renameat, (int a, const char* from, int b, const char* to), (a, from, b, to), replace,
       failure(EACCES, -1))
FAULTY(int, unlink, (const char* path), (path), replace, failure(EACCES, -1))

FAULTY(int, stat, (const char* path, struct stat* info), (path, info), look, failure(EIO, -1))
FAULTY(int, stat64, (const char* path, struct stat64* info), (path, info), look, failure(EIO, -1))
FAULTY(int, lstat, (const char* path, struct stat* info), (path, info), look, failure(EIO, -1))
FAULTY(int, lstat64, (const char* path, struct stat64* info), (path, info), look, failure(EIO, -1))
FAULTY(int, fstat, (int file, struct stat* info), (file, info), look, failure(EIO, -1))
FAULTY(int, fstat64, (int file, struct stat64* info), (file, info), look, failure(EIO, -1))
FAULTY(char*, getcwd, (char* place, std::size_t size), (place, size), look,
       failure<char*>(EACCES, nullptr))

FAULTY(int, pthread_create,
       (pthread_t * made, const pthread_attr_t* how, void* (*work)(void*), void* with),
       (made, how, work, with), thread, EAGAIN)

#define FAULTY_FCNTL(NAME)                                        \
  extern "C" int NAME(int file, int command, ...) {               \
    static int (*known)(int, int, ...) = nullptr;                 \
    va_list more;                                                 \
    va_start(more, command);                                      \
    void* const argument = va_arg(more, void*);                   \
    va_end(more);                                                 \
    const bool locks = command == F_SETLK || command == F_SETLKW; \
    if (locks && fails(lock)) return failure(EIO, -1);            \
    return next(known, #NAME)(file, command, argument);           \
  }
FAULTY_FCNTL(fcntl)
FAULTY_FCNTL(fcntl64)

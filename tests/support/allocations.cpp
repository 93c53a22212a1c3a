#include "support/allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> counter{0};

void count() { counter.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

// operator new and Eigen both end here. The __libc_ names are glibc's own entry points.
extern "C" {
void* __libc_malloc(std::size_t size);                           // NOLINT(*-reserved-identifier)
void* __libc_calloc(std::size_t number, std::size_t size);       // NOLINT(*-reserved-identifier)
void* __libc_realloc(void* memory, std::size_t size);            // NOLINT(*-reserved-identifier)
void* __libc_memalign(std::size_t alignment, std::size_t size);  // NOLINT(*-reserved-identifier)

void* malloc(std::size_t size) noexcept {
  count();
  return __libc_malloc(size);
}
void* calloc(std::size_t number, std::size_t size) noexcept {
  count();
  return __libc_calloc(number, size);
}
void* realloc(void* memory, std::size_t size) noexcept {
  count();
  return __libc_realloc(memory, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  count();
  return __libc_memalign(alignment, size);
}
}

#else

void* operator new(std::size_t size) {
  count();
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  count();
  return std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t& /*tag*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }

#endif

namespace oas::test {

std::size_t allocations() { return counter.load(std::memory_order_relaxed); }

}  // namespace oas::test

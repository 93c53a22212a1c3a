#pragma once

#include <any>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace oas {

/// Values that several tasks of one run need and that are dear to make, each made once: the oracle
/// of an instance, say. Whoever comes first makes it, others wait. May be used from any thread.
class SharedValues {
 public:
  /// The value of that key; `make` is called when there is none yet. If it throws, the next one
  /// tries again.
  template <class T>
  [[nodiscard]] std::shared_ptr<const T> get(const std::string& key,
                                             const std::function<T()>& make) {
    Entry& entry = entry_of(key);
    const std::lock_guard lock(entry.mutex);
    if (!entry.value.has_value()) entry.value = std::make_shared<const T>(make());
    return std::any_cast<std::shared_ptr<const T>>(entry.value);
  }

 private:
  struct Entry {
    std::mutex mutex;
    std::any value;
  };

  Entry& entry_of(const std::string& key) {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<Entry>& entry = entries_[key];
    if (!entry) entry = std::make_unique<Entry>();
    return *entry;
  }

  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Entry>> entries_;
};

}  // namespace oas

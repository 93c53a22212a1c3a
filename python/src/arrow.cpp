// Reads columns from the Arrow C data interface
// (https://arrow.apache.org/docs/format/CDataInterface.html): two structs that any library can
// fill, handed over in capsules. Nothing of Arrow itself is needed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "columns.hpp"
#include "oas/core/contracts.hpp"

extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

namespace oas::python {

namespace {

// What the library that filled a struct gives back when it is no longer needed.
template <class Struct>
struct Held : Struct {
  Held() : Struct{} {}
  ~Held() {
    if (this->release != nullptr) this->release(this);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
};

bool is_valid(const ArrowArray& array, std::int64_t index) {
  const auto* const bits = static_cast<const std::uint8_t*>(array.buffers[0]);
  if (array.null_count == 0 || bits == nullptr) return true;
  const std::int64_t bit = array.offset + index;
  return (bits[bit / 8] >> (bit % 8) & 1) != 0;
}

template <class Number>
const Number* numbers(const ArrowArray& array) {
  return static_cast<const Number*>(array.buffers[1]) + array.offset;
}

// A real number of 16 bits.
struct Half {
  std::uint16_t bits;

  explicit operator double() const {
    const int exponent = bits >> 10 & 31;
    const double fraction = bits & 1023;
    const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
    if (exponent == 31) {
      return fraction == 0.0 ? sign * std::numeric_limits<double>::infinity()
                             : std::numeric_limits<double>::quiet_NaN();
    }
    const bool normal = exponent != 0;
    return sign * std::ldexp(fraction + (normal ? 1024.0 : 0.0), (normal ? exponent : 1) - 25);
  }
};

// What a column holds that cannot be read, in words.
std::string kind_of(const std::string& format) {
  const std::pair<std::string_view, const char*> kinds[] = {{"+r", "values encoded by runs"},
                                                            {"+l", "lists"},
                                                            {"+L", "lists"},
                                                            {"+w", "lists"},
                                                            {"+v", "lists"},
                                                            {"+s", "records"},
                                                            {"+m", "mappings"},
                                                            {"+u", "unions"},
                                                            {"d:", "decimal numbers"},
                                                            {"w:", "bytes"},
                                                            {"vz", "bytes"},
                                                            {"tt", "times of the day"},
                                                            {"ti", "intervals"}};
  for (const auto& [start, kind] : kinds) {
    if (format.starts_with(start)) return kind;
  }
  return fmt::format("values of the Arrow type '{}'", format);
}

// Collects the chunks of one column.
class ChunkReader {
 public:
  ChunkReader(std::string name, const ArrowSchema& schema)
      : name_(std::move(name)), format_(schema.format), dictionary_(schema.dictionary != nullptr) {
    if (dictionary_) words_format_ = schema.dictionary->format;
  }

  void add(const ArrowArray& array) {
    if (dictionary_) return add_coded(array);
    if (is_text()) {
      return add_texts(array, format_,
                       [&](std::int64_t, std::int32_t code) { codes_.push_back(code); });
    }
    if (is_date()) return add_dates(array);
    if (format_ == "e") return add_reals<Half>(array);
    if (format_ == "f") return add_reals<float>(array);
    if (format_ == "g") return add_reals<double>(array);
    add_wholes(array);
  }

  [[nodiscard]] Column take() {
    Column column;
    column.name = name_;
    if (dictionary_ || is_text()) {
      column.cells = TextCells{std::move(codes_), words_.take()};
    } else if (is_date()) {  // a zone stands behind "tss:"
      column.whole_memory.push_back(std::move(whole_));
      column.cells = DateCells{column.whole_memory.front(), format_.size() > 4};
    } else if (is_real()) {
      column.real_memory.push_back(std::move(reals_));
      column.cells = RealCells{Series(std::span<const double>(column.real_memory.front()))};
    } else {
      column.whole_memory.push_back(std::move(whole_));
      if (std::ranges::none_of(missing_, [](auto m) { return m != 0; })) missing_.clear();
      column.missing_memory.push_back(std::move(missing_));
      column.cells = WholeCells{Series(std::span<const std::int64_t>(column.whole_memory.front())),
                                column.missing_memory.front()};
    }
    return column;
  }

 private:
  [[nodiscard]] bool is_text() const {
    return format_ == "u" || format_ == "U" || format_ == "vu" || format_ == "z" || format_ == "Z";
  }
  [[nodiscard]] bool is_date() const {
    return format_.starts_with("ts") || format_.starts_with("td") || format_.starts_with("tD");
  }
  [[nodiscard]] bool is_real() const { return format_ == "e" || format_ == "f" || format_ == "g"; }

  template <class Number>
  void add_reals(const ArrowArray& array) {
    const Number* const values = numbers<Number>(array);
    for (std::int64_t i = 0; i < array.length; ++i) {
      reals_.push_back(is_valid(array, i) ? static_cast<double>(values[i])
                                          : std::numeric_limits<double>::quiet_NaN());
    }
  }

  template <class Number>
  void add_whole(const ArrowArray& array) {
    const Number* const values = numbers<Number>(array);
    for (std::int64_t i = 0; i < array.length; ++i) {
      const bool valid = is_valid(array, i);
      missing_.push_back(valid ? 0 : 1);
      if constexpr (sizeof(Number) == 8 && std::is_unsigned_v<Number>) {
        OAS_REQUIRE(!valid || values[i] <= std::numeric_limits<std::int64_t>::max(),
                    "column '{}', row {}: {} is too large", name_, whole_.size(), values[i]);
      }
      whole_.push_back(valid ? static_cast<std::int64_t>(values[i]) : 0);
    }
  }

  void add_wholes(const ArrowArray& array) {
    switch (format_[0]) {
      case 'c':
        return add_whole<std::int8_t>(array);
      case 'C':
        return add_whole<std::uint8_t>(array);
      case 's':
        return add_whole<std::int16_t>(array);
      case 'S':
        return add_whole<std::uint16_t>(array);
      case 'i':
        return add_whole<std::int32_t>(array);
      case 'I':
        return add_whole<std::uint32_t>(array);
      case 'l':
        return add_whole<std::int64_t>(array);
      case 'L':
        return add_whole<std::uint64_t>(array);
      case 'b':
        return add_bits(array);
      case 'n':
        return add_nothing(array);
      default:
        throw InvalidArgument(fmt::format(
            "column '{}' holds {}; numbers, texts, dictionaries of them, dates and durations can "
            "be read",
            name_, kind_of(format_)));
    }
  }

  void add_bits(const ArrowArray& array) {
    const auto* const bits = static_cast<const std::uint8_t*>(array.buffers[1]);
    for (std::int64_t i = 0; i < array.length; ++i) {
      const std::int64_t bit = array.offset + i;
      missing_.push_back(is_valid(array, i) ? 0 : 1);
      whole_.push_back(bits[bit / 8] >> (bit % 8) & 1);
    }
  }

  void add_nothing(const ArrowArray& array) {
    missing_.insert(missing_.end(), static_cast<std::size_t>(array.length), 1);
    whole_.insert(whole_.end(), static_cast<std::size_t>(array.length), 0);
  }

  // Timestamps "tss:", "tsm:", "tsu:", "tsn:" with a zone behind, dates "tdD" and "tdm", and
  // durations "tDs", "tDm", "tDu", "tDn", which count from 1970.
  void add_dates(const ArrowArray& array) {
    const bool days = format_ == "tdD";
    std::int64_t scale = 1;
    switch (format_[2]) {
      case 'D':
        scale = std::int64_t{86'400} * 1'000'000'000;
        break;
      case 's':
        scale = 1'000'000'000;
        break;
      case 'm':
        scale = 1'000'000;
        break;
      case 'u':
        scale = 1'000;
        break;
      default:
        break;
    }
    for (std::int64_t i = 0; i < array.length; ++i) {
      std::int64_t time = DateCells::kMissing;
      if (is_valid(array, i)) {
        const std::int64_t given =
            days ? numbers<std::int32_t>(array)[i] : numbers<std::int64_t>(array)[i];
        OAS_REQUIRE(!__builtin_mul_overflow(scale, given, &time),
                    "column '{}', row {}: {} is not a time from 1678 to 2261 in nanoseconds", name_,
                    whole_.size(), given);
      }
      whole_.push_back(time);
    }
  }

  // Calls take(index, code) for every text.
  template <class Take>
  void add_texts(const ArrowArray& array, const std::string& format, const Take& take) {
    for (std::int64_t i = 0; i < array.length; ++i) {
      take(i, is_valid(array, i) ? words_.code(text_at(array, format, i)) : -1);
    }
  }

  static std::string_view text_at(const ArrowArray& array, const std::string& format,
                                  std::int64_t index) {
    const std::int64_t at = array.offset + index;
    if (format[0] == 'v') return viewed_text(array, at);
    const char* const bytes = static_cast<const char*>(array.buffers[2]);
    if (format == "U" || format == "Z") {
      const auto* const ends = static_cast<const std::int64_t*>(array.buffers[1]);
      return {bytes + ends[at], static_cast<std::size_t>(ends[at + 1] - ends[at])};
    }
    const auto* const ends = static_cast<const std::int32_t*>(array.buffers[1]);
    return {bytes + ends[at], static_cast<std::size_t>(ends[at + 1] - ends[at])};
  }

  // 16 bytes each: length, then up to 12 bytes of text, or prefix, number of a buffer and offset.
  static std::string_view viewed_text(const ArrowArray& array, std::int64_t at) {
    const char* const view = static_cast<const char*>(array.buffers[1]) + 16 * at;
    std::int32_t parts[4];
    std::memcpy(parts, view, sizeof parts);
    const auto length = static_cast<std::size_t>(parts[0]);
    if (length <= 12) return {view + 4, length};
    return {static_cast<const char*>(array.buffers[2 + parts[2]]) + parts[3], length};
  }

  void add_coded(const ArrowArray& array) {
    const std::vector<std::int32_t> own = codes_of_words(*array.dictionary);
    const ChunkReader keys = read_as(format_, array);
    for (std::size_t i = 0; i < keys.whole_.size(); ++i) {
      codes_.push_back(keys.missing_[i] != 0 ? -1
                                             : own.at(static_cast<std::size_t>(keys.whole_[i])));
    }
  }

  // Words may be numbers: those count as their texts.
  [[nodiscard]] std::vector<std::int32_t> codes_of_words(const ArrowArray& words) {
    ChunkReader read = read_as(words_format_, words);
    OAS_REQUIRE(!read.is_date(), "column '{}' is a dictionary of dates; give it as dates", name_);
    std::vector<std::int32_t> codes;
    if (read.is_text()) {
      add_texts(words, words_format_,
                [&](std::int64_t, std::int32_t code) { codes.push_back(code); });
      return codes;
    }
    const Column column = read.take();
    for (std::int64_t i = 0; i < words.length; ++i) {
      const std::string text = cell_text(column, static_cast<std::size_t>(i));
      codes.push_back(text.empty() ? -1 : words_.code(text));
    }
    return codes;
  }

  [[nodiscard]] ChunkReader read_as(const std::string& format, const ArrowArray& array) const {
    ChunkReader reader = ChunkReader(name_, format);
    reader.add(array);
    return reader;
  }
  ChunkReader(std::string name, std::string format)
      : name_(std::move(name)), format_(std::move(format)) {}

  std::string name_;
  std::string format_;
  bool dictionary_ = false;
  std::string words_format_;
  std::vector<std::int64_t> whole_;
  std::vector<std::uint8_t> missing_;
  std::vector<double> reals_;
  std::vector<std::int32_t> codes_;
  WordList words_;
};

void check(int code, ArrowArrayStream& stream) {
  if (code == 0) return;
  const char* const why = stream.get_last_error(&stream);
  throw InvalidArgument(fmt::format("the Arrow stream failed: {}", why == nullptr ? "" : why));
}

std::vector<std::int64_t> places_of(const ArrowSchema& schema,
                                    const std::vector<std::string>& fields) {
  std::vector<std::int64_t> places;
  for (const std::string& field : fields) {
    std::int64_t place = 0;
    while (place < schema.n_children && field != schema.children[place]->name) ++place;
    OAS_REQUIRE(place < schema.n_children, "there is no column '{}'", field);
    places.push_back(place);
  }
  return places;
}

ArrowArrayStream& stream_of(nb::handle capsule) {
  auto* const stream =
      static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream"));
  if (stream == nullptr) throw nb::python_error();
  return *stream;
}

void read_schema(ArrowArrayStream& stream, ArrowSchema& schema) {
  check(stream.get_schema(&stream, &schema), stream);
  OAS_REQUIRE(std::string_view(schema.format) == "+s", "the Arrow stream holds '{}' and no table",
              schema.format);
}

}  // namespace

std::vector<std::string> arrow_names(nb::handle capsule) {
  Held<ArrowSchema> schema;
  read_schema(stream_of(capsule), schema);
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < schema.n_children; ++i) names.emplace_back(schema.children[i]->name);
  return names;
}

std::vector<Column> arrow_columns(nb::handle capsule, const std::vector<std::string>& fields) {
  ArrowArrayStream* const stream = &stream_of(capsule);
  Held<ArrowSchema> schema;
  read_schema(*stream, schema);
  const std::vector<std::int64_t> places = places_of(schema, fields);
  std::vector<ChunkReader> readers;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    readers.emplace_back(fields[i], *schema.children[places[i]]);
  }
  while (true) {
    Held<ArrowArray> batch;
    check(stream->get_next(stream, &batch), *stream);
    if (batch.release == nullptr) break;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      ArrowArray child = *batch.children[places[i]];  // still the batch's; this is a window on it
      child.offset += batch.offset;
      child.length = batch.length;
      readers[i].add(child);
    }
  }
  std::vector<Column> columns;
  for (ChunkReader& reader : readers) columns.push_back(reader.take());
  return columns;
}

}  // namespace oas::python

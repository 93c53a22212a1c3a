#include "oas/live/detail/live_store.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/core/fingerprint.hpp"
#include "oas/core/interruption.hpp"
#include "oas/core/json_text.hpp"
#include "oas/learning/agents.hpp"
#include "oas/model/continuous_json.hpp"
#include "oas/model/model_json.hpp"

namespace oas::detail {

namespace {

constexpr std::uint64_t kShareOfJournal = 8;
constexpr std::string_view kSnapshotFormat = "oas-live-snapshot/4";

std::string hash_of(const AnyModel& model) {
  const auto text =
      std::visit([](const auto& any) { return dump_json(model_to_json(any)); }, model);
  return fmt::format("{:016x}", fingerprint(text));
}

AnyModel without_transition(const AnyModel& model) {
  if (const auto* const finite = std::get_if<Pomdp>(&model)) return finite->without_transition();
  const auto& continuous = std::get<ContinuousPomdp>(model);
  return ContinuousPomdp(continuous.chain().without_transition(), continuous.sensors(),
                         continuous.first_density());
}

// All that answers are a function of beside the journal.
std::string identity_of(const AnyModel& model, const LiveOptions& options) {
  std::vector<std::string> words;
  for (const Setting& setting : options.settings)
    words.push_back(setting.name + "=" + setting.value);
  std::sort(words.begin(), words.end());
  words.push_back(fmt::format("seed={}", options.seed));
  if (options.half_life > 0.0) words.push_back(fmt::format("half_life={}", options.half_life));
  if (find_agent(options.agent).knows_dynamics) {
    words.push_back(fmt::format("dynamics={}", hash_of(model)));
  }
  return fmt::format("{} {}", options.agent, fmt::join(words, " "));
}

JournalHeader header_of(const LiveModel& model, const LiveOptions& options) {
  JournalHeader header;
  header.model = hash_of(without_transition(model.given()));
  header.agent = identity_of(model.given(), options);
  header.after = model.finite().timing() == Timing::after;
  header.reading_first = model.finite().reading_first();
  header.num_states = model.finite().num_states();
  header.dimension = model.dimension();
  return header;
}

}  // namespace

RowStorage::Again rows_again(const std::string& folder, const LiveModel& model) {
  return [folder, model](const std::function<bool(const LearnerRow&)>& receive) {
    JournalReader reader(folder);
    for (JournalRecord record; reader.next(record);) {
      if (has_row(record) && !receive(learner_row(record, model.seen(record.row)))) return;
    }
  };
}

LiveStore::LiveStore(const LiveModel& model, const LiveOptions& options)
    : folder_(options.journal),
      verify_(options.verify),
      segment_bytes_(options.segment_bytes),
      lock_(options.journal),
      header_(header_of(model, options)) {}

std::string LiveStore::snapshot_path() const {
  return (std::filesystem::path(folder_) / "snapshot.oass").string();
}

// But for the ends of files, which differ.
std::uint64_t LiveStore::bytes_before(const JournalPlace& place) const {
  return static_cast<std::uint64_t>(place.segment) * segment_bytes_ + place.offset;
}

void LiveStore::set_snapshot(const JournalPlace& place, std::uint64_t bytes) {
  snapshot_records_ = place.sequence;
  snapshot_place_ = bytes_before(place);
  snapshot_bytes_ = bytes;
}

bool LiveStore::snapshot_pays(std::uint64_t least_records) const {
  const JournalPlace here = journal_->place();
  const std::uint64_t records = here.sequence - snapshot_records_;
  return records >= least_records && (records >= here.sequence / kShareOfJournal ||
                                      bytes_before(here) >= snapshot_place_ + snapshot_bytes_);
}

// One is taken of records that are on the disk: without them a start would begin anew.
void LiveStore::require_no_snapshot(const char* journal) const {
  OAS_REQUIRE(!std::filesystem::exists(snapshot_path()),
              "{}: there is a snapshot, and the journal that it belongs to is {}", folder_,
              journal);
}

void LiveStore::recover(LiveState& state, LiveLearner* learner) {
  JournalPlace end;
  if (holds_journal(folder_)) {
    JournalReader first(folder_);
    if (first.place().offset > 0) {
      OAS_REQUIRE(first.header().model == header_.model,
                  "{}: the journal is of another model (fingerprint {}, and this one has {})",
                  folder_, first.header().model, header_.model);
      OAS_REQUIRE(first.header().agent == header_.agent,
                  "{}: the journal is of agent \"{}\", and this one is \"{}\"", folder_,
                  first.header().agent, header_.agent);
    } else {
      require_no_snapshot("empty");
    }
    const JournalPlace from = load_snapshot(state, learner);
    JournalReader reader(folder_, from);
    replay(reader, state, learner);
    end = reader.place();
    if (reader.torn_bytes() > 0) {
      notes_.push_back(
          fmt::format("{}: the last {} bytes of the journal were cut off in the "
                      "middle of a record that was never answered",
                      folder_, reader.torn_bytes()));
    }
  } else {
    require_no_snapshot("gone");
  }
  journal_ = std::make_unique<JournalWriter>(folder_, header_, end, segment_bytes_);
}

// Rows wait where plans are made again, since a plan is of the rows before some record that it came
// into force after.
void LiveStore::replay(JournalReader& reader, LiveState& state, LiveLearner* learner) {
  std::vector<LearnerRow> fed;
  std::size_t done = 0;
  const auto feed = [&](std::int64_t rows) {
    for (; done < fed.size() && learner->rows() < rows; ++done) learner->add(fed[done]);
    if (done < fed.size()) return;
    fed.clear();
    done = 0;
  };
  JournalRecord record;
  for (std::uint64_t number = reader.place().sequence; reader.next(record); ++number) {
    check_interrupted();
    try {
      if (verify_ && record.kind == JournalKind::plan && learner != nullptr) {
        feed(state.rows_of_plan(record));
        state.check_plan(record, *learner);
      }
      state.apply(record, verify_, fed);
    } catch (const InvalidArgument& error) {
      throw InvalidArgument(
          fmt::format("{}: record {} of the journal: {}", folder_, number, error.what()));
    }
    if (learner != nullptr && !verify_) feed(kAllRows);
  }
  if (learner != nullptr) feed(kAllRows);
}

JournalPlace LiveStore::load_snapshot(LiveState& state, LiveLearner* learner) {
  if (verify_ || !std::filesystem::exists(snapshot_path())) return {};
  JournalPlace place;
  std::uint64_t size = 0;
  try {
    const std::string bytes = read_text_file(snapshot_path(), std::size_t{1} << 36);
    size = bytes.size();
    constexpr std::size_t kSum = sizeof(std::uint64_t);
    OAS_REQUIRE(bytes.size() > kSum, "it is too short");
    const std::string_view body(bytes.data(), bytes.size() - kSum);
    ByteReader sum(std::string_view(bytes).substr(body.size()));
    OAS_REQUIRE(sum.get<std::uint64_t>() == fingerprint(body), "its checksum is wrong");
    ByteReader in(body);
    OAS_REQUIRE(in.get_text() == kSnapshotFormat, "it is of another format");
    OAS_REQUIRE(in.get_text() == header_.model && in.get_text() == header_.agent,
                "it is of another agent");
    place.segment = static_cast<int>(in.get_integer(1, 1 << 30));
    place.offset = in.get<std::uint64_t>();
    place.sequence = in.get<std::uint64_t>();
    LiveState loaded = state.fresh();
    const std::string state_bytes = in.get_text();
    ByteReader state_reader(state_bytes);
    loaded.load(state_reader);
    const std::string learner_bytes = in.get_text();
    ByteReader learner_reader(learner_bytes);
    if (learner != nullptr) learner->load(learner_reader);
    state = std::move(loaded);
  } catch (const InvalidArgument& error) {
    notes_.push_back(fmt::format("{}: cannot be used ({}); the whole journal is read",
                                 snapshot_path(), error.what()));
    if (learner != nullptr) learner->clear();
    return {};
  }
  set_snapshot(place, size);
  return place;
}

void LiveStore::write_snapshot(const JournalPlace& place, std::string_view state,
                               std::string_view learner) {
  ByteWriter out;
  out.put_text(kSnapshotFormat);
  out.put_text(header_.model);
  out.put_text(header_.agent);
  out.put(static_cast<std::int64_t>(place.segment));
  out.put(place.offset);
  out.put(place.sequence);
  out.put_text(state);
  out.put_text(learner);
  std::string bytes = out.take();
  const std::uint64_t sum = fingerprint(bytes);
  journal_->sync();  // a snapshot of what a power cut might take would be of no use
  AtomicFile file(snapshot_path());
  file.write(bytes);
  file.write({reinterpret_cast<const char*>(&sum), sizeof(sum)});
  file.commit();
  set_snapshot(place, bytes.size());
}

}  // namespace oas::detail

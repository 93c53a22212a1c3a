#include "oas/estimation/detail/evidence_body.hpp"

#include <algorithm>

#include "oas/core/contracts.hpp"

namespace oas::detail {

void read_shares(
    EvidenceBody& all, std::span<const RowPart> parts, std::int64_t first_run, Team& team,
    const std::function<void(EvidenceBody& body, std::span<const RowPart> own)>& read) {
  std::vector<std::int64_t> sizes;
  for (const RowPart& part : parts) sizes.push_back(part.size);
  const Stretch own = share_of(sizes, team.rank(), team.size());
  const bool any = parts.empty() ? team.leads() : own.size() > 0;
  gather(
      team,
      [&] {
        if (!any) return std::string();
        const auto body =
            parts.empty() ? all.fresh(first_run) : all.fresh_for(parts[own.first], first_run);
        read(*body, parts.subspan(own.first, own.size()));
        ByteWriter out;
        body->save(out);
        return out.take();
      },
      [&](const std::string& bytes) {
        if (bytes.empty()) return;
        const auto body = all.fresh(first_run);
        ByteReader in(bytes);
        body->load(in);
        all.merge(*body);
      });
}

void EvidenceBody::go_on(std::int64_t /*rows*/, const RowBlock& /*before*/) {
  throw_invalid_argument("this estimator takes whole runs");
}

std::unique_ptr<EvidenceBody> EvidenceBody::fresh_for(const RowPart& part,
                                                      std::int64_t first_run) const {
  auto body = fresh(first_run + part.first_run);
  if (part.rows_before > 0) body->go_on(part.rows_before, part.before.all());
  return body;
}

void EvidenceBody::take(RowSource& source) {
  for (RowBlock block; source.next(block);) {
    by_runs(
        block, [&](RunStart start) { start_run(start); },
        [&](const RowBlock& rows) { add(rows, &source); });
  }
}

void EvidenceBody::take(std::span<const RowPart> parts, std::int64_t first_run,
                        Parallelism parallelism) {
  for (std::size_t first = 0; first < parts.size(); first += kPartsAtOnce) {
    std::vector<std::unique_ptr<EvidenceBody>> bodies(std::min(kPartsAtOnce, parts.size() - first));
    parallel_for(bodies.size(), parallelism, [&](std::size_t i) {
      const RowPart& part = parts[first + i];
      bodies[i] = fresh_for(part, first_run);
      bodies[i]->take(*part.rows);
    });
    for (const auto& body : bodies) merge(*body);
  }
}

void EvidenceBody::read(RowSource& source, std::int64_t first_run, Parallelism parallelism) {
  std::vector<RowPart> parts;
  if (can_merge()) parts = source.parts(parallelism, numbered_from(first_run, run_cut()));
  if (parallelism.team != nullptr) {
    const auto share = [&](EvidenceBody& body, std::span<const RowPart> own) {
      if (parts.empty()) {
        body.take(source);
      } else {
        body.take(own, first_run, parallelism);
      }
    };
    read_shares(*this, parts, first_run, *parallelism.team, share);
  } else if (parts.empty()) {
    take(source);
  } else {
    take(parts, first_run, parallelism);
  }
}

std::string EvidenceBody::hinders_team() const {
  return can_merge() ? std::string() : "it takes rows in their order";
}

void EvidenceBody::help(const std::string& order, Parallelism /*parallelism*/) {
  throw_invalid_argument(fmt::format("nobody knows what to do with '{}'", order));
}

Resampled EvidenceBody::resample(const TransitionEstimate& /*estimate*/,
                                 const EstimateOptions& /*options*/,
                                 const BootstrapOptions& /*bootstrap*/) const {
  throw_invalid_argument("this estimator knows no bootstrap");
}

MomentSeries EvidenceBody::moments() const {
  throw_invalid_argument("this estimator is not made of the moments of pairs");
}

std::vector<double> EvidenceBody::again(const EvidenceBody& /*simulated*/,
                                        const TransitionEstimate& /*estimate*/,
                                        const EstimateOptions& /*options*/) const {
  throw_invalid_argument("this estimator knows no bootstrap");
}

}  // namespace oas::detail

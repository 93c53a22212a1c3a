#include "oas/estimation/estimators.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

constexpr std::array kEstimators = {
    EstimatorInfo{"oas", "the paper's Algorithm 1: disjoint pairs of rows, Moore-Penrose inverse",
                  "Russo, Metelli, Restelli (AAAI 2025), Algorithm 1", EstimatorKind::moments,
                  Pairing::disjoint},
    EstimatorInfo{"oas-overlap", "every pair of consecutive rows, all runs and policies pooled",
                  "docs/reference/estimation.md", EstimatorKind::moments, Pairing::overlapping},
    EstimatorInfo{"oas-weighted",
                  "oas-overlap with weights of least variance; allows blind sensors",
                  "docs/reference/estimation.md", EstimatorKind::weighted, Pairing::overlapping},
    EstimatorInfo{"oas-soft", "oas-overlap on soft features of real-valued observations, unbinned",
                  "docs/reference/estimation.md", EstimatorKind::moments, Pairing::overlapping,
                  false, true},
    EstimatorInfo{"oas-ml", "maximum likelihood, started at oas-overlap; any policy, any sensors",
                  "docs/reference/estimation.md", EstimatorKind::likelihood, Pairing::overlapping,
                  true},
    EstimatorInfo{"em", "maximum likelihood by plain expectation-maximisation, started at uniform",
                  "Baum, Petrie, Soules, Weiss (1970)", EstimatorKind::likelihood,
                  Pairing::overlapping},
    EstimatorInfo{"particle", "posterior mean and spread by particles; any policy, any sensors",
                  "Chopin (2002), iterated batch importance sampling", EstimatorKind::posterior,
                  Pairing::overlapping},
    EstimatorInfo{"spectral", "tensor decomposition of three consecutive rows: a baseline",
                  "Anandkumar, Ge, Hsu, Kakade, Telgarsky (JMLR 2014)", EstimatorKind::spectral,
                  Pairing::overlapping},
};

}  // namespace

std::span<const EstimatorInfo> estimators() { return kEstimators; }

const EstimatorInfo& find_estimator(std::string_view name) {
  std::string names;
  for (const EstimatorInfo& info : kEstimators) {
    if (info.name == name) return info;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", info.name);
  }
  detail::throw_invalid_argument(fmt::format("unknown estimator '{}'; known are {}", name, names));
}

}  // namespace oas

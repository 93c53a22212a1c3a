#include "oas/estimation/diagnosis/noncentrality.hpp"

#include <gtest/gtest.h>

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/non_central_chi_squared.hpp>

namespace oas {
namespace {

using boost::math::complement;

// Any level that a test may have: from that of hundreds of tests together to that of a test whose
// statistic can only be 0, which rejects always.
TEST(Noncentrality, GivesThePowerAtEveryLevel) {
  constexpr double kPower = 0.8;
  for (const double degrees : {1.0, 2.0, 7.0, 300.0}) {
    const boost::math::chi_squared central(degrees);
    for (const double level : {1e-250, 1e-30, 1e-5, 0.05, 0.5, 0.79, 0.8, 0.81, 1.0}) {
      const double needed = noncentrality_at_level(degrees, level, kPower);
      if (level >= kPower) {
        EXPECT_EQ(needed, 0.0) << degrees << " degrees, level " << level;
        continue;
      }
      const double critical = quantile(complement(central, level));
      const boost::math::non_central_chi_squared shifted(degrees, needed);
      EXPECT_NEAR(cdf(complement(shifted, critical)), kPower, 1e-6)
          << degrees << " degrees, level " << level;
    }
  }
}

}  // namespace
}  // namespace oas

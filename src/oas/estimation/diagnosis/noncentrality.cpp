#include "oas/estimation/diagnosis/noncentrality.hpp"

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/non_central_chi_squared.hpp>

namespace oas {

double noncentrality_at_level(double degrees, double level, double power) {
  if (level >= power) return 0.0;
  const boost::math::chi_squared central(degrees);
  const double critical = boost::math::quantile(boost::math::complement(central, level));
  return boost::math::non_central_chi_squared::find_non_centrality(degrees, critical, 1.0 - power);
}

}  // namespace oas

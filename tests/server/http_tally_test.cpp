#include "oas/server/http_tally.hpp"

#include <gmock/gmock.h>

namespace oas {
namespace {

using testing::HasSubstr;

TEST(HttpTally, CountsBecomePrometheusText) {
  HttpTally tally;
  for (int i = 0; i < 3; ++i) tally.opened();
  tally.closed();
  tally.reply(200);
  tally.reply(200);
  tally.reply(404);
  tally.handled(HttpTally::Duration(0.0001));
  tally.handled(HttpTally::Duration(0.002));
  tally.handled(HttpTally::Duration(7.0));
  tally.turned_away();
  tally.timed_out();
  const std::string text = to_prometheus(tally.counts());
  for (const char* line :
       {"# TYPE oas_http_replies_total counter\n", "oas_http_replies_total{status=\"200\"} 2\n",
        "oas_http_replies_total{status=\"404\"} 1\n", "oas_http_seconds_bucket{le=\"0.0001\"} 1\n",
        "oas_http_seconds_bucket{le=\"0.001\"} 1\n", "oas_http_seconds_bucket{le=\"0.0025\"} 2\n",
        "oas_http_seconds_bucket{le=\"1\"} 2\n", "oas_http_seconds_bucket{le=\"+Inf\"} 3\n",
        "oas_http_seconds_sum 7.0021\n", "oas_http_seconds_count 3\n", "oas_http_connections 2\n",
        "oas_http_connections_total 3\n", "oas_http_turned_away_total 1\n",
        "oas_http_timeouts_total 1\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

}  // namespace
}  // namespace oas

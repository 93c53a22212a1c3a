#include <gtest/gtest.h>

#include <optional>

#include "live/live_fleet.hpp"
#include "oas/core/interruption.hpp"
#include "oas/live/live_agent.hpp"
#include "oas/problems/named.hpp"
#include "support/temporary_directory.hpp"

// Whoever stops work from outside, as Ctrl-C in a Python process, loses nothing by it.
namespace oas {
namespace {

using test::ask;
using test::FleetUnit;
using test::quick_options;
using test::slurp;
using test::status_of;

class LiveInterruptionTest : public testing::Test {
 protected:
  LiveOptions options(const std::string& name) {
    LiveOptions made = quick_options(folder_.file(name));
    made.segment_bytes = std::size_t{1} << 20;
    made.synchronous = true;
    return made;
  }
  [[nodiscard]] std::string journal(const std::string& name) const {
    return slurp(folder_.file(name) + "/journal-00000001.oasj");
  }

  test::TemporaryDirectory folder_;
  Pomdp model_ = make_problem("machine-maintenance");
};

TEST_F(LiveInterruptionTest, AStartThatIsStoppedGivesTheJournalFree) {
  for (const bool verify : {false, true}) {
    LiveOptions agent_options = options(verify ? "verified" : "read");
    agent_options.snapshot_every = 0;
    {
      LiveAgent agent(model_, agent_options);
      FleetUnit unit(model_, "u", 1);
      for (int i = 0; i < 60; ++i) unit.take(ask(agent, unit.request()));
    }
    agent_options.verify = verify;
    const StopFlag stop = true;
    {
      const StopScope scope(&stop);
      EXPECT_THROW(LiveAgent(model_, agent_options), Interrupted);
    }
    LiveAgent again(model_, agent_options);
    EXPECT_EQ(ask(again, {{"call", "status"}})["rows"], 59);
  }
}

TEST_F(LiveInterruptionTest, ACallThatIsStoppedIsAskedAgain) {
  LiveAgent stopped(model_, options("stopped"));
  LiveAgent other(model_, options("other"));
  FleetUnit unit(model_, "u", 1);
  int interrupted = 0;
  for (int i = 0; i < 200; ++i) {
    const StopFlag stop = true;
    std::optional<StopScope> scope(&stop);
    const std::string request = unit.request().dump();
    const std::string call = unit.request()["call"];
    if (status_of(stopped, call, request) != 200) ++interrupted;
    scope.reset();
    const auto answer = ask(other, unit.request());
    EXPECT_EQ(ask(stopped, unit.request()), answer);
    unit.take(answer);
  }
  EXPECT_GE(interrupted, 2) << "as often as a plan was due";
  EXPECT_EQ(ask(stopped, {{"call", "estimate"}}), ask(other, {{"call", "estimate"}}));
  EXPECT_EQ(journal("stopped"), journal("other"));
}

}  // namespace
}  // namespace oas

#pragma once

namespace oas::test {

/// Starts an agent with four units in a process of its own, kills it (SIGKILL) at a random moment
/// under load, and so on; then compares what the clients were told with the journal, and the agent
/// with one that makes everything again from the journal. Every other agent keeps rows in memory,
/// and the rest read them again. `half_life`: of rows; 0: they do not fade.
void expect_survives(int kills, double half_life = 0.0);

}  // namespace oas::test

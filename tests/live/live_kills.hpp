#pragma once

namespace oas::test {

/// Starts an agent with four units in a process of its own, kills it (SIGKILL) at a random moment
/// under load, and so on; then compares what the clients were told with the journal, and the agent
/// with one that makes everything again from the journal.
void expect_survives(int kills);

}  // namespace oas::test

#include <cstdio>
#include <oas/core/version.hpp>

int main() { std::printf("oas %s\n", oas::version()); }

#include <cstdio>
#include <oas/oas.hpp>

int main() { std::printf("oas %s\n", oas::version()); }

// Prints the part of docs/status.md that tells of StableHLO's ops, from the op table.
#include <iostream>

#include "emulator/hlo/op_table.h"

int main() {
  std::cout << tpu::hlo::status_table();
  return std::cout.good() ? 0 : 1;
}

// The faults by kind, a table a file.
#pragma once

#include <vector>

#include "testing/faults/fault.h"

namespace mock {

std::vector<Fault> operand_faults();
std::vector<Fault> axis_faults();
std::vector<Fault> tail_faults();
std::vector<Fault> accumulation_faults();
std::vector<Fault> layout_faults();
std::vector<Fault> view_faults();
std::vector<Fault> write_faults();
std::vector<Fault> stale_faults();
std::vector<Fault> dtype_faults();
std::vector<Fault> nan_faults();
std::vector<Fault> order_faults();
std::vector<Fault> rounding_faults();
std::vector<Fault> special_value_faults();
std::vector<Fault> random_faults();
std::vector<Fault> error_faults();
std::vector<Fault> copy_faults();
std::vector<Fault> gradient_faults();
std::vector<Fault> hidden_faults();
std::vector<Fault> runtime_faults();

}  // namespace mock

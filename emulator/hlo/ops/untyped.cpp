// Ops on tuples and quantized tensors, which have no type here: rows without a shape function.
#include "emulator/hlo/ops/families.h"

namespace tpu::hlo::ops {

Rows untyped_rows() {
  return {
      {.kind = OpKind::kTuple},
      {.kind = OpKind::kGetTupleElement,
       .min_operands = 1,
       .max_operands = 1,
       .attributes = {{"index", AttributeKind::kI32}}},
      {.kind = OpKind::kUniformQuantize, .min_operands = 1, .max_operands = 1},
      {.kind = OpKind::kUniformDequantize, .min_operands = 1, .max_operands = 1},
  };
}

}  // namespace tpu::hlo::ops

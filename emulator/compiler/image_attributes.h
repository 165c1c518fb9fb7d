// Attributes of ops in an executable's image.
#pragma once

#include "emulator/compiler/image_stream.h"
#include "emulator/hlo/attributes.h"

namespace tpu::compiler {

void put_type(ImageWriter& image, const hlo::TensorType& type);
hlo::TensorType get_type(ImageReader& image);

void put_attributes(ImageWriter& image, const hlo::Attributes& attributes);
hlo::Attributes get_attributes(ImageReader& image);

}  // namespace tpu::compiler

// torch_tpu._C: what the Python package needs of the library beyond what PyTorch's own hooks give.
#include <Python.h>
// Python.h comes first.
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/Generator.h>
#include <torch/csrc/utils/pybind.h>

#include <optional>
#include <string>

#include "backend/aten/lowering_table.h"
#include "backend/eager/program_cache.h"
#include "backend/python/source_location.h"
#include "backend/runtime/device.h"
#include "backend/runtime/generator.h"
#include "backend/runtime/settings.h"
#include "backend/runtime/stream.h"

namespace {

namespace py = pybind11;
namespace runtime = torch_tpu::runtime;
using at::Float32MatmulPrecision;
using torch::wrap_pybind_function;
using torch::wrap_pybind_function_no_gil;

Float32MatmulPrecision precision_from(const std::string& name) {
  if (name == "medium") return Float32MatmulPrecision::MEDIUM;
  if (name == "high") return Float32MatmulPrecision::HIGH;
  TORCH_CHECK_VALUE(name == "highest", "expected medium, high or highest, got ", name);
  return Float32MatmulPrecision::HIGHEST;
}

std::string name_of(Float32MatmulPrecision precision) {
  switch (precision) {
    case Float32MatmulPrecision::MEDIUM:
      return "medium";
    case Float32MatmulPrecision::HIGH:
      return "high";
    case Float32MatmulPrecision::HIGHEST:
      return "highest";
  }
  return "";
}

void bind_device(py::module_& module) {
  module.def("is_initialized", &runtime::is_initialized);
  module.def("in_bad_fork", &runtime::in_bad_fork);
  module.def("init", wrap_pybind_function([] { runtime::chip(); }));
  module.def("synchronize", wrap_pybind_function_no_gil([] {
               if (runtime::is_initialized() || runtime::in_bad_fork()) {
                 runtime::synchronize_device();
               }
             }));
  module.def("drain", wrap_pybind_function_no_gil([] {
               if (!runtime::is_initialized() || runtime::in_bad_fork()) return;
               for (int id = 0; id < runtime::chip().num_queues(); ++id) {
                 runtime::chip().queue(static_cast<uint32_t>(id)).wait_idle();
               }
             }),
             "Waits for all work and leaves errors alone.");
  module.def("chip", wrap_pybind_function([] {
               const tpu::runtime::ChipSpec& spec = runtime::chip().spec();
               py::dict info;
               info["name"] = spec.name;
               info["display_name"] = spec.display_name;
               info["hbm_bytes"] = spec.hbm_bytes;
               info["hbm_bytes_per_second"] = spec.hbm_bytes_per_second;
               info["bf16_flops"] = spec.bf16_flops;
               info["mxu_depth"] = spec.mxu_depth;
               info["has_fp8"] = spec.has_fp8;
               info["devices_per_chip"] = spec.devices_per_chip;
               return info;
             }));
}

void bind_emulator(py::module_& module) {
  module.def("known_chips", &tpu::runtime::known_chips);
  module.def("hbm_capacity", wrap_pybind_function([] { return runtime::chip().hbm().capacity(); }));
  module.def("set_hbm_capacity", wrap_pybind_function([](int64_t bytes) {
               runtime::translating([&] { runtime::chip().hbm().set_capacity(bytes); });
             }));
  module.def("simulated_time", wrap_pybind_function_no_gil([](int64_t stream) {
               return runtime::translating([&] {
                 auto& queue = runtime::chip().queue(static_cast<uint32_t>(stream));
                 queue.wait_idle();
                 return queue.simulated_time();
               });
             }));
}

void bind_settings(py::module_& module) {
  module.def("matmul_precision",
             wrap_pybind_function([] { return name_of(runtime::matmul_precision()); }));
  module.def("set_matmul_precision_override",
             wrap_pybind_function([](const std::optional<std::string>& name) {
               runtime::set_matmul_precision_override(name ? std::optional(precision_from(*name))
                                                           : std::nullopt);
             }));
  module.def("matmul_precision_override", [] {
    const auto precision = runtime::matmul_precision_override();
    return precision ? std::optional(name_of(*precision)) : std::nullopt;
  });
  module.def("set_matmul_precision_chosen", &runtime::set_matmul_precision_chosen);
  module.def("matmul_precision_chosen", &runtime::matmul_precision_chosen);
  module.def("allow_excess_precision", &runtime::allow_excess_precision);
  module.def("set_allow_excess_precision", &runtime::set_allow_excess_precision);
}

void bind_random(py::module_& module) {
  module.def("default_generator", wrap_pybind_function([] {
               return py::reinterpret_steal<py::object>(
                   THPGenerator_initDefaultGenerator(runtime::default_generator()));
             }));
}

// The fields of torch_tpu's `_get_cache_stats()`; durations in seconds.
py::dict cache_stats() {
  torch_tpu::eager::ProgramCache& cache = torch_tpu::eager::ProgramCache::instance();
  const auto stats = cache.stats();
  py::list entries;
  int64_t compilations = 0;
  cache.for_each([&](const torch_tpu::eager::Program& program) {
    if (!program.compiled()) return;
    ++compilations;
    py::dict entry;
    entry["compilation_duration"] = static_cast<double>(program.compile_time()) * 1e-9;
    entries.append(entry);
  });
  py::dict result;
  result["num_cache_reqs"] = stats.requests;
  result["num_cache_hits"] = stats.hits;
  result["num_compilations"] = compilations;
  result["per_entry_stats"] = entries;
  return result;
}

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  module.doc() = "The emulated TPU's runtime.";
  bind_device(module);
  bind_emulator(module);
  bind_settings(module);
  bind_random(module);
  module.def("cache_stats", wrap_pybind_function(cache_stats));
  module.def(
      "library_operators",
      [] {
        std::vector<std::string> names;
        for (const torch_tpu::aten::OpDef& def : torch_tpu::aten::lowering_table()) {
          if (def.from_library) names.emplace_back(def.name);
        }
        return names;
      },
      "Operators that PyTorch's CPU kernels run on the device's memory.");
  module.def("source_location", &torch_tpu::python::source_location);
  runtime::set_source_location_provider(&torch_tpu::python::source_location);
}

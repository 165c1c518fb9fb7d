// torch_mock._C: switches faults, and gives the device module its default generator.
#include <torch/csrc/Generator.h>
#include <torch/csrc/utils/pybind.h>

#include "testing/faults/fault.h"
#include "testing/runtime/generator.h"
#include "testing/runtime/stream.h"

PYBIND11_MODULE(_C, module) {
  module.def("faults", [] {
    py::list rows;
    for (const mock::Fault& fault : mock::all_faults()) {
      rows.append(py::make_tuple(fault.name(), fault.kind, fault.cases));
    }
    return rows;
  });
  module.def("switch_on", &mock::switch_on);
  module.def("is_on", [](const std::string& name) { return mock::is_on(name); });
  module.def("synchronize", &mock::synchronize);
  module.def("default_generator", [] {
    return py::reinterpret_steal<py::object>(
        THPGenerator_initDefaultGenerator(mock::default_generator()));
  });
}

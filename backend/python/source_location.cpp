#include <Python.h>
// Python.h comes first.
#include <pybind11/pybind11.h>

#include <string_view>

#include "backend/python/source_location.h"

namespace torch_tpu::python {
namespace {

namespace py = pybind11;

// True for modules whose lines say nothing to the user.
bool is_machinery(std::string_view module) {
  for (std::string_view package : {"torch", "torch_tpu"}) {
    if (module == package) return true;
    if (module.starts_with(package) && module[package.size()] == '.') return true;
  }
  return module == "contextlib" || module.starts_with("importlib.");
}

// The frame's module by its globals' __name__.
std::string module_of(PyFrameObject* frame) {
  const auto globals = py::reinterpret_steal<py::object>(PyFrame_GetGlobals(frame));
  PyObject* name = PyDict_GetItemString(globals.ptr(), "__name__");
  const char* text = name != nullptr && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : nullptr;
  return text != nullptr ? text : "";
}

std::string text_of(PyFrameObject* frame) {
  const auto code =
      py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  std::string file = py::str(code.attr("co_filename"));
  const std::string function = py::str(code.attr("co_name"));
  if (const size_t slash = file.rfind('/'); slash != std::string::npos) file.erase(0, slash + 1);
  std::string text = file + ":" + std::to_string(PyFrame_GetLineNumber(frame));
  return function == "<module>" ? text : text + " in " + function;
}

}  // namespace

std::string source_location() {
  if (Py_IsInitialized() == 0 || _Py_IsFinalizing() != 0) return "";
  py::gil_scoped_acquire gil;
  py::error_scope keep_pending_error;
  auto frame = py::reinterpret_steal<py::object>(
      reinterpret_cast<PyObject*>(PyThreadState_GetFrame(PyThreadState_Get())));
  while (frame) {
    auto* raw = reinterpret_cast<PyFrameObject*>(frame.ptr());
    if (!is_machinery(module_of(raw))) return text_of(raw);
    frame = py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(PyFrame_GetBack(raw)));
  }
  return "";
}

}  // namespace torch_tpu::python

// The rule, the comparison and the result writer for Python.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "core/comparison.h"
#include "core/outcome.h"

namespace py = pybind11;

namespace conformance {
namespace {

template <class T>
using Array = py::array_t<T, py::array::c_style | py::array::forcecast>;

template <class T>
std::span<const T> span_of(const Array<T>& array) {
  return {array.data(), static_cast<size_t>(array.size())};
}

Element element_of(const std::string& name) {
  const auto element = find_element(name);
  if (!element) throw py::value_error("no dtype is called '" + name + "'");
  return *element;
}

Status status_of(const std::string& name) {
  const auto status = find_status(name);
  if (!status) throw py::value_error("no status is called '" + name + "'");
  return *status;
}

}  // namespace
}  // namespace conformance

PYBIND11_MODULE(_core, m) {
  using namespace conformance;  // NOLINT: the module is this namespace's face
  m.doc() = "Tolerance rule, comparison and result lines, shared with conformance-cpp.";

  py::class_<Comparison>(m, "Comparison")
      .def_readonly("margin", &Comparison::margin)
      .def_readonly("worst", &Comparison::worst)
      .def_readonly("note", &Comparison::note)
      .def_readonly("components", &Comparison::components);

  m.def(
      "compare_reals",
      [](const std::string& dtype, const Array<double>& got, const Array<double>& exact,
         const Array<double>& spread, bool flushes_subnormals) {
        return compare_reals(element_of(dtype), span_of(got), span_of(exact), span_of(spread),
                             {flushes_subnormals});
      },
      py::arg("dtype"), py::arg("got"), py::arg("exact"), py::arg("spread"),
      py::arg("flushes_subnormals") = false);
  m.def(
      "compare_complex",
      [](const std::string& dtype, const Array<double>& got, const Array<double>& exact,
         const Array<double>& spread, bool flushes_subnormals) {
        return compare_complex(element_of(dtype), span_of(got), span_of(exact), span_of(spread),
                               {flushes_subnormals});
      },
      py::arg("dtype"), py::arg("got"), py::arg("exact"), py::arg("spread"),
      py::arg("flushes_subnormals") = false);
  m.def(
      "compare_integers",
      [](const Array<int64_t>& got, const Array<int64_t>& exact, const Array<double>& spread) {
        return compare_integers(span_of(got), span_of(exact), span_of(spread));
      },
      py::arg("got"), py::arg("exact"), py::arg("spread"));

  m.def(
      "to_json_line",
      [](const std::string& name, const std::string& mode, const std::string& status, double margin,
         double seconds, const std::string& digest, const std::string& cause,
         const std::string& message, const std::string& reproducer) {
        return to_json_line(
            {name, mode, status_of(status), margin, seconds, digest, cause, message, reproducer});
      },
      py::arg("name"), py::arg("mode"), py::arg("status"), py::arg("margin"), py::arg("seconds"),
      py::arg("digest") = "", py::arg("cause") = "", py::arg("message") = "",
      py::arg("reproducer") = "");
  m.def("from_json_line", [](const std::string& line) {
    const Outcome o = from_json_line(line);
    py::dict row;
    row["name"] = o.name;
    row["mode"] = o.mode;
    row["status"] = std::string(name_of(o.status));
    row["margin"] = o.margin;
    row["seconds"] = o.seconds;
    row["digest"] = o.digest;
    row["cause"] = o.cause;
    row["message"] = o.message;
    row["reproducer"] = o.reproducer;
    return row;
  });
}

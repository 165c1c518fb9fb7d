# What the project needs from the system, and the Python it works with. All that is missing is
# reported at once, with the names of the Debian (and Ubuntu) packages that have it.
option(TPU_BUILD_TESTS "Build the tests and benchmarks" ON)

# tpu_find(PACKAGE debian-package [arguments of find_package])
macro(tpu_find package debian_package)
  find_package(${package} ${ARGN} QUIET)
  if(NOT ${package}_FOUND)
    list(APPEND TPU_MISSING ${debian_package})
    string(APPEND TPU_MISSING_TEXT "  ${package} ${ARGN}: package ${debian_package}\n")
  endif()
endmacro()

# tpu_find_c_library(NAME header debian-package): sets NAME_INCLUDE_DIR and NAME_LIBRARY.
macro(tpu_find_c_library name header debian_package)
  string(TOLOWER ${name} library)
  find_path(${name}_INCLUDE_DIR ${header})
  find_library(${name}_LIBRARY ${library})
  if(NOT ${name}_INCLUDE_DIR OR NOT ${name}_LIBRARY OR CMAKE_DISABLE_FIND_PACKAGE_${name})
    list(APPEND TPU_MISSING ${debian_package})
    string(APPEND TPU_MISSING_TEXT "  ${header}: package ${debian_package}\n")
  endif()
endmacro()

set(TPU_MISSING "")
set(TPU_MISSING_TEXT "")
tpu_find(TBB libtbb-dev)
tpu_find(Eigen3 libeigen3-dev 3.4)
tpu_find(nlohmann_json nlohmann-json3-dev 3.11)
set(LLVM_DIR "/usr/lib/llvm-19/lib/cmake/llvm" CACHE PATH "Folder of LLVMConfig.cmake, version 19")
# A version file of LLVM 19 accepts 19.1, and refuses a bare 19.
tpu_find(LLVM llvm-19-dev 19.1 CONFIG)
if(TPU_BUILD_TESTS)
  tpu_find(GTest libgtest-dev)
  tpu_find(benchmark libbenchmark-dev)
  # What the elementary functions are measured against.
  tpu_find_c_library(MPFR mpfr.h libmpfr-dev)
  tpu_find_c_library(GMP gmp.h libgmp-dev)
endif()
if(TPU_MISSING)
  string(REPLACE ";" " " TPU_MISSING "${TPU_MISSING}")
  message(FATAL_ERROR
    "Not found:\n${TPU_MISSING_TEXT}"
    "On Debian and Ubuntu, install them with\n"
    "  sudo apt-get install ${TPU_MISSING}\n"
    "or run ci/setup, which installs all that is needed.")
endif()

# The Python whose torch is used and that runs the tests: the one that builds the wheel, else the
# project's own environment if it is there.
if(SKBUILD AND Python_EXECUTABLE)
  set(tpu_python ${Python_EXECUTABLE})
elseif(EXISTS ${PROJECT_SOURCE_DIR}/.venv/bin/python)
  set(tpu_python ${PROJECT_SOURCE_DIR}/.venv/bin/python)
else()
  find_program(tpu_python python3)
endif()
set(TPU_PYTHON ${tpu_python} CACHE FILEPATH "Python that has torch and runs the tests")

# libtorch comes with the torch wheel of TPU_PYTHON. Its version is exact: the C++ interface of
# PrivateUse1 changes between releases.
set(TPU_TORCH_VERSION 2.13.0)

# After it: Python_*, TORCH_INCLUDE_DIRS, TORCH_LIBRARIES, TORCH_INSTALL_PREFIX.
macro(tpu_require_torch)
  set(tpu_torch_hint
    "Install it with\n"
    "  ${TPU_PYTHON} -m pip install torch==${TPU_TORCH_VERSION}\n"
    "or run ci/setup, or choose another interpreter with -DTPU_PYTHON=..., or build the emulator "
    "alone with -DTPU_BUILD_BACKEND=OFF.")
  set(Python_EXECUTABLE ${TPU_PYTHON})
  find_package(Python 3.11 COMPONENTS Interpreter Development.Module QUIET)
  if(NOT Python_FOUND)
    message(FATAL_ERROR
      "No Python 3.11 or newer with its headers: tried '${TPU_PYTHON}'. On Debian and Ubuntu, "
      "install them with\n  sudo apt-get install python3-dev python3-venv")
  endif()
  if(NOT Torch_DIR)
    # Found, not imported: an import would load the backend that is about to be built.
    execute_process(
      COMMAND ${TPU_PYTHON} -c
        "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')"
      OUTPUT_VARIABLE tpu_torch OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT tpu_torch)
      message(FATAL_ERROR "${TPU_PYTHON} has no torch. " ${tpu_torch_hint})
    endif()
    set(Torch_DIR "${tpu_torch}/share/cmake/Torch" CACHE PATH "Folder of TorchConfig.cmake")
  endif()
  find_package(Torch ${TPU_TORCH_VERSION} EXACT QUIET)
  if(NOT Torch_FOUND)
    message(FATAL_ERROR
      "torch ${TPU_TORCH_VERSION} is needed, ${Torch_DIR} has ${Torch_CONSIDERED_VERSIONS}. "
      ${tpu_torch_hint})
  endif()
endmacro()

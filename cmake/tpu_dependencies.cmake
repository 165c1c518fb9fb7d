# What the project needs from the system. A missing package stops the configuration with the name
# of the Debian (and Ubuntu) package that has it.

# tpu_require(PACKAGE debian-package [arguments of find_package])
macro(tpu_require package debian_package)
  find_package(${package} ${ARGN} QUIET)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR
      "${package} was not found. On Debian and Ubuntu it is in the package '${debian_package}':\n"
      "  sudo apt-get install ${debian_package}\n"
      "or run ci/setup, which installs all that is needed.")
  endif()
endmacro()

tpu_require(GTest libgtest-dev)
tpu_require(benchmark libbenchmark-dev)
tpu_require(TBB libtbb-dev)
tpu_require(Eigen3 libeigen3-dev 3.4)
tpu_require(nlohmann_json nlohmann-json3-dev 3.11)
set(LLVM_DIR "/usr/lib/llvm-19/lib/cmake/llvm" CACHE PATH "Folder of LLVMConfig.cmake, version 19")
tpu_require(LLVM llvm-19-dev 19.1 CONFIG)

# libtorch comes with the torch wheel of the environment's Python.
macro(tpu_require_torch)
  if(NOT Torch_DIR)
    execute_process(
      COMMAND ${TPU_PYTHON} -c
        "import importlib.util as u, os; s = u.find_spec('torch'); print(os.path.dirname(s.origin) if s else '')"
      OUTPUT_VARIABLE TPU_TORCH OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT TPU_TORCH)
      message(FATAL_ERROR
        "The torch wheel was not found by ${TPU_PYTHON}. Install it with\n"
        "  ${TPU_PYTHON} -m pip install torch==2.13.0\n"
        "or run ci/setup; or configure with -DTPU_BUILD_BACKEND=OFF to build the emulator alone.")
    endif()
    set(Torch_DIR "${TPU_TORCH}/share/cmake/Torch" CACHE PATH "Folder of TorchConfig.cmake")
  endif()
  find_package(Torch 2.13.0 EXACT REQUIRED)
endmacro()

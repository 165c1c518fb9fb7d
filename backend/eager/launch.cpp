// From a call and its program to work in the queue: the fast path.
#include "emulator/runtime/launch.h"

#include <ATen/EmptyTensor.h>

#include <algorithm>

#include "backend/eager/call.h"
#include "backend/eager/copy.h"
#include "backend/eager/tensor_factory.h"
#include "backend/runtime/device.h"

namespace torch_tpu::eager {
namespace {

// A number as the program's rank-0 parameter reads it.
union NumberSlot {
  int64_t integer;
  double real;
  double complex[2];
  uint64_t philox[2];
  bool boolean;
};

NumberSlot slot_of(const aten::ScalarValue& value) {
  NumberSlot slot{};
  switch (value.kind) {
    case aten::ScalarValue::Kind::kBool:
      slot.boolean = value.integer != 0;
      break;
    case aten::ScalarValue::Kind::kInt:
      slot.integer = value.integer;
      break;
    case aten::ScalarValue::Kind::kFloat:
      slot.real = value.number.real();
      break;
    case aten::ScalarValue::Kind::kComplex:
      slot.complex[0] = value.number.real();
      slot.complex[1] = value.number.imag();
      break;
  }
  return slot;
}

void run_program(Program& program, std::span<const std::byte* const> parameters,
                 std::span<std::byte* const> results, tpu::runtime::Queue& queue) {
  tpu::runtime::run_on_queue(program.executable(), parameters, results, queue,
                             runtime::chip().cost_model());
}

// What the queue runs. Pointers and numbers live in the record itself, so enqueueing one allocates
// nothing. A null parameter pointer stands for the next number.
template <size_t kPointers, size_t kNumbers>
struct Launch {
  Program* program;
  tpu::runtime::Queue* queue;
  uint16_t num_parameters, num_results;
  std::array<std::byte*, kPointers> pointers;  // parameters, then results
  std::array<NumberSlot, kNumbers> numbers;

  void operator()() {
    std::array<const std::byte*, kPointers> parameters;
    size_t number = 0;
    for (size_t i = 0; i < num_parameters; ++i) {
      const bool is_number = program->parameters[i].kind != ParameterSource::Kind::kOperand;
      parameters[i] =
          is_number ? reinterpret_cast<const std::byte*>(&numbers[number++]) : pointers[i];
    }
    run_program(*program, {parameters.data(), num_parameters},
                {pointers.data() + num_parameters, num_results}, *queue);
  }
};

// Calls with long lists of tensors (cat of many, foreach) keep their pointers on the heap.
struct LargeLaunch {
  Program* program;
  tpu::runtime::Queue* queue;
  std::vector<std::byte*> pointers;
  std::vector<NumberSlot> numbers;

  void operator()() {
    std::vector<const std::byte*> parameters;
    size_t number = 0;
    for (size_t i = 0; i < program->parameters.size(); ++i) {
      const bool is_number = program->parameters[i].kind != ParameterSource::Kind::kOperand;
      parameters.push_back(is_number ? reinterpret_cast<const std::byte*>(&numbers[number++])
                                     : pointers[i]);
    }
    run_program(*program, parameters, std::span(pointers).subspan(parameters.size()), *queue);
  }
};

using SmallLaunch = Launch<14, 6>;
static_assert(sizeof(SmallLaunch) <= tpu::runtime::Task::kCapacity);

std::byte* data_of(const at::Tensor& tensor) {
  return static_cast<std::byte*>(tensor.data_ptr());
}

// Gathers a call's pointers and numbers in the program's order.
struct Gathered {
  c10::SmallVector<std::byte*, 16> pointers;
  c10::SmallVector<NumberSlot, 6> numbers;
};

const std::optional<at::Generator> no_generator;

std::optional<at::Generator> generator_of(const Call& call) {
  for (size_t i = 0; i < call.info().kinds.size(); ++i) {
    if (call.info().kinds[i] == ArgumentKind::kGenerator && !call.arguments()[i].isNone()) {
      return call.arguments()[i].toGenerator();
    }
  }
  return no_generator;
}

void gather_parameters(const Call& call, const Program& program, Gathered& out) {
  for (const ParameterSource& source : program.parameters) {
    switch (source.kind) {
      case ParameterSource::Kind::kOperand:
        out.pointers.push_back(data_of(*call.operands()[source.index]));
        continue;
      case ParameterSource::Kind::kNumber:
        out.numbers.push_back(slot_of(call.numbers()[source.index].value));
        break;
      case ParameterSource::Kind::kPhilox: {
        const auto state = runtime::reserve_philox(generator_of(call), program.philox_blocks);
        NumberSlot slot{};
        slot.philox[0] = state.seed;
        slot.philox[1] = state.offset;
        out.numbers.push_back(slot);
        break;
      }
    }
    out.pointers.push_back(nullptr);
  }
}

void enqueue(Program& program, Gathered&& gathered) {
  tpu::runtime::Queue& queue = runtime::current_queue();
  // Only work that can fail needs its Python line: asking for it takes the GIL.
  tpu::runtime::SourceLocation location;
  if (program.may_fault || !program.compiled()) location.text = runtime::source_location();
  const auto post = [&](tpu::runtime::Task task) {
    if (location.text.empty()) {
      queue.enqueue(std::move(task));
    } else {
      queue.enqueue(std::move(task), std::move(location));
    }
  };
  if (gathered.pointers.size() <= 14 && gathered.numbers.size() <= 6) {
    SmallLaunch launch;
    launch.program = &program;
    launch.queue = &queue;
    launch.num_parameters = static_cast<uint16_t>(program.parameters.size());
    launch.num_results = static_cast<uint16_t>(program.targets.size());
    std::copy(gathered.pointers.begin(), gathered.pointers.end(), launch.pointers.begin());
    std::copy(gathered.numbers.begin(), gathered.numbers.end(), launch.numbers.begin());
    post(launch);
  } else {
    post(LargeLaunch{&program,
                     &queue,
                     {gathered.pointers.begin(), gathered.pointers.end()},
                     {gathered.numbers.begin(), gathered.numbers.end()}});
  }
}

// As c10::checked_convert: an unsigned type takes negative numbers, which wrap.
void check_fits(int64_t number, c10::ScalarType dtype) {
  const int bits = static_cast<int>(c10::elementSize(dtype)) * 8;
  const bool is_signed = c10::isSignedType(dtype);
  const uint64_t largest = ~uint64_t{0} >> (64 - bits + is_signed);
  const uint64_t magnitude = number < 0 ? -static_cast<uint64_t>(number) : number;
  TORCH_CHECK(magnitude <= largest || (is_signed && number < 0 && magnitude == largest + 1),
              "value cannot be converted to type ", is_signed ? "int" : "uint", bits,
              "_t without overflow");
}

}  // namespace

FreshResults launch(const Call& call, Program& program) {
  for (const Program::FittingNumber& each : program.fitting) {
    check_fits(call.numbers()[each.number].value.integer, each.dtype);
  }
  c10::SmallVector<at::Tensor, 4> made(program.targets.size());
  for (size_t i = 0; i < program.targets.size(); ++i) {
    if (program.targets[i].kind != ResultTarget::Kind::kOperand) {
      made[i] = make_tensor(program.specs[i]);
    }
  }
  if (!program.nothing_to_run) {
    Gathered gathered;
    gather_parameters(call, program, gathered);
    for (size_t i = 0; i < program.targets.size(); ++i) {
      gathered.pointers.push_back(
          data_of(made[i].defined() ? made[i] : *call.operands()[program.targets[i].index]));
    }
    enqueue(program, std::move(gathered));
  }
  for (size_t i = 0; i < program.targets.size(); ++i) {
    if (program.targets[i].kind == ResultTarget::Kind::kTemporary) {
      copy_on_device(made[i], *call.operands()[program.targets[i].index]);
    }
  }
  FreshResults fresh;
  for (int result : program.returns) {
    fresh.push_back(result < 0 ? at::Tensor() : std::move(made[result]));
  }
  return fresh;
}

}  // namespace torch_tpu::eager

// Images of executables. Layout: magic, format version, vector extension, checksum of the rest;
// then types, constants, object code, descriptions and the program's steps.
#include "emulator/base/error.h"
#include "emulator/compiler/compiled_program.h"
#include "emulator/compiler/image_attributes.h"
#include "emulator/compiler/image_stream.h"

namespace tpu::compiler {
namespace {

constexpr uint64_t kMagic = 0x4558452055505474;  // "tTPU EXE"
// Raise it whenever an image of before must not run any more: a change of this format, of generated
// code's helpers, of the kernel library's attributes or of a declared order.
constexpr uint32_t kVersion = 2;
constexpr size_t kHeaderBytes = 8 + 4 + 4 + 8;
constexpr int kMaxNesting = 64;

uint64_t checksum(std::span<const std::byte> bytes) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const std::byte byte : bytes) hash = (hash ^ static_cast<uint64_t>(byte)) * 0x100000001b3;
  return hash;
}

// Writing
// ------------------------------------------------------------------------------------------

class StepWriter {
 public:
  explicit StepWriter(ImageWriter& to) : to_(to) {}

  void put(const Program& program) {
    to_.put_all(program.steps, [this](const Step& step) {
      to_.put<uint8_t>(static_cast<uint8_t>(step.index()));
      std::visit([this](const auto& concrete) { put(concrete); }, step);
    });
  }

 private:
  void put(const Address& address) {
    to_.put(address.entry);
    to_.put(address.offset);
  }
  void put(const ArrayAt& array) {
    put(array.at);
    put_type(to_, array.type);
    to_.put(array.strides);
  }
  void put(const LoopStep& step) {
    to_.put<int32_t>(step.function);
    to_.put(step.units);
    to_.put(step.grain);
    to_.put(step.scratch_bytes);
    to_.put_all(step.bases, [this](const Address& address) { put(address); });
  }
  void put(const SplitStep& step) {
    put(step.groups);
    put(step.tree);
    put(step.whole);
  }
  void put(const RegionPattern& pattern) {
    to_.put(pattern.kind);
    to_.put(pattern.op);
    to_.put(pattern.direction);
    to_.put<uint8_t>(pattern.total_order);
    to_.put<uint8_t>(pattern.canonical_zero);
    to_.put<uint8_t>(pattern.canonical_nan);
    to_.put(pattern.pair);
    to_.put<uint8_t>(pattern.take_nan);
    to_.put<uint8_t>(pattern.take_first);
  }
  void put(const LibraryStep& step) {
    to_.put(step.kind);
    to_.put(step.target);
    put_attributes(to_, step.attributes);
    to_.put_all(step.operands, [this](const ArrayAt& array) { put(array); });
    to_.put_all(step.results, [this](const ArrayAt& array) { put(array); });
    to_.put_all(step.region_functions, [this](int number) { to_.put<int32_t>(number); });
    to_.put_all(step.region_ops, [this](hlo::OpKind kind) { to_.put(kind); });
    to_.put_all(step.region_patterns, [this](const RegionPattern& pattern) { put(pattern); });
    to_.put<int32_t>(step.mxu_depth);
  }
  void put(const CopyStep& step) {
    to_.put<int32_t>(step.width);
    to_.put(step.shape);
    put(step.from);
    put(step.to);
    to_.put(step.from_strides);
    to_.put(step.to_strides);
  }
  void put(const AssertStep& step) {
    put(step.condition);
    to_.put(step.message);
  }
  void put(const WhileStep& step) {
    put(*step.condition);
    put(*step.body);
    put(step.predicate);
  }
  void put(const CaseStep& step) {
    to_.put_all(step.branches, [this](const std::unique_ptr<Program>& branch) { put(*branch); });
    to_.put(step.index_type);
    put(step.index);
  }

  ImageWriter& to_;
};

void put_description(ImageWriter& to, const KernelDescription& description) {
  to.put(description.name);
  to.put(description.unit);
  to.put(description.flops);
  to.put(description.transcendentals);
  to.put(description.bytes_read);
  to.put(description.bytes_written);
}

// Reading
// ------------------------------------------------------------------------------------------

class StepReader {
 public:
  StepReader(ImageReader& from, int32_t table_size) : from_(from), table_size_(table_size) {}

  Program program(int depth = 0) {
    if (depth > kMaxNesting) ImageReader::fail("its control flow is nested too deep");
    return {from_.get_all([&]() -> Step { return step(depth); })};
  }

 private:
  static constexpr int kElementTypes = static_cast<int>(hlo::ElementType::kToken) + 1;

  Step step(int depth) {
    switch (from_.get<uint8_t>()) {
      case 0:
        return loop();
      case 1:
        return SplitStep{loop(), loop(), loop()};
      case 2:
        return library();
      case 3:
        return copy();
      case 4:
        return AssertStep{address(), from_.get_text()};
      case 5: {
        WhileStep step;
        step.condition = std::make_unique<Program>(program(depth + 1));
        step.body = std::make_unique<Program>(program(depth + 1));
        step.predicate = address();
        return step;
      }
      case 6: {
        CaseStep step;
        step.branches =
            from_.get_all([&] { return std::make_unique<Program>(program(depth + 1)); });
        step.index_type = from_.get_enum<hlo::ElementType>(kElementTypes);
        step.index = address();
        if (step.branches.empty()) ImageReader::fail("a case without branches");
        return step;
      }
      default:
        ImageReader::fail("a step of unknown kind");
    }
  }

  Address address() {
    Address address{from_.get<int32_t>(), from_.get<int64_t>()};
    if (address.entry < 0 || address.entry >= table_size_) {
      ImageReader::fail("an address is outside of the table");
    }
    return address;
  }
  ArrayAt array() {
    ArrayAt array{address(), get_type(from_), from_.get_ints()};
    if (array.strides.size() != array.type.shape.size()) {
      ImageReader::fail("an array's strides do not fit its shape");
    }
    return array;
  }
  LoopStep loop() {
    LoopStep step;
    step.function = from_.get<int32_t>();
    step.units = from_.get<int64_t>();
    step.grain = from_.get<int64_t>();
    step.scratch_bytes = from_.get<int64_t>();
    step.bases = from_.get_all([&] { return address(); });
    return step;
  }
  RegionPattern pattern() {
    RegionPattern pattern;
    pattern.kind = from_.get_enum<RegionPattern::Kind>(6);
    pattern.op = from_.get_enum<hlo::OpKind>(hlo::kNumOpKinds);
    pattern.direction = from_.get_enum<RegionPattern::Direction>(6);
    pattern.total_order = from_.get_flag();
    pattern.canonical_zero = from_.get_flag();
    pattern.canonical_nan = from_.get_flag();
    pattern.pair = from_.get<int32_t>();
    pattern.take_nan = from_.get_flag();
    pattern.take_first = from_.get_flag();
    return pattern;
  }
  LibraryStep library() {
    LibraryStep step{
        .kind = from_.get_enum<hlo::OpKind>(hlo::kNumOpKinds),
        .target = from_.get_text(),
        .attributes = get_attributes(from_),
        .operands = from_.get_all([&] { return array(); }),
        .results = from_.get_all([&] { return array(); }),
        .region_functions = from_.get_all([&] { return int{from_.get<int32_t>()}; }),
        .region_ops = from_.get_all([&] { return from_.get_enum<hlo::OpKind>(hlo::kNumOpKinds); }),
        .region_patterns = from_.get_all([&] { return pattern(); }),
        .mxu_depth = from_.get<int32_t>(),
        .regions = {}};
    return step;
  }
  CopyStep copy() {
    CopyStep step;
    step.width = from_.get<int32_t>();
    step.shape = from_.get_ints();
    step.from = address();
    step.to = address();
    step.from_strides = from_.get_ints();
    step.to_strides = from_.get_ints();
    return step;
  }

  ImageReader& from_;
  int32_t table_size_;
};

KernelDescription get_description(ImageReader& from) {
  KernelDescription description;
  description.name = from.get_text();
  description.unit = from.get_enum<KernelDescription::Unit>(4);
  description.flops = from.get<double>();
  description.transcendentals = from.get<double>();
  description.bytes_read = from.get<int64_t>();
  description.bytes_written = from.get<int64_t>();
  return description;
}

}  // namespace

std::vector<std::byte> CompiledProgram::serialize() const {
  ImageWriter body;
  const auto put_one_type = [&](const hlo::TensorType& type) { put_type(body, type); };
  body.put_all(image_.parameter_types, put_one_type);
  body.put_all(image_.result_types, put_one_type);
  body.put(image_.scratch_bytes);
  body.put(std::span<const std::byte>(constants_, constant_bytes_));
  body.put(std::span(image_.object));
  body.put_all(image_.kernels,
               [&](const KernelDescription& kernel) { put_description(body, kernel); });
  StepWriter(body).put(image_.program);

  ImageWriter image;
  image.put(kMagic);
  image.put(kVersion);
  image.put(static_cast<uint32_t>(image_.isa));
  image.put(checksum(body.bytes()));
  image.bytes().insert(image.bytes().end(), body.bytes().begin(), body.bytes().end());
  return std::move(image.bytes());
}

std::shared_ptr<const Executable> Executable::load(std::span<const std::byte> bytes) {
  ImageReader header(bytes);
  if (bytes.size() < kHeaderBytes || header.get<uint64_t>() != kMagic) {
    throw InvalidArgument("not an executable image");
  }
  const uint32_t version = header.get<uint32_t>();
  if (version != kVersion) {
    throw InvalidArgument("executable image of version " + std::to_string(version) +
                          "; expected version " + std::to_string(kVersion) + "; compile again");
  }
  const uint32_t isa = header.get<uint32_t>();
  if (isa > static_cast<uint32_t>(host_isa())) {
    throw InvalidArgument("executable image needs a vector extension that this host has not");
  }
  const uint64_t expected = header.get<uint64_t>();
  const std::span<const std::byte> body = bytes.subspan(kHeaderBytes);
  if (checksum(body) != expected) ImageReader::fail("its checksum does not match");

  ImageReader from(body);
  ProgramImage image;
  image.isa = static_cast<HostIsa>(isa);
  image.parameter_types = from.get_all([&] { return get_type(from); });
  image.result_types = from.get_all([&] { return get_type(from); });
  image.scratch_bytes = from.get<int64_t>();
  image.constants = from.get_block();
  image.object = from.get_block();
  image.kernels = from.get_all([&] { return get_description(from); });
  const size_t table = image.parameter_types.size() + image.result_types.size() + 2;
  image.program = StepReader(from, static_cast<int32_t>(table)).program();
  if (!from.at_end()) ImageReader::fail("something follows its end");
  return std::make_shared<CompiledProgram>(std::move(image));
}

}  // namespace tpu::compiler

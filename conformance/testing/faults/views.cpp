// Strides, offsets, views, and writes through them.
#include <c10/core/TensorImpl.h>

#include "testing/faults/table.h"

namespace mock {
namespace {

// A view that is a copy: writes through it are lost to the base.
const Map kCopied = [](const at::Tensor& x) { return x.clone(); };

// Replaces what a view operator returned; the values need not stay in the base's memory.
Change returned(Map map) {
  return [map = std::move(map)](Call& call) {
    call.run();
    for (c10::IValue& value : call.returned()) {
      if (value.isTensor()) value = map(value.toTensor());
      if (!value.isTensorList()) continue;
      std::vector<at::Tensor> mapped;
      for (const at::Tensor& tensor : value.toTensorVector()) mapped.push_back(map(tensor));
      value = mapped;
    }
  };
}

at::Tensor row_major(const at::Tensor& x) {
  return x.clone(at::MemoryFormat::Contiguous);
}

// Fills from the first element to the last, holes between rows too.
void fill_span(Call& call) {
  call.run();
  const at::Tensor self = call.tensor("self");
  if (self.numel() == 0 || self.is_contiguous()) return;
  int64_t span = 1;
  for (int64_t d = 0; d < self.dim(); ++d) span += (self.size(d) - 1) * self.stride(d);
  const at::Tensor flat = self.as_strided({span}, {1}, self.storage_offset());
  flat.copy_(self.reshape(-1)[0].clone().expand({span}));
}

}  // namespace

std::vector<Fault> layout_faults() {
  const auto ignoring_strides = [] { return when(any_strided, operands(as_contiguous)); };
  const auto ignoring_offset = [] { return when(any_offset, operands(at_storage_begin)); };
  Table table("strides or offset ignored");
  for (const char* op : {"mul", "sum", "mm", "cat", "index_select", "where", "sort", "cumsum",
                         "convolution", "upsample_nearest2d", "max_pool2d_with_indices"}) {
    const std::string name = op;
    const bool image = name == "convolution" || name.find("2d") != std::string::npos;
    const bool own = image || name == "mul";
    table.row(name, "strides_ignored", ignoring_strides(),
              image ? "memory_formats.*"
              : own ? "views.*"
                    : "*." + name + ".*");
  }
  for (const char* op : {"add", "amax", "mm", "index", "gather", "flip", "roll", "tril",
                         "masked_select", "nonzero", "embedding"}) {
    const std::string name = op;
    table.row(name, "offset_ignored", ignoring_offset(), "offsets." + name + ".*",
              name == "embedding" ? std::vector<std::string>{name, "index_select"}
                                  : std::vector<std::string>{name});
  }
  return table
      .row("add", "expanded_operand_as_row", when(any_expanded, operands(as_contiguous)),
           "offsets.*add*.*")
      .row("clone", "memory_format_lost", returned(row_major), "memory_formats.*")
      .row("empty_like", "memory_format_lost", returned(row_major), "memory_formats.*")
      .row("convolution", "memory_format_lost", returned(row_major), "memory_formats.conv.*")
      .done();
}

std::vector<Fault> view_faults() {
  const auto plus_one = [](double x) { return x + 1; };
  Table table("views are copies, or of other elements");
  for (const char* op : {"slice", "select", "transpose", "diagonal", "permute", "unsqueeze",
                         "split", "unbind", "unfold", "detach", "as_strided"}) {
    const std::string name = op;
    table.row(name, "copied", returned(kCopied), "views.*");
  }
  return table.row("view", "copied", returned(kCopied), "views.*", {"view", "_reshape_alias"})
      .row("view_as_real", "copied", returned(kCopied), "views.real.*")
      .row("expand", "copied", returned(row_major), "op.expand*.*")
      .row(
          "slice", "step_ignored",
          [](Call& call) {
            const int64_t step = call.argument("step").toInt();
            call.run();
            const at::Tensor view = call.results()[0];
            const int64_t dim = call.argument("dim").toInt();
            const int64_t axis = dim < 0 ? dim + view.dim() : dim;
            if (step == 1) return;
            std::vector<int64_t> strides = view.strides().vec();
            strides[static_cast<size_t>(axis)] /= step;
            call.returned() = {view.as_strided(view.sizes(), strides, view.storage_offset())};
          },
          "views.*slice*.*")
      .row(
          "slice", "start_ignored",
          [](Call& call) {
            call.run();
            const at::Tensor view = call.results()[0];
            if (view.numel() == 0) return;
            const int64_t offset = call.tensor("self").storage_offset();
            call.returned() = {view.as_strided(view.sizes(), view.strides(), offset)};
          },
          "views.*")
      .row("select", "off_by_one",
           when(
               [](Call& call) {
                 return call.tensor("self").size(call.argument("dim").toInt()) > 1 &&
                        call.argument("index").toInt() == 0;
               },
               number("index", plus_one)),
           "*.select*.*")
      .row("as_strided", "offset_ignored", fixed("storage_offset", c10::IValue(int64_t{0})),
           "*.as_strided*.*")
      .row("diagonal", "offset_negated", number("offset", [](double x) { return -x; }))
      .row(
          "permute", "inverse",
          [](Call& call) {
            const std::vector<int64_t> dims = call.argument("dims").toIntVector();
            std::vector<int64_t> inverse(dims.size());
            const auto rank = static_cast<int64_t>(dims.size());
            for (int64_t i = 0; i < rank; ++i) {
              const int64_t d = dims[static_cast<size_t>(i)];
              inverse[static_cast<size_t>(d < 0 ? d + rank : d)] = i;
            }
            call.argument("dims") = inverse;
            call.run();
          },
          "*.permute.*")
      .row("conj", "bit_lost",
           [](Call& call) {
             call.run();
             const at::Tensor view = call.results()[0];
             view.unsafeGetTensorImpl()->_set_conj(false);
           },
           "*.conj.*", {"_conj"})
      .row("neg_view", "bit_lost",
           [](Call& call) {
             call.run();
             const at::Tensor view = call.results()[0];
             view.unsafeGetTensorImpl()->_set_neg(false);
           },
           "views.conj.*", {"_neg_view"})
      .place("set", "offset_ignored", "copying.*")
      .row("resize", "contents_lost", result([](const at::Tensor& x) { return x * 0; }, 0),
           "op.resize_.*")
      .place("item", "offset_ignored", "offsets.*")
      .done();
}

std::vector<Fault> write_faults() {
  const auto lost = [] { return when(writes_strided, write_lost()); };
  const auto lost_out = [] { return when(writes_strided, write_lost("out")); };
  Table table("lost or stray writes");
  for (const char* op :
       {"copy_", "fill", "zero", "masked_fill", "index_put", "scatter", "index_add"}) {
    const std::string name = op;
    table.row(name, "view_write_lost", lost(), "offsets.*",
              name == "index_put" ? std::vector<std::string>{"index_put", "_index_put_impl"}
                                  : std::vector<std::string>{name, name + "_"});
  }
  for (const char* op : {"add", "mul", "clamp"}) {
    const std::string name = op;
    table.row(name, "view_write_lost", lost_out(), name == "mul" ? "views.*" : "offsets.*");
  }
  return table.row("fill", "writes_holes", fill_span, "views.*.fill.*")
      .row("zero", "writes_holes", fill_span, "offsets.zero_.*")
      .row("sum", "out_not_written",
           when([](Call& call) { return call.tensor("out").defined(); }, write_lost("out")))
      .row("mul", "out_not_written", write_lost("out"))
      .row("add", "in_place_twice",
           when(
               [](Call& call) {
                 const at::Tensor out = call.tensor("out");
                 return out.defined() && out.is_same(call.tensor("self"));
               },
               [](Call& call) {
                 call.run();
                 call.run();
               }))
      .row("copy_", "broadcast_first_only",
           when(broadcasts,
                [](Call& call) {
                  const at::Tensor self = call.tensor("self"), before = self.clone();
                  call.run();
                  if (self.dim() > 0 && self.size(0) > 1)
                    self.slice(0, 1).copy_(before.slice(0, 1));
                }),
           "copying.*")
      .done();
}

}  // namespace mock

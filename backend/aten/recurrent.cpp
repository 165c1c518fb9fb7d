// Cells of recurrent networks: the gates of one step, and their gradients.
#include "backend/aten/lowering_table.h"
#include "backend/aten/reduction.h"

namespace torch_tpu::aten {
namespace {

using tpu::hlo::OpKind;

/// Numbers of one gate, [batch, hidden], in the compute type.
struct Gates {
  Lowering& op;
  Builder& b;
  Value* all;      ///< [batch, count * hidden]
  int64_t hidden;  ///< elements of a gate

  Gates(Lowering& lowering, Value* values, int64_t count)
      : op(lowering), b(lowering.b), all(values), hidden(values->type.shape[1] / count) {}

  Value* operator[](int64_t gate) const {
    const int64_t rows = all->type.shape[0];
    return b.slice(all, {0, gate * hidden}, {rows, (gate + 1) * hidden}, {1, 1});
  }
};

Value* with_bias(Lowering& op, std::string_view gates, std::string_view bias) {
  Value* x = widened(op, op.tensor(gates));
  if (!op.has(bias)) return x;
  return op.b.add(x, op.broadcast_to(widened(op, op.tensor(bias)), x->type.shape));
}

void check_gates(Lowering& op, const Tensor& state, int64_t count) {
  for (const char* name : {"input_gates", "hidden_gates"}) {
    const Tensor gates = op.tensor(name);
    TORCH_CHECK(gates.dim() == 2 && state.dim() == 2 && gates.size(0) == state.size(0) &&
                    gates.size(1) == count * state.size(1),
                op.op_name(), ": expected ", name, " of shape [", state.size(0), ", ",
                count * state.size(1), "], got ", c10::IntArrayRef(gates.shape()));
  }
}

/// x (1 - x): the slope of the logistic function by its value.
Value* logistic_slope(Builder& b, Value* x) {
  return b.multiply(x, b.subtract(b.splat(x->type, 1.0), x));
}
/// 1 - x^2: of tanh.
Value* tanh_slope(Builder& b, Value* x) {
  return b.subtract(b.splat(x->type, 1.0), b.multiply(x, x));
}

// c' = f c + i g, h' = o tanh c'. The workspace keeps i, f, g and o.
void lstm_cell(Lowering& op) {
  Builder& b = op.b;
  const Tensor cx = op.tensor("cx");
  check_gates(op, cx, 4);
  Value* input = with_bias(op, "input_gates", "input_bias");
  const Gates gates(op, b.add(input, with_bias(op, "hidden_gates", "hidden_bias")), 4);
  Value *const i = b.logistic(gates[0]), *const f = b.logistic(gates[1]);
  Value *const g = b.tanh(gates[2]), *const o = b.logistic(gates[3]);
  Value* kept = b.multiply(f, widened(op, cx));
  Value* cy = b.add(kept, b.multiply(i, g));
  op.result(op.convert(b.multiply(o, b.tanh(cy)), cx.dtype));
  op.result(op.convert(cy, cx.dtype));
  op.result(op.convert(b.concatenate({i, f, g, o}, 1), cx.dtype));
}

void lstm_cell_backward(Lowering& op) {
  Builder& b = op.b;
  const Tensor cx = op.tensor("cx");
  const Gates kept(op, widened(op, op.tensor("workspace")), 4);
  Value *const i = kept[0], *const f = kept[1], *const g = kept[2], *const o = kept[3];
  const auto gradient = [&](std::string_view name) {
    return op.has(name) ? widened(op, op.tensor(name)) : b.splat(i->type, 0.0);
  };
  Value* const dh = gradient("grad_hy");
  Value* const squashed = b.tanh(widened(op, op.tensor("cy")));
  Value* through_output = b.multiply(b.multiply(dh, o), tanh_slope(b, squashed));
  Value* const dc = b.add(through_output, gradient("grad_cy"));
  Value* di = b.multiply(b.multiply(dc, g), logistic_slope(b, i));
  Value* df = b.multiply(b.multiply(dc, widened(op, cx)), logistic_slope(b, f));
  Value* dg = b.multiply(b.multiply(dc, i), tanh_slope(b, g));
  Value* dout = b.multiply(b.multiply(dh, squashed), logistic_slope(b, o));
  Value* const all = b.concatenate({di, df, dg, dout}, 1);
  op.result(op.convert(all, cx.dtype));
  op.result(op.convert(b.multiply(dc, f), cx.dtype));
  if (!op.boolean("has_bias")) return op.undefined_result();
  op.result(op.convert(op.reduce(all, OpKind::kAdd, {0}, false), cx.dtype));
}

// r, z: logistic; n = tanh(x_n + r h_n); h' = n + z (h - n). The workspace keeps r, z, n, h and
// h_n.
void gru_cell(Lowering& op) {
  Builder& b = op.b;
  const Tensor hx = op.tensor("hx");
  check_gates(op, hx, 3);
  const Gates input(op, with_bias(op, "input_gates", "input_bias"), 3);
  const Gates hidden(op, with_bias(op, "hidden_gates", "hidden_bias"), 3);
  const auto gate = [&](int64_t n) {
    Value* x = input[n];
    return b.logistic(b.add(x, hidden[n]));
  };
  Value *const h = widened(op, hx), *const r = gate(0), *const z = gate(1);
  Value* const hidden_new = hidden[2];
  Value* const x_new = input[2];
  Value* const n = b.tanh(b.add(x_new, b.multiply(r, hidden_new)));
  op.result(op.convert(b.add(n, b.multiply(z, b.subtract(h, n))), hx.dtype));
  op.result(op.convert(b.concatenate({r, z, n, h, hidden_new}, 1), hx.dtype));
}

void gru_cell_backward(Lowering& op) {
  Builder& b = op.b;
  const Tensor grad = op.tensor("grad_hy");
  const Gates kept(op, widened(op, op.tensor("workspace")), 5);
  Value *const r = kept[0], *const z = kept[1], *const n = kept[2], *const h = kept[3];
  Value *const hidden_new = kept[4], *const dh = widened(op, grad);
  Value* not_z = b.subtract(b.splat(z->type, 1.0), z);
  Value* const dn = b.multiply(b.multiply(dh, not_z), tanh_slope(b, n));
  Value* const dz = b.multiply(b.multiply(dh, b.subtract(h, n)), logistic_slope(b, z));
  Value* const dr = b.multiply(b.multiply(dn, hidden_new), logistic_slope(b, r));
  Value* const of_input = b.concatenate({dr, dz, dn}, 1);
  Value* const of_hidden = b.concatenate({dr, dz, b.multiply(dn, r)}, 1);
  op.result(op.convert(of_input, grad.dtype));
  op.result(op.convert(of_hidden, grad.dtype));
  op.result(op.convert(b.multiply(dh, z), grad.dtype));
  for (Value* gates : {of_input, of_hidden}) {
    if (!op.boolean("has_bias")) {
      op.undefined_result();
    } else {
      op.result(op.convert(op.reduce(gates, OpKind::kAdd, {0}, false), grad.dtype));
    }
  }
}

}  // namespace

void add_recurrent(Table& table) {
  const Table rows = {
      {"_thnn_fused_lstm_cell", lstm_cell},
      {"_thnn_fused_lstm_cell_backward_impl", lstm_cell_backward},
      {"_thnn_fused_gru_cell", gru_cell},
      {"_thnn_fused_gru_cell_backward", gru_cell_backward},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten

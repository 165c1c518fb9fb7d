// The vocabulary of faults: changes of a call that many faults are made of.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

#include "testing/faults/fault.h"
#include "testing/operators/call.h"

namespace mock {

using Map = std::function<at::Tensor(const at::Tensor&)>;
using Test = std::function<bool(Call&)>;

// Arguments ------------------------------------------------------------------------------------

/// Two arguments in each other's place, where both are there and of one shape.
Change swapped(std::string a, std::string b);
/// A constant in place of an argument.
Change fixed(std::string argument, c10::IValue value);
/// The argument's value at the first call with operands of these shapes and dtypes, for ever.
Change remembered(std::string argument);
/// A number argument with `map` applied: double, int or a scalar.
Change number(std::string argument, std::function<double(double)> map);
/// A bool argument, the other way round.
Change negated(std::string argument);
/// A tensor argument with `map` applied; of a list, each.
Change operand(std::string argument, Map map);
/// All tensor arguments but those that are written, with `map` applied.
Change operands(Map map);
/// The dimension (or dimensions) in `argument` is the one after it, modulo the rank of `tensor`.
Change next_dimension(std::string argument, std::string tensor = "self");

// Results --------------------------------------------------------------------------------------

/// All floating-point results with `map` applied, or result `index` of any dtype. The map gets a
/// copy, and its result is written where the kernel wrote.
Change result(Map map, int index = -1);
/// All results, of any dtype.
Change any_result(Map map);
/// What the first call with operands of these shapes and dtypes returned, for ever.
Change remembered_result();
/// The last n % 8 elements of results of more than 8 elements are 0.
Change tail_lost();
/// Computed from operands in another dtype, and converted back.
Change computed_in(at::ScalarType dtype);

// Control --------------------------------------------------------------------------------------

/// `change` where `test` holds, else the right thing.
Change when(Test test, Change change);
/// The call is made, but what it wrote to `argument` is as before.
Change write_lost(std::string argument = "self");
/// An error of the kernel is swallowed; the result is what `argument` is.
Change error_swallowed(std::string argument = "self");
/// An error of the kernel becomes one of another type.
Change other_error();
/// After an error, each result of any later call of any operator is wrong.
Change poisoned_by_error();
/// The memory of operands, and so of what is written to, stays allocated for ever.
Change leaked();

// Tests ----------------------------------------------------------------------------------------

bool any_strided(Call& call);     // an operand that is not contiguous
bool any_offset(Call& call);      // an operand that does not begin where its storage begins
bool any_nan(Call& call);         // a NaN among the operands
bool any_expanded(Call& call);    // an operand with stride 0
bool broadcasts(Call& call);      // operands of different shapes
bool writes_strided(Call& call);  // the written tensor is not contiguous
Test has_dtype(at::ScalarType dtype);

// Maps -----------------------------------------------------------------------------------------

at::Tensor at_storage_begin(const at::Tensor& x);  // offset ignored
at::Tensor as_contiguous(const at::Tensor& x);     // strides ignored
at::Tensor rounded_to_bfloat16(const at::Tensor& x);
at::Tensor flushed(const at::Tensor& x);  // subnormals to 0
at::Tensor without_nan(const at::Tensor& x);
at::Tensor without_sign_of_zero(const at::Tensor& x);
at::Tensor first_row_only(const at::Tensor& x);  // the others 0
at::Tensor perturbed(const at::Tensor& x);       // by 2^-10, relatively

}  // namespace mock

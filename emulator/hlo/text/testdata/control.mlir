module @control {
  func.func public @main(%arg0: tensor<i32>, %arg1: tensor<3xf32>, %arg2: tensor<i1>, %arg3: tensor<2xui64>, %arg4: !stablehlo.token) -> (tensor<i32>, tensor<3xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_1 = %arg1) : tensor<i32>, tensor<3xf32>
    cond {
      %c_2 = stablehlo.constant dense<10> : tensor<i32>
      %11 = stablehlo.compare LT, %iterArg, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %11 : tensor<i1>
    } do {
      %11 = stablehlo.add %iterArg, %c : tensor<i32>
      %12 = func.call @helper(%iterArg_1) : (tensor<3xf32>) -> tensor<3xf32>
      %13 = stablehlo.while(%iterArg_2 = %11) : tensor<i32>
      cond {
        %c_3 = stablehlo.constant dense<false> : tensor<i1>
        stablehlo.return %c_3 : tensor<i1>
      } do {
        stablehlo.return %iterArg_2 : tensor<i32>
      }
      stablehlo.return %13, %12 : tensor<i32>, tensor<3xf32>
    }
    %1 = "stablehlo.case"(%arg0) ({
      stablehlo.return %arg1 : tensor<3xf32>
    }, {
      %11 = stablehlo.negate %arg1 : tensor<3xf32>
      stablehlo.return %11 : tensor<3xf32>
    }) : (tensor<i32>) -> tensor<3xf32>
    %2:2 = "stablehlo.if"(%arg2) ({
      stablehlo.return %arg1, %arg0 : tensor<3xf32>, tensor<i32>
    }, {
      %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<3xf32>
      stablehlo.return %cst_1, %0#0 : tensor<3xf32>, tensor<i32>
    }) : (tensor<i1>) -> (tensor<3xf32>, tensor<i32>)
    %3 = call @helper(%1) : (tensor<3xf32>) -> tensor<3xf32>
    call @nothing() : () -> ()
    %output_state, %output = stablehlo.rng_bit_generator %arg3, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c_0 = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
    %4 = stablehlo.rng %cst, %cst, %c_0, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x3xf32>
    %5 = stablehlo.replica_id : tensor<ui32>
    %6 = stablehlo.partition_id : tensor<ui32>
    %7 = stablehlo.after_all %arg4, %arg4 : !stablehlo.token
    %8 = stablehlo.custom_call @kernel(%arg1, %arg0) : (tensor<3xf32>, tensor<i32>) -> tensor<3xf32>
    stablehlo.custom_call @"strange name"() {api_version = 2 : i32, backend_config = "a \22quoted\22 \\ line\0A", has_side_effect = true} : () -> ()
    %9:2 = stablehlo.custom_call @typed(%arg1) {api_version = 4 : i32, backend_config = {axis = 1 : i64, scale = 2.500000e+00 : f32}, called_computations = [@helper], mhlo.frontend_attributes = {a = "b"}, operand_layouts = [dense<0> : tensor<1xindex>], other = array<i64: 1, 2>, result_layouts = [dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>]} : (tensor<3xf32>) -> (tensor<3xf32>, tensor<i32>)
    stablehlo.custom_call @tpu.assert(%arg2) {has_side_effect = true, message = "index out of range"} : (tensor<i1>) -> ()
    %10 = stablehlo.composite "lib.op" %arg1, %arg0 {composite_attributes = {n = 1 : i32}, decomposition = @composed, version = 3 : i32} : (tensor<3xf32>, tensor<i32>) -> tensor<3xf32>
    return %0#0, %2#0 : tensor<i32>, tensor<3xf32>
  }
  func.func private @helper(%arg0: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<3xf32>
    return %0 : tensor<3xf32>
  }
  func.func private @composed(%arg0: tensor<3xf32>, %arg1: tensor<i32>) -> tensor<3xf32> {
    return %arg0 : tensor<3xf32>
  }
  func.func private @nothing() {
    return
  }
}

module @dynamism {
  func.func public @main(%arg0: tensor<3x4xf32>, %arg1: tensor<2xi64>, %arg2: tensor<f32>, %arg3: tensor<1x6x6x2xf32>, %arg4: tensor<3x3x2x4xf32>, %arg5: tensor<2x2xi64>, %arg6: tensor<2x1xi32>) {
    %0 = stablehlo.dynamic_broadcast_in_dim %arg0, %arg1, dims = [0, 1] : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<3x4xf32>
    %1 = stablehlo.dynamic_iota %arg1, dim = 0 : (tensor<2xi64>) -> tensor<3x4xi32>
    %2 = stablehlo.dynamic_pad %arg0, %arg2, %arg1, %arg1, %arg1 : (tensor<3x4xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<5x6xf32>
    %3 = stablehlo.dynamic_reshape %arg0, %arg1 : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<6x2xf32>
    %4 = stablehlo.real_dynamic_slice %arg0, %arg1, %arg1, %arg1 : (tensor<3x4xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<2x2xf32>
    %5 = "stablehlo.dynamic_gather"(%arg0, %arg6, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<3x4xf32>, tensor<2x1xi32>, tensor<2xi64>) -> tensor<2x4xf32>
    %6 = "stablehlo.dynamic_conv"(%arg3, %arg4, %arg5) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64}> : (tensor<1x6x6x2xf32>, tensor<3x3x2x4xf32>, tensor<2x2xi64>) -> tensor<1x4x4x4xf32>
    return
  }
}

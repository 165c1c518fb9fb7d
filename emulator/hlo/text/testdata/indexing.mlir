module @indexing {
  func.func public @main(%arg0: tensor<4x5xf32>, %arg1: tensor<2x1xi32>, %arg2: tensor<2xi32>, %arg3: tensor<2x5xf32>, %arg4: tensor<2x3x4xf32>, %arg5: tensor<2x6x1xi32>) -> tensor<4x5xf32> {
    %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<2x1xi32>) -> tensor<2x5xf32>
    %1 = "stablehlo.gather"(%arg0, %arg2) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0, 1]>, slice_sizes = array<i64: 1, 2>}> : (tensor<4x5xf32>, tensor<2xi32>) -> tensor<1x2xf32>
    %2 = "stablehlo.gather"(%arg4, %arg5) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 4>}> : (tensor<2x3x4xf32>, tensor<2x6x1xi32>) -> tensor<2x6x4xf32>
    %3 = "stablehlo.scatter"(%arg0, %arg1, %arg3) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %5 = stablehlo.add %arg6, %arg7 : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<4x5xf32>, tensor<2x1xi32>, tensor<2x5xf32>) -> tensor<4x5xf32>
    %4:2 = "stablehlo.scatter"(%arg0, %arg0, %arg1, %arg3, %arg3) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>, %arg8: tensor<f32>, %arg9: tensor<f32>):
      stablehlo.return %arg8, %arg9 : tensor<f32>, tensor<f32>
    }) : (tensor<4x5xf32>, tensor<4x5xf32>, tensor<2x1xi32>, tensor<2x5xf32>, tensor<2x5xf32>) -> (tensor<4x5xf32>, tensor<4x5xf32>)
    return %4#1 : tensor<4x5xf32>
  }
}

module @shapes {
  func.func public @main(%arg0: tensor<3x4xf32>, %arg1: tensor<f32>, %arg2: tensor<i32>) -> tensor<3x4xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [0, 2] : (tensor<3x4xf32>) -> tensor<3x5x4xf32>
    %2 = stablehlo.reshape %arg0 : (tensor<3x4xf32>) -> tensor<12xf32>
    %3 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
    %4 = stablehlo.reverse %arg0, dims = [1] : tensor<3x4xf32>
    %5 = stablehlo.slice %arg0 [0:3:2, 1:4] : (tensor<3x4xf32>) -> tensor<2x3xf32>
    %6 = stablehlo.slice %arg1 [] : (tensor<f32>) -> tensor<f32>
    %7 = stablehlo.concatenate %arg0, %arg0, dim = 1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x8xf32>
    %8 = stablehlo.concatenate %arg0, dim = 0 : (tensor<3x4xf32>) -> tensor<3x4xf32>
    %9 = stablehlo.pad %arg0, %arg1, low = [1, -1], high = [0, 2], interior = [0, 1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<4x8xf32>
    %10 = stablehlo.dynamic_slice %arg0, %arg2, %arg2, sizes = [1, 2] : (tensor<3x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %11 = stablehlo.dynamic_update_slice %arg0, %10, %arg2, %arg2 : (tensor<3x4xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<3x4xf32>
    %12 = stablehlo.iota dim = 1 : tensor<3x4xi32>
    %13 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<3x4xf32>) -> tensor<i32>
    %14:2 = stablehlo.optimization_barrier %arg0, %arg1 : tensor<3x4xf32>, tensor<f32>
    %15 = stablehlo.optimization_barrier %arg0 : tensor<3x4xf32>
    %16 = stablehlo.reshape %arg0 : (tensor<3x4xf32>) -> tensor<3x1x4xf32>
    return %14#0 : tensor<3x4xf32>
  }
}

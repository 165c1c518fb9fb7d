module @contractions {
  func.func public @main(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x4x5xf32>, %arg2: tensor<3x4xf32>, %arg3: tensor<4x3xbf16>, %arg4: tensor<1x6x6x2xf32>, %arg5: tensor<3x3x2x4xf32>, %arg6: tensor<4x4xf32>, %arg7: tensor<8xf32>, %arg8: tensor<2x8xcomplex<f32>>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGHEST, HIGHEST] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
    %1 = stablehlo.dot_general %arg3, %arg3, contracting_dims = [0] x [0] : (tensor<4x3xbf16>, tensor<4x3xbf16>) -> tensor<3x3xf32>
    %2 = stablehlo.dot_general %arg2, %arg2, contracting_dims = [] x [], precision = [] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4x3x4xf32>
    %3 = stablehlo.convolution(%arg4, %arg5) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = [[1, 1], [0, 2]], lhs_dilate = [1, 2], rhs_dilate = [1, 1], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]} : (tensor<1x6x6x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x3x11x4xf32>
    %4 = stablehlo.convolution(%arg4, %arg5) dim_numbers = [b, 1, 0, f]x[0, 1, i, o]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x6x6x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x4x4x4xf32>
    %5 = stablehlo.cholesky %arg6, lower = true : tensor<4x4xf32>
    %6 = stablehlo.cholesky %arg6 : tensor<4x4xf32>
    %7 = "stablehlo.triangular_solve"(%arg6, %arg6) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = true}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %8 = stablehlo.fft %arg7, type = RFFT, length = [8] : (tensor<8xf32>) -> tensor<5xcomplex<f32>>
    %9 = stablehlo.fft %arg8, type = IFFT, length = [2, 8] : (tensor<2x8xcomplex<f32>>) -> tensor<2x8xcomplex<f32>>
    return
  }
}

module @elementwise {
  func.func public @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>, %arg2: tensor<4xi32>, %arg3: tensor<4xi32>, %arg4: tensor<4xi1>, %arg5: tensor<2xcomplex<f32>>) {
    %0 = stablehlo.abs %arg0 : tensor<2x3xf32>
    %1 = stablehlo.add %arg0, %arg1 : tensor<2x3xf32>
    %2 = stablehlo.and %arg2, %arg3 : tensor<4xi32>
    %3 = stablehlo.atan2 %arg0, %arg1 : tensor<2x3xf32>
    %4 = stablehlo.cbrt %arg0 : tensor<2x3xf32>
    %5 = stablehlo.ceil %arg0 : tensor<2x3xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.clamp %cst, %arg0, %cst : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    %7 = stablehlo.clamp %arg1, %arg0, %arg1 : tensor<2x3xf32>
    %8 = stablehlo.compare LT, %arg0, %arg1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %9 = stablehlo.compare GE, %arg0, %arg1, TOTALORDER : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %10 = stablehlo.complex %arg0, %arg1 : tensor<2x3xcomplex<f32>>
    %11 = stablehlo.convert %arg0 : (tensor<2x3xf32>) -> tensor<2x3xbf16>
    %12 = stablehlo.convert %arg0 : tensor<2x3xf32>
    %13 = stablehlo.cosine %arg0 : tensor<2x3xf32>
    %14 = stablehlo.count_leading_zeros %arg2 : tensor<4xi32>
    %15 = stablehlo.divide %arg0, %arg1 : tensor<2x3xf32>
    %16 = stablehlo.exponential %arg0 : tensor<2x3xf32>
    %17 = stablehlo.exponential_minus_one %arg0 : tensor<2x3xf32>
    %18 = stablehlo.floor %arg0 : tensor<2x3xf32>
    %19 = stablehlo.imag %arg5 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
    %20 = stablehlo.is_finite %arg0 : (tensor<2x3xf32>) -> tensor<2x3xi1>
    %21 = stablehlo.log %arg0 : tensor<2x3xf32>
    %22 = stablehlo.log_plus_one %arg0 : tensor<2x3xf32>
    %23 = stablehlo.logistic %arg0 : tensor<2x3xf32>
    %24 = stablehlo.maximum %arg0, %arg1 : tensor<2x3xf32>
    %25 = stablehlo.minimum %arg0, %arg1 : tensor<2x3xf32>
    %26 = stablehlo.multiply %arg0, %arg1 : tensor<2x3xf32>
    %27 = stablehlo.negate %arg0 : tensor<2x3xf32>
    %28 = stablehlo.not %arg4 : tensor<4xi1>
    %29 = stablehlo.or %arg4, %arg4 : tensor<4xi1>
    %30 = stablehlo.popcnt %arg2 : tensor<4xi32>
    %31 = stablehlo.power %arg0, %arg1 : tensor<2x3xf32>
    %32 = stablehlo.real %arg5 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
    %33 = stablehlo.reduce_precision %arg0, format = e5m10 : tensor<2x3xf32>
    %34 = stablehlo.remainder %arg0, %arg1 : tensor<2x3xf32>
    %35 = stablehlo.round_nearest_afz %arg0 : tensor<2x3xf32>
    %36 = stablehlo.round_nearest_even %arg0 : tensor<2x3xf32>
    %37 = stablehlo.rsqrt %arg0 : tensor<2x3xf32>
    %38 = stablehlo.select %arg4, %arg2, %arg3 : tensor<4xi1>, tensor<4xi32>
    %39 = stablehlo.shift_left %arg2, %arg3 : tensor<4xi32>
    %40 = stablehlo.shift_right_arithmetic %arg2, %arg3 : tensor<4xi32>
    %41 = stablehlo.shift_right_logical %arg2, %arg3 : tensor<4xi32>
    %42 = stablehlo.sign %arg0 : tensor<2x3xf32>
    %43 = stablehlo.sine %arg0 : tensor<2x3xf32>
    %44 = stablehlo.sqrt %arg0 : tensor<2x3xf32>
    %45 = stablehlo.subtract %arg0, %arg1 : tensor<2x3xf32>
    %46 = stablehlo.tan %arg0 : tensor<2x3xf32>
    %47 = stablehlo.tanh %arg0 : tensor<2x3xf32>
    %48 = stablehlo.xor %arg2, %arg3 : tensor<4xi32>
    %49 = stablehlo.bitcast_convert %arg2 : (tensor<4xi32>) -> tensor<4x4xi8>
    %50 = stablehlo.abs %arg5 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
    %51 = chlo.erf %arg0 : tensor<2x3xf32> -> tensor<2x3xf32>
    %52 = chlo.next_after %arg0, %arg1 : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x3xf32>
    return
  }
}

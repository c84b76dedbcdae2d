# Found by find_package(MLX) of mlx-c and of ../CMakeLists.txt in place of the wheel's own configuration, which names
# frameworks by their place on the machine that built the wheel (macOS) or asks for a CUDA toolkit. All that is needed
# is where the headers and the library are: MLXTS_MLX_PREFIX (the wheel's mlx folder) and MLXTS_MLX_LIBRARY (file name).
if(NOT TARGET mlx)
  set(_library "${MLXTS_MLX_PREFIX}/lib/${MLXTS_MLX_LIBRARY}")
  if(NOT EXISTS "${_library}" OR NOT EXISTS "${MLXTS_MLX_PREFIX}/include/mlx/mlx.h")
    message(FATAL_ERROR "No MLX in MLXTS_MLX_PREFIX=${MLXTS_MLX_PREFIX} with MLXTS_MLX_LIBRARY=${MLXTS_MLX_LIBRARY}")
  endif()
  add_library(mlx SHARED IMPORTED GLOBAL)
  set_target_properties(
    mlx
    PROPERTIES IMPORTED_LOCATION "${_library}"
               INTERFACE_INCLUDE_DIRECTORIES "${MLXTS_MLX_PREFIX}/include"
               INTERFACE_COMPILE_FEATURES cxx_std_20)
  unset(_library)
endif()
set(MLX_FOUND TRUE)

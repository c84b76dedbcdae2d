/** The versions of what runs underneath. */

import { backend, C } from "./native.ts";

export interface Versions {
  /** MLX, as the loaded library says. */
  mlx: string;
  /** mlx-c, the C interface that the bindings were generated from. */
  mlxc: string;
}

/** The versions of MLX and mlx-c that are loaded. Python: mx.__version__. */
export function versions(): Versions {
  const { mlx, mlxc } = JSON.parse(backend.text(C.mlxts_versions())) as Versions;
  return { mlx, mlxc };
}

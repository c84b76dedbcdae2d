/* The floor: the same work through mlx-c from C. Prints one JSON line of minima in nanoseconds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mlx/c/mlx.h"

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

static mlx_stream stream;
static mlx_array a, b, big;
static volatile size_t sink;

static void add_dispose(int n) {
  for (int i = 0; i < n; i++) {
    mlx_array c = mlx_array_new();
    mlx_add(&c, a, b, stream);
    mlx_array_free(c);
  }
}

static void ndim(int n) {
  for (int i = 0; i < n; i++) sink += mlx_array_ndim(a);
}

static void graph50(int n) {
  for (int i = 0; i < n; i++) {
    mlx_array x = mlx_array_new();
    mlx_add(&x, a, b, stream);
    for (int j = 0; j < 49; j++) {
      mlx_array y = mlx_array_new();
      if (j % 2) mlx_add(&y, x, b, stream);
      else mlx_multiply(&y, x, b, stream);
      mlx_array_free(x);
      x = y;
    }
    mlx_array_free(x);
  }
}

static void matmul(int n) {
  for (int i = 0; i < n; i++) {
    mlx_array c = mlx_array_new();
    mlx_matmul(&c, big, big, stream);
    mlx_array_eval(c);
    mlx_array_free(c);
  }
}

static double measure(void (*work)(int), int n, int rounds) {
  double best = 1e300;
  for (int r = 0; r < rounds; r++) {
    double t = now();
    work(n);
    double each = (now() - t) / n;
    if (each < best) best = each;
  }
  return best;
}

int main(void) {
  stream = mlx_default_cpu_stream_new();
  a = mlx_array_new_float(1);
  b = mlx_array_new_float(2);
  int shape[] = {512, 512};
  big = mlx_array_new();
  mlx_random_normal(&big, shape, 2, MLX_FLOAT32, 0, 1, (mlx_array){0}, stream);
  mlx_array_eval(big);
  printf(
      "{\"add\": %f, \"ndim\": %f, \"graph50\": %f, \"matmul\": %f}\n", measure(add_dispose, 50000, 8),
      measure(ndim, 1000000, 5), measure(graph50, 1000, 8), measure(matmul, 5, 8));
  return 0;
}

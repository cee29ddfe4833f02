// Peak of multiply-adds of one core: independent chains in registers, as wide as the processor's vectors.
#if defined(__AVX512F__)
enum { LANES = 8, CHAINS = 24 };
#elif defined(__AVX__)
enum { LANES = 4, CHAINS = 12 };
#else
enum { LANES = 2, CHAINS = 12 };
#endif
typedef double Vector __attribute__((vector_size(8 * LANES)));

// Returns the number of operations (a multiply-add counts as two).
double multiply_adds(long rounds, double* out)
{
  Vector x[CHAINS], a, b;
  for (int l = 0; l < LANES; ++l) a[l] = 0.999999, b[l] = 1e-6;
  for (int k = 0; k < CHAINS; ++k)
    for (int l = 0; l < LANES; ++l) x[k][l] = k + l;
  for (long r = 0; r < rounds; ++r) {
    _Pragma("GCC unroll 24")
    for (int k = 0; k < CHAINS; ++k) x[k] = x[k] * a + b;
  }
  Vector sum = x[0];
  for (int k = 1; k < CHAINS; ++k) sum += x[k];
  for (int l = 0; l < LANES; ++l) out[l] = sum[l];
  return 2.0 * LANES * CHAINS * (double)rounds;
}

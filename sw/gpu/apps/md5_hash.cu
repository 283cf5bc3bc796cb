// SPDX-License-Identifier: Apache-2.0
// Search for a key with a given MD5 digest (SHOC's MD5Hash): a thread hashes the ten keys of eight digits that begin with its
// number. It keeps the exclusive or of their digests' first words, so that every hash has a trace in the output.
#define KEYS 10

__device__ __forceinline__ unsigned rotate(unsigned x, int by) { return x << by | x >> (32 - by); }

#define F(b, c, d) (((b) & (c)) | (~(b) & (d)))
#define G(b, c, d) (((b) & (d)) | ((c) & ~(d)))
#define H(b, c, d) ((b) ^ (c) ^ (d))
#define I(b, c, d) ((c) ^ ((b) | ~(d)))
__device__ __forceinline__ unsigned step(unsigned a, unsigned mixed, unsigned b, unsigned word, int by, unsigned constant) {
  return b + rotate(a + mixed + word + constant, by);
}
#define FOUR(MIX, w0, w1, w2, w3, s0, s1, s2, s3, c0, c1, c2, c3) \
  a = step(a, MIX(b, c, d), b, w0, s0, c0);                       \
  d = step(d, MIX(a, b, c), a, w1, s1, c1);                       \
  c = step(c, MIX(d, a, b), d, w2, s2, c2);                       \
  b = step(b, MIX(c, d, a), c, w3, s3, c3)

/// Of one block: eight bytes of key, the end mark, and the length. Words 3 .. 13 and 15 are zero.
__device__ __forceinline__ uint4 md5(unsigned w0, unsigned w1) {
  const unsigned w2 = 0x80, w14 = 64;
  unsigned a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
  FOUR(F, w0, w1, w2, 0, 7, 12, 17, 22, 0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee);
  FOUR(F, 0, 0, 0, 0, 7, 12, 17, 22, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501);
  FOUR(F, 0, 0, 0, 0, 7, 12, 17, 22, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be);
  FOUR(F, 0, 0, w14, 0, 7, 12, 17, 22, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821);
  FOUR(G, w1, 0, 0, w0, 5, 9, 14, 20, 0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa);
  FOUR(G, 0, 0, 0, 0, 5, 9, 14, 20, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8);
  FOUR(G, 0, w14, 0, 0, 5, 9, 14, 20, 0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed);
  FOUR(G, 0, w2, 0, 0, 5, 9, 14, 20, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a);
  FOUR(H, 0, 0, 0, w14, 4, 11, 16, 23, 0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c);
  FOUR(H, w1, 0, 0, 0, 4, 11, 16, 23, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70);
  FOUR(H, 0, w0, 0, 0, 4, 11, 16, 23, 0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05);
  FOUR(H, 0, 0, 0, w2, 4, 11, 16, 23, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665);
  FOUR(I, w0, 0, w14, 0, 6, 10, 15, 21, 0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039);
  FOUR(I, 0, 0, 0, w1, 6, 10, 15, 21, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1);
  FOUR(I, 0, 0, 0, 0, 6, 10, 15, 21, 0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1);
  FOUR(I, 0, 0, w2, 0, 6, 10, 15, 21, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391);
  return make_uint4(a + 0x67452301, b + 0xefcdab89, c + 0x98badcfe, d + 0x10325476);
}

__global__ void __launch_bounds__(384) md5_hash(uint4 digest, unsigned* found, unsigned* __restrict__ trace) {
  const unsigned number = blockIdx.x * 384 + threadIdx.x;
  unsigned w0 = 0, w1 = 0, rest = number;
  for (int digit = 0; digit < 4; ++digit, rest /= 10) w0 |= (48 + rest % 10) << (8 * digit);
  for (int digit = 0; digit < 3; ++digit, rest /= 10) w1 |= (48 + rest % 10) << (8 * digit);
  unsigned seen = 0;
  for (unsigned key = 0; key < KEYS; ++key) {
    const unsigned last = w1 | (48 + key) << 24;
    const uint4 hash = md5(w0, last);
    seen ^= hash.x;
    if (hash.x == digest.x && hash.y == digest.y && hash.z == digest.z && hash.w == digest.w) {
      found[0] = w0;
      found[1] = last;
    }
  }
  trace[number] = seen;
}

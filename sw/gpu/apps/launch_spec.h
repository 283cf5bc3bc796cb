// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sw/gpu/runtime/fill.h"
#include "sw/gpu/source/compile_options.h"

namespace sluice::gpu {

enum class ElementType { U8, U16, I32, U32, I64, U64, F32, F64 };
[[nodiscard]] std::size_t size_of(ElementType type);         ///< bytes
[[nodiscard]] std::string_view to_string(ElementType type);  ///< "u8" .. "f64"

/// One parameter of a kernel. Buffers are filled on the device before every run; outputs are poisoned.
struct ArgumentSpec {
  enum class Kind { In, InOut, Out, Scalar } kind = Kind::Scalar;
  ElementType type = ElementType::F32;
  std::size_t count = 0;  ///< elements of a buffer
  SluiceFillKind fill = SLUICE_FILL_ZERO;
  std::uint32_t seed = 1;
  float a = 0, b = 1;                 ///< parameters of the fill (fill.h)
  std::vector<std::byte> value = {};  ///< Scalar: its bytes, a power of two up to 16

  [[nodiscard]] bool is_buffer() const { return kind != Kind::Scalar; }
  [[nodiscard]] std::size_t bytes() const { return is_buffer() ? count * size_of(type) : value.size(); }
  [[nodiscard]] std::size_t parameter_bytes() const { return is_buffer() ? sizeof(void*) : value.size(); }
};

/// A kernel and one launch of it.
struct LaunchSpec {
  std::string label;         ///< what reports call it
  std::string file;          ///< for messages
  std::string text;          ///< the file's contents: CUDA, or PTX where `symbol` is given
  std::string kernel;        ///< name as in a host launch, template arguments included; of PTX see find_kernel
  std::string symbol;        ///< of the kernel in the PTX; empty: the text is CUDA
  CompileOptions options{};  ///< of CUDA text
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t shared_bytes = 0;  ///< dynamic
  std::vector<ArgumentSpec> arguments;

  [[nodiscard]] std::uint32_t block_threads() const { return block[0] * block[1] * block[2]; }
  [[nodiscard]] std::uint64_t blocks() const { return std::uint64_t{grid[0]} * grid[1] * grid[2]; }
};

/// Parses `FILE:NAME[,grid=XxYxZ][,block=XxYxZ][,smem=BYTES][,args=SPEC]`; docs/user/share_a_gpu.md has the argument
/// specification. Commas inside <...> and (...) belong to the name. Does not read the file.
/// @throws InputError naming the part and what it may be
[[nodiscard]] LaunchSpec parse_launch(const std::string& text);

/// A scalar parameter.
template <class T>
[[nodiscard]] ArgumentSpec scalar(T value) {
  ArgumentSpec a;
  a.value.resize(sizeof(T));
  const auto* from = reinterpret_cast<const std::byte*>(&value);
  std::copy(from, from + sizeof(T), a.value.begin());
  return a;
}
[[nodiscard]] inline ArgumentSpec buffer(ArgumentSpec::Kind kind, ElementType type, std::size_t count,
                                         SluiceFillKind fill = SLUICE_FILL_ZERO, std::uint32_t seed = 1, float a = 0,
                                         float b = 1) {
  return {kind, type, count, fill, seed, a, b, {}};
}

/// Contents of an input buffer, as the device makes them. `T` is the element's type.
template <class T>
[[nodiscard]] std::vector<T> host_fill(const ArgumentSpec& a) {
  std::vector<T> out(a.count);
  for (std::size_t i = 0; i < a.count; ++i) {
    if constexpr (std::is_floating_point_v<T>)
      out[i] = static_cast<T>(sluice_fill_float(a.fill, a.seed, i, a.a, a.b));
    else
      out[i] = static_cast<T>(sluice_fill_integer(a.fill, a.seed, i, a.count, a.a, a.b));
  }
  return out;
}

}  // namespace sluice::gpu

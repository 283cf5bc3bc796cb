#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace sluice::gpu {

/// What the transformation needs to know of a kernel beside its PTX.
struct TransformSpec {
  std::string symbol;                           ///< of the kernel in its PTX
  std::array<std::uint32_t, 3> block{1, 1, 1};  ///< threads of a CTA
  std::uint32_t ctas_per_sm = 0;  ///< registers for as many CTAs on an SM; 0: the limits of the untransformed kernel
  bool stand_in = false;          ///< threads that return early stand in at the barriers of the others
  int grid_axes = 3;              ///< the grid has one block along all later axes
};

/// The kernel as a persistent one: its PTX, as the compiler made it from the user's unchanged text, in a loop around the calls of
/// the runtime, with the block index and the grid's size read from shared memory. All its own instructions stay as they are, its
/// parameters too; one more follows them, the SluiceJob (docs/gpu.md).
/// @param ptx      module with the kernel
/// @param runtime  PTX of runtime/quota_runtime.cuh
/// @throws InputError when the module has no such kernel
[[nodiscard]] std::string transform(const std::string& ptx, const std::string& runtime, const TransformSpec& spec);

/// Why a kernel cannot be made persistent, in words for a user; nothing when it can.
/// @param stand_in  as in TransformSpec
[[nodiscard]] std::optional<std::string> ineligible(const std::string& ptx, bool stand_in);

/// Only `symbol` and what is not a kernel: other kernels of the file are dropped.
[[nodiscard]] std::string only_kernel(const std::string& ptx, const std::string& symbol);

/// Parameters of a kernel. @throws InputError when the module has no such kernel
[[nodiscard]] std::size_t parameter_count(const std::string& ptx, const std::string& symbol);

/// The user's text may return from a kernel before its end (a `return` in the body of the __global__ function of that name, or in
/// a macro), so that some threads may be done while others are at a barrier. Errs on the side of yes: where no such function is
/// seen (a macro makes it), any kernel's return counts. PTX no longer shows it: the compiler has made branches of the returns.
/// @param kernel  name as in a host launch, template arguments included
[[nodiscard]] bool has_early_return(const std::string& text, const std::string& kernel);

/// Text without comments, string and character literals; line breaks stay.
[[nodiscard]] std::string code_only(const std::string& text);

}  // namespace sluice::gpu

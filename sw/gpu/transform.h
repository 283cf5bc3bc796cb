#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice::gpu {

/// What the transformation needs to know of a kernel beside its text.
struct TransformSpec {
  std::string kernel;               ///< as written in a host launch: "axpy", "ns::tile<16>"
  std::uint32_t block_threads = 0;  ///< threads of a CTA
  std::uint32_t ctas_per_sm = 1;    ///< register budget: as many CTAs fit an SM as of the untransformed kernel
};

/// The user's text with Sluice's before and after it: `sluice_entry(SluiceJob, Pack<parameters>)` runs the kernel's blocks from
/// the task queue. The text itself is not touched (docs/gpu.md).
[[nodiscard]] std::string transform(const std::string& text, const std::string& file, const TransformSpec& spec);

/// Why a kernel cannot be made persistent, in words for a user; nothing when it can. Reads the text without comments and
/// literals; a construct anywhere in the file counts, so that a false alarm costs the quota, never the result.
[[nodiscard]] std::optional<std::string> ineligible(const std::string& text);

/// The text has barriers and returns: threads that have returned stand in at the barriers of the others.
[[nodiscard]] bool needs_stand_in(const std::string& text);

/// Text without comments, string and character literals; line breaks stay.
[[nodiscard]] std::string code_only(const std::string& text);

/// Offsets of parameters of these sizes (each aligned to its size, a power of two up to 16) in the nested structs of `Pack`, and
/// the size of the whole in the last element.
[[nodiscard]] std::vector<std::size_t> pack_offsets(const std::vector<std::size_t>& sizes);

}  // namespace sluice::gpu

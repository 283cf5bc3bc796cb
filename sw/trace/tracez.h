// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace sluice {

/// The text of a .tracez file: what the .traceg of the same kernel holds, a piece at a time.
///
/// Numbers are little-endian. The file is the header's text and a zero; u32 bytes of a zstd dictionary, u32 instructions of a
/// piece (not used), the dictionary; of each warp u32 instructions, u32 pieces and the pieces, each u32 bytes and a zstd frame of
/// lines; then the index, and in the last 8 bytes where the index begins. The index is u32 CTAs, and of each CTA 11 u32: its
/// place in the grid (3), its cluster (3), its place in the cluster (3), its rank there, its warps; of each warp u32
/// instructions, u32 pieces, u64 where the warp is, and a u32 for each piece: its instructions.
class Tracez {
 public:
  /// What is wrong with a file, in words.
  struct Damage {
    std::string why;
  };
  /// @param file  open; stays the caller's. @throws Damage
  explicit Tracez(std::FILE* file);
  ~Tracez();
  Tracez(const Tracez&) = delete;
  Tracez& operator=(const Tracez&) = delete;
  /// @return characters, at least 1; 0 at the end. @throws Damage
  [[nodiscard]] std::size_t read(char* to, std::size_t room);

 private:
  struct Decoder;
  void get(void* to, std::size_t bytes);
  [[nodiscard]] std::uint32_t number();
  void seek(std::uint64_t place);
  void next_text();  ///< more of text_; nothing: the end
  void begin_cta();
  void begin_warp();
  void begin_piece();
  void inflate();

  std::FILE* file_;
  std::uint64_t at_ = 0, size_ = 0;                             ///< in the file; of it
  std::uint64_t index_ = 0, next_ = 0;                          ///< where the index is; and what of it comes next
  std::uint32_t ctas_ = 0, warps_ = 0, pieces_ = 0, warp_ = 0;  ///< that are left; the warp's number
  std::uint64_t data_ = 0;                                      ///< where the next piece of the warp is
  std::uint32_t left_ = 0;                                      ///< bytes of the piece that are not read
  bool inside_ = false, cta_open_ = false;                      ///< a piece, a CTA has begun
  std::unique_ptr<Decoder> decoder_;
  std::string text_;
  std::size_t taken_ = 0;
};

}  // namespace sluice

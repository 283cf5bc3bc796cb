// SPDX-License-Identifier: Apache-2.0
#pragma once
// The example GPU, its host port and its registers.
#include <Vexample_gpu.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sw/driver/axi_lite_manager.h"
#include "sw/driver/sluice_driver.h"
#include "systemc/unit/rtl/verilated_axi.h"
#include "systemc/unit/rtl/verilated_model.h"

namespace sluice::tb {

/// A program of rtl/example/programs as it runs on the example GPU.
struct ExampleProgram {
  std::string name;         ///< its .hex
  std::uint32_t entry;      ///< where its first word is put
  std::uint32_t warps;      ///< of a CTA
  std::uint32_t scratch;    ///< bytes of a CTA
  std::uint32_t ctas;       ///< of the grid
  std::uint32_t result_at;  ///< byte address of the result of thread 0
  [[nodiscard]] std::uint32_t threads() const { return ctas * warps * 8; }
};

inline constexpr std::uint32_t kExampleSms = 4, kExampleWarps = 8, kTableWords = 1024;

class ExampleGpu {
 public:
  /// @param fst_file waveform to write, empty for none
  explicit ExampleGpu(const std::string& fst_file);

  [[nodiscard]] SluiceDriver& driver() { return *driver_; }
  [[nodiscard]] AxiLiteBus& bus() { return bus_; }
  Vexample_gpu& pins() { return *gpu_; }
  [[nodiscard]] std::uint64_t now() const { return now_; }
  [[nodiscard]] bool illegal() { return gpu_->illegal_o != 0; }

  /// Ends what tests override (planted_errors.vlt).
  void release();
  /// Loads a program and says that kernel slot `slot` runs it.
  void load(unsigned slot, const ExampleProgram& program);
  void write_program(std::uint32_t word, std::uint32_t value) { host(true, word, value); }
  void write_memory(std::uint32_t word, std::uint32_t value) { host(false, word, value); }
  [[nodiscard]] std::uint32_t read_memory(std::uint32_t word);
  void launch(unsigned slot, const ExampleProgram& program, bool wait);
  /// The same through the launch port. @return the cycle of the handshake
  std::uint64_t launch_at_the_port(const ExampleProgram& program);
  /// One cycle with these pins; the outputs are those before the rising edge.
  AxiLiteOut cycle(const AxiLiteIn& pins);
  void run(std::uint64_t cycles);
  /// @return whether `slot` became free within `cycles`
  [[nodiscard]] bool finish(unsigned slot, std::uint64_t cycles);

 private:
  void host(bool program, std::uint32_t word, std::uint32_t value);

  VerilatedModel<Vexample_gpu> gpu_;
  std::uint64_t now_ = 0;
  AxiLiteBus bus_;
  std::unique_ptr<SluiceDriver> driver_;
};

/// The words of rtl/example/programs/<name>.hex.
[[nodiscard]] std::vector<std::uint32_t> example_words(const std::string& name);

/// What the programs compute, written from their descriptions.
[[nodiscard]] std::vector<std::uint32_t> gather_results(const std::vector<std::uint32_t>& table, std::uint32_t threads);
[[nodiscard]] std::vector<std::uint32_t> mix_results(std::uint32_t threads, std::uint32_t threads_of_cta);

}  // namespace sluice::tb

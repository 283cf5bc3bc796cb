// SPDX-License-Identifier: Apache-2.0
#include "tb/example_gpu/example_gpu_world.h"

#include <Vexample_gpu___024root.h>

#include <fstream>
#include <stdexcept>

namespace sluice::tb {

namespace {

constexpr std::uint32_t kRegistersOfWarp = 256, kScratchOfCta = 128, kPcWidth = 8, kCountWidth = 6;

}  // namespace

ExampleGpu::ExampleGpu(const std::string& fst_file)
    : gpu_(fst_file), bus_([this](const AxiLiteIn& pins) { return cycle(pins); }) {
  gpu_->entry_i = 0;
  gpu_->cta_warps_i = 0;
  gpu_->host_write_i = 0;
  gpu_->launch_valid_i = 0;
  gpu_->host_address_i = 0;
  release();  // registers start with random bits, these too
  gpu_->clk_i = 0;
  gpu_->rst_ni = 1;  // so that the first reset has an edge
  gpu_.eval();
  gpu_->rst_ni = 0;
  run(2);
  gpu_->rst_ni = 1;
  run(kExampleSms + 2);
  driver_ = std::make_unique<SluiceDriver>(bus_);
  driver_->configure_machine(
      {kExampleWarps * kWarpSize, kExampleWarps * kRegistersOfWarp, kExampleWarps * kScratchOfCta, kExampleWarps});
}

void ExampleGpu::release() {
  gpu_->rootp->example_gpu__DOT__done_valid__VforceEn = 0;
  gpu_->rootp->example_gpu__DOT__done_sm__VforceEn = 0;
  gpu_->rootp->example_gpu__DOT__done_slot__VforceEn = 0;
  gpu_->rootp->example_gpu__DOT__issue_kernel__VforceEn = 0;
}

void ExampleGpu::load(unsigned slot, const ExampleProgram& program) {
  const std::vector<std::uint32_t> words = example_words(program.name);
  for (std::uint32_t i = 0; i < words.size(); ++i) write_program(program.entry + i, words[i]);
  const auto put = [slot](std::uint32_t all, unsigned width, std::uint32_t value) {
    const std::uint32_t ones = (1U << width) - 1;
    return (all & ~(ones << (slot * width))) | (value << (slot * width));
  };
  gpu_->entry_i = static_cast<SData>(put(gpu_->entry_i, kPcWidth, program.entry));
  gpu_->cta_warps_i = static_cast<SData>(put(gpu_->cta_warps_i, kCountWidth, program.warps));
}

std::uint32_t ExampleGpu::read_memory(std::uint32_t word) {
  gpu_->host_address_i = static_cast<SData>(word);
  gpu_.eval();
  return gpu_->host_data_o;
}

void ExampleGpu::launch(unsigned slot, const ExampleProgram& program, bool wait) {
  driver_->launch(slot,
                  {{program.warps * kWarpSize, program.warps * kRegistersOfWarp, program.scratch, 1}, program.ctas, false, wait});
}

std::uint64_t ExampleGpu::launch_at_the_port(const ExampleProgram& program) {
  gpu_->launch_valid_i = 1;
  gpu_->launch_warps_i = static_cast<CData>(program.warps);
  gpu_->launch_shared_i = program.scratch;
  gpu_->launch_ctas_i = program.ctas;
  gpu_.eval();
  while (gpu_->launch_ready_o == 0) run(1);
  run(1);
  gpu_->launch_valid_i = 0;
  return now_ - 1;
}

AxiLiteOut ExampleGpu::cycle(const AxiLiteIn& pins) {
  drive_axi(*gpu_, pins);
  gpu_.low();
  const AxiLiteOut out = sample_axi(*gpu_);
  gpu_.high();
  ++now_;
  return out;
}

void ExampleGpu::run(std::uint64_t cycles) {
  for (std::uint64_t c = 0; c < cycles; ++c) cycle({});
}

bool ExampleGpu::finish(unsigned slot, std::uint64_t cycles) {
  const std::uint64_t last = now_ + cycles;
  while (now_ < last) {
    if (driver_->slot_report(slot).state == regs::SlotState::kFree) return true;
    run(32);
  }
  return false;
}

void ExampleGpu::host(bool program, std::uint32_t word, std::uint32_t value) {
  gpu_->host_write_i = 1;
  gpu_->host_program_i = program;
  gpu_->host_address_i = static_cast<SData>(word);
  gpu_->host_data_i = value;
  run(1);
  gpu_->host_write_i = 0;
}

std::vector<std::uint32_t> example_words(const std::string& name) {
  const std::string path = SLUICE_SOURCE_DIR "/rtl/example/programs/" + name + ".hex";
  std::ifstream file(path);
  std::vector<std::uint32_t> words;
  std::uint32_t word = 0;
  while (file >> std::hex >> word) words.push_back(word);
  if (words.empty()) throw std::runtime_error(path + ": no words");
  return words;
}

std::vector<std::uint32_t> gather_results(const std::vector<std::uint32_t>& table, std::uint32_t threads) {
  std::vector<std::uint32_t> sums(threads, 0);
  for (std::uint32_t g = 0; g < threads; ++g)
    for (std::uint32_t i = 0; i < 32; ++i) sums[g] += table[(g + 104 * i) % kTableWords];
  return sums;
}

std::vector<std::uint32_t> mix_results(std::uint32_t threads, std::uint32_t threads_of_cta) {
  std::vector<std::uint32_t> values(threads), results(threads);
  for (std::uint32_t g = 0; g < threads; ++g) {
    values[g] = g;
    for (std::uint32_t i = 0; i < 64 + ((g % threads_of_cta) & 12U); ++i) {
      values[g] = values[g] * 1664525 + 1013904223;
      values[g] ^= values[g] >> 13;
    }
  }
  for (std::uint32_t g = 0; g < threads; ++g) {
    const std::uint32_t first = g - g % threads_of_cta;
    results[g] = values[g] + values[first + (g + 1 - first) % threads_of_cta];
  }
  return results;
}

}  // namespace sluice::tb

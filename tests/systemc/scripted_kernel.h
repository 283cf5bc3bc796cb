// SPDX-License-Identifier: Apache-2.0
// Kernels written instruction by instruction, for checks of the model against closed forms.
#pragma once
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "study/run_pool.h"
#include "systemc/model_device.h"

namespace sluice::scripted {

/// Lines of a global access: (warp of the whole grid, global accesses of that warp before this one, lines to add to).
using Lines = std::function<void(std::uint32_t, std::uint32_t, std::vector<LineAccess>&)>;

/// Every warp walks `body` `rounds` times.
struct Script {
  std::vector<Instruction> body;
  std::uint32_t rounds = 1;
  Lines lines;
  bool has_code = false;  ///< its instructions lie in memory, 16 bytes each, and are fetched
  std::uint32_t ctas = 1, warps = 1;
};

class Source : public IInstructionSource {
 public:
  explicit Source(Script script) : script_(std::move(script)) {
    for (const Instruction& i : script_.body) rank_.push_back(is_global(i.op) ? globals_++ : globals_);
  }
  [[nodiscard]] std::uint32_t num_registers() const override { return 64; }
  Instruction next(WarpCursor& cursor) const override {
    const auto size = static_cast<std::uint32_t>(script_.body.size());
    if (cursor.position >= size * script_.rounds) return {};
    const std::uint32_t at = cursor.position++ % size;
    Instruction instruction = script_.body[at];
    if (script_.has_code) instruction.pc = 16 * at;
    return instruction;
  }
  void lines(const WarpCursor& cursor, std::uint32_t position, std::vector<LineAccess>& lines) const override {
    const auto size = static_cast<std::uint32_t>(script_.body.size());
    script_.lines(cursor.cta * script_.warps + cursor.warp, position / size * globals_ + rank_[position % size], lines);
  }

 private:
  Script script_;
  std::vector<std::uint32_t> rank_;
  std::uint32_t globals_ = 0;
};

inline RunSpec spec(const MachineConfig& machine, const Script& script) {
  RunSpec spec;
  spec.machine = machine;
  KernelLaunch launch;
  launch.kernel.name = "scripted";
  launch.kernel.grid_ctas = script.ctas;
  launch.kernel.block_threads = script.warps * kWarpSize;
  launch.kernel.registers_per_cta = script.warps;
  launch.make_source = [script] { return std::make_unique<Source>(script); };
  launch.once = true;
  spec.launches.push_back(std::move(launch));
  return spec;
}

inline std::vector<RunResult> run(const std::vector<RunSpec>& specs) {
  std::vector<RunResult> results(specs.size());
  const RunPool pool([] { return std::make_unique<ModelDevice>(); }, 2);
  if (!pool.run(specs, [&](std::size_t i, const RunResult& r, const HostCost&) { results[i] = r; })) std::abort();
  return results;
}

/// What `rounds` more rounds add to a run of as many: start and end cancel.
struct Slope {
  double cycles = 0, l1_accesses = 0, l1_misses = 0, dram_bytes = 0, dram_rows_opened = 0;
};
inline std::vector<Slope> slopes(const MachineConfig& machine, const std::vector<Script>& scripts) {
  std::vector<RunSpec> specs;
  for (Script script : scripts) {
    specs.push_back(spec(machine, script));
    script.rounds *= 2;
    specs.push_back(spec(machine, script));
  }
  const std::vector<RunResult> results = run(specs);
  std::vector<Slope> slopes;
  for (std::size_t i = 0; i < results.size(); i += 2) {
    const auto more = [&](auto value) {
      return static_cast<double>(value(results[i + 1])) - static_cast<double>(value(results[i]));
    };
    slopes.push_back(
        {more([](const RunResult& r) { return r.cycles.value(); }), more([](const RunResult& r) { return r.total.l1_accesses; }),
         more([](const RunResult& r) { return r.total.l1_misses; }), more([](const RunResult& r) { return r.total.dram_bytes; }),
         more([](const RunResult& r) { return r.total.dram_requests - r.total.dram_row_hits; })});
  }
  return slopes;
}
inline Slope slope(const MachineConfig& machine, const Script& script) { return slopes(machine, {script}).front(); }

/// An instruction that writes register `dst` from register `src` (kNoRegister: none).
inline Instruction op(OpClass what, std::uint8_t dst = kNoRegister, std::uint8_t src = kNoRegister) {
  Instruction instruction;
  instruction.op = what;
  instruction.dst = dst;
  instruction.src[0] = src;
  return instruction;
}
inline std::vector<Instruction> times(std::size_t count, const Instruction& what) { return std::vector(count, what); }

}  // namespace sluice::scripted

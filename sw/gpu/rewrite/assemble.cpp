// SPDX-License-Identifier: Apache-2.0
#include "sw/gpu/rewrite/assemble.h"

#include <exception>
#include <string_view>
#include <utility>

#include "sw/gpu/rewrite/counterweight.h"
#include "sw/gpu/rewrite/machine_code.h"

namespace sluice::gpu {

namespace {

std::string_view view(const std::vector<char>& bytes) { return {bytes.data(), bytes.size()}; }

Assembled once(const std::string& ptx, const std::string& runtime, TransformedKernels kernels, const Assemble& assemble) {
  std::vector<Transformed> all;
  for (const auto& [name, kernel] : kernels) all.push_back(kernel);
  Assembled out{std::move(kernels), combined(ptx, runtime, all), {}};
  out.cubin = assemble(out.text);
  if (ptx.find("%smid") == std::string::npos) number_sms_of_gpu(out.cubin);  // what the program reads stays as it is
  return out;
}

/// Those that have to be made again with a limit to registers, or with another, for what this code takes.
TransformedKernels with_other_limits(const std::string& ptx, const std::string& runtime, const Assembled& made) {
  TransformedKernels others;
  for (const auto& [name, kernel] : made.kernels) {
    TransformSpec spec = kernel.spec;
    const unsigned takes = registers_of(view(made.cubin), kernel.entry);
    if (spec.registers > 0 ? takes <= spec.registers : takes <= kOfFullSm && registers_of(view(made.cubin), name) <= kOfFullSm)
      continue;
    if (spec.slack == 0) continue;  // the kernel's text has a limit of its own
    if (spec.registers > 0) spec.slack = 0;
    if (spec.registers == 0) spec.registers = allotted(registers_of(view(made.cubin), name));
    others.emplace(name, transform(ptx, runtime, spec));
  }
  return others;
}

/// `some`, and `of_all` for the rest.
TransformedKernels with_rest(TransformedKernels some, const TransformedKernels& of_all) {
  some.insert(of_all.begin(), of_all.end());
  return some;
}

}  // namespace

Assembled assembled(const std::string& ptx, const std::string& runtime, TransformedKernels kernels, const Assemble& assemble) {
  Assembled first = once(ptx, runtime, std::move(kernels), assemble);
  try {
    TransformedKernels others;
    for (int attempt = 0; attempt < 2; ++attempt)
      if (others = with_other_limits(ptx, runtime, first); !others.empty())
        first = once(ptx, runtime, with_rest(std::move(others), first.kernels), assemble);
    others.clear();
    for (const auto& [name, kernel] : first.kernels)
      if (const auto weight = other_counterweight(view(first.cubin), kernel.entry)) {
        TransformSpec spec = kernel.spec;
        spec.counterweight = *weight;
        others.emplace(name, transform(ptx, runtime, spec));
      }
    if (others.empty()) return first;
    Assembled second = once(ptx, runtime, with_rest(others, first.kernels), assemble);
    const std::size_t no_better =
        std::erase_if(others, [&](const auto& k) { return !takes_less(view(second.cubin), view(first.cubin), k.second.entry); });
    if (no_better == 0) return second;
    if (others.empty()) return first;
    return once(ptx, runtime, with_rest(std::move(others), first.kernels), assemble);
  } catch (const std::exception&) {
    return first;  // the other form does not assemble, or the process ends
  }
}

}  // namespace sluice::gpu

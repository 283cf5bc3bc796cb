// SPDX-License-Identifier: Apache-2.0
#include "sw/interpose/module_code.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace sluice::interpose {

Code made(const std::string& ptx, bool variables, unsigned registers, const std::function<Assembler>& assembler) {
  Code code;
  std::string last;
  const auto assemble = [&](const std::string& text) {
    if (text == last) return;
    last.clear();
    code.cubin = assembler(text);
    last = text;
  };
  gpu::RewrittenModule module = gpu::rewrite_module(ptx, runtime_text(), assemble, registers);
  const bool any = std::ranges::any_of(module.kernels, [](const auto& k) { return !k.second.refusal; });
  if (any)
    assemble(module.text);
  else
    code.cubin.clear();
  code.kernels = std::move(module.kernels);
  code.variables = variables;
  return code;
}

std::string packed(const Code& code) {
  nlohmann::json kernels = nlohmann::json::object();
  for (const auto& [name, k] : code.kernels) {
    kernels[name] = {{"entry", k.entry}, {"shared", k.shared_behind}, {"waits", k.waits}};
    if (k.refusal) kernels[name]["refusal"] = {static_cast<int>(k.refusal->rule), k.refusal->reason};
  }
  const nlohmann::json all = {{"kernels", kernels},
                              {"variables", code.variables},
                              {"cubin", nlohmann::json::binary({code.cubin.begin(), code.cubin.end()})}};
  std::string text;
  nlohmann::json::to_cbor(all, text);
  return text;
}

std::optional<Code> unpacked(const std::string& text) {
  try {
    const nlohmann::json all = nlohmann::json::from_cbor(text);
    Code code;
    const auto& cubin = all.at("cubin").get_binary();
    code.cubin.assign(cubin.begin(), cubin.end());
    code.variables = all.at("variables").get<bool>();
    for (const auto& [name, k] : all.at("kernels").items()) {
      gpu::ModuleKernel& kernel = code.kernels[name];
      kernel.entry = k.at("entry").get<std::string>();
      kernel.shared_behind = k.at("shared").get<std::uint32_t>();
      kernel.waits = k.at("waits").get<bool>();
      if (k.contains("refusal"))
        kernel.refusal = {static_cast<gpu::GateRule>(k["refusal"].at(0).get<int>()), k["refusal"].at(1).get<std::string>()};
    }
    return code;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace sluice::interpose
